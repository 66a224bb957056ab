import Policy
import Testing

@Suite struct PasscodeRulesTests {
    @Test(arguments: ["", "1", "abc", "äöü", "👨‍👩‍👧‍👦🇩🇪é", "e\u{301}e\u{301}e\u{301}"])
    func fewerThanFourCharactersAreTooShort(_ passcode: String) {
        #expect(PasscodeRules.check(passcode) == .tooShort)
    }

    @Test(arguments: ["7294", "tg7!", "äöüß", "👨‍👩‍👧‍👦🇩🇪é7", "correct horse battery staple", "0a0b0c", "8275", "1066"])
    func fourCharactersAreEnough(_ passcode: String) {
        #expect(PasscodeRules.check(passcode) == .fine)
    }

    @Test(arguments: [
        "0000", "aaaaaaaa", "aAaA", "éééé", "1212", "abcabc", "1234", "4321", "67890", "0987", "abcd", "ZYXW", "qwerty",
        "poiu",
        "QwErTz", "2580", "0852", "1984", "2024", "password", "PassWord1", "letmein", "iloveyou",
    ])
    func commonPasscodesAreWeak(_ passcode: String) {
        guard case .weak(let reason) = PasscodeRules.check(passcode) else {
            Issue.record("\(passcode) was not reported as weak")
            return
        }
        #expect(reason.hasSuffix("."))
    }

    @Test func bytesThatAreNotTextAreRefused() {
        let bytes: [UInt8] = [0xFF, 0xFE, 0x41, 0x42, 0x43]
        #expect(bytes.withUnsafeBytes { PasscodeRules.check(utf8: $0) } == .notText)
        #expect(PasscodeRules.check("7294\0") == .notText)
        #expect(PasscodeRules.check(utf8: UnsafeRawBufferPointer(start: nil, count: 0)) == .tooShort)
    }
}
