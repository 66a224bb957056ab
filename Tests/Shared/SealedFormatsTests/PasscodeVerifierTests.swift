import SealedFormats
import TestSupport
import Testing

/// Run one at a time: each comparison needs 128 MiB or more.
struct PasscodeVerifierTests {
    struct Pinned: Decodable {
        struct Accepted: Decodable {
            let name: String
            let passcode: String
            let machineSecret: String?
            let text: String
            let needsUpgrade: Bool
        }
        struct Refused: Decodable {
            let text: String
            let code: String
        }
        let accepted: [Accepted]
        let refused: [Refused]
    }

    @Test func verifiersMadeByAnotherImplementationAreChecked() throws {
        let pinned = try Vectors.load("passcode_verifiers.json", as: Pinned.self)
        #expect(pinned.accepted.count == 9)
        for vector in pinned.accepted {
            let verifier = try PasscodeVerifier(text: vector.text)
            #expect(verifier.text == vector.text)
            let machineSecret = vector.machineSecret.map { secret(hex: $0) }
            let right = try verifier.verify(passcode: SecretBytes(utf8: vector.passcode), machineSecret: machineSecret)
            #expect(right.matches, "\(vector.name)")
            #expect(right.needsUpgrade == vector.needsUpgrade, "\(vector.name)")
            let wrong = try verifier.verify(
                passcode: SecretBytes(utf8: vector.passcode + "0"), machineSecret: machineSecret)
            #expect(!wrong.matches, "\(vector.name)")
        }
    }

    @Test func invalidVerifiersAreRefusedInOneSentence() throws {
        let pinned = try Vectors.load("passcode_verifiers.json", as: Pinned.self)
        #expect(pinned.refused.count > 40)
        for vector in pinned.refused {
            #expect("\(vector.text)") {
                _ = try PasscodeVerifier(text: vector.text)
            } throws: { error in
                guard let error = error as? SealedFormatsError else { return false }
                return error.code.rawValue == vector.code && error.sentence.hasSuffix(".")
                    && error.sentence.utf8.allSatisfy { 32..<127 ~= $0 } && error.sentence.utf8.count < 300
            }
        }
    }

    @Test func everyChangedCharacterIsRefusedOrDoesNotMatch() throws {
        let pinned = try Vectors.load("passcode_verifiers.json", as: Pinned.self)
        let vector = try #require(pinned.accepted.last)
        let original = Array(vector.text.utf8)
        let passcode = SecretBytes(utf8: vector.passcode)
        for index in original.indices {
            var changed = original
            changed[index] = changed[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            guard let verifier = try? PasscodeVerifier(text: String(decoding: changed, as: UTF8.self)) else { continue }
            #expect(try !verifier.verify(passcode: passcode).matches, "character \(index)")
        }
    }

    @Test func aNewVerifierMatchesOnlyItsPasscode() throws {
        let machineSecret = SecretBytes.random(count: 32)
        let verifier = try PasscodeVerifier(
            passcode: SecretBytes(utf8: "tg7!"), cost: .minimum, machineSecret: machineSecret)
        let stored = try PasscodeVerifier(text: verifier.text)
        #expect(stored == verifier)
        let right = try stored.verify(passcode: SecretBytes(utf8: "tg7!"), machineSecret: machineSecret)
        #expect(right.matches && !right.needsUpgrade)
        for wrong in ["", "tg7!!"] {
            #expect(try !stored.verify(passcode: SecretBytes(utf8: wrong), machineSecret: machineSecret).matches)
        }
    }

    @Test func theDatabaseAloneDoesNotAllowGuessing() throws {
        let passcode = SecretBytes(utf8: "7294")
        let verifier = try PasscodeVerifier(
            passcode: passcode, cost: .minimum, machineSecret: SecretBytes.random(count: 32))
        #expect { try verifier.verify(passcode: passcode) } throws: { error in
            (error as? SealedFormatsError)?.code == .machineSecretMissing
        }
        #expect(try !verifier.verify(passcode: passcode, machineSecret: SecretBytes.random(count: 32)).matches)
        let stripped = try PasscodeVerifier(
            text: verifier.text.replacing(":machine:", with: ":passcode:"))
        #expect(try !stripped.verify(passcode: passcode).matches)
    }

    @Test func aMachineSecretOfTheWrongLengthIsRefused() {
        for count in [0, 16, 31, 33] {
            #expect {
                try PasscodeVerifier(
                    passcode: SecretBytes(utf8: "7294"), cost: .minimum, machineSecret: .random(count: count))
            } throws: { error in
                (error as? SealedFormatsError)?.code == .machineSecretUnusable
            }
        }
    }

    @Test func aVerifierWithoutTheMachineSecretNeedsAnUpgradeIfThereIsOne() throws {
        let passcode = SecretBytes(utf8: "7294")
        let plain = try PasscodeVerifier(passcode: passcode, cost: .minimum, machineSecret: nil)
        let alone = try plain.verify(passcode: passcode)
        #expect(alone.matches && !alone.needsUpgrade)
        let withSecret = try plain.verify(passcode: passcode, machineSecret: .random(count: 32))
        #expect(withSecret.matches && withSecret.needsUpgrade)
    }

    @Test func onePasscodeHasDifferentVerifiers() throws {
        let texts = try (0..<2).map { _ in
            try PasscodeVerifier(passcode: SecretBytes(utf8: "7294"), cost: .minimum, machineSecret: nil).text
        }
        #expect(texts[0] != texts[1])
    }

    @Test func olderKindsAreReadWithTheirLengthsChecked() throws {
        let salt = Array(repeating: UInt8(9), count: 32)
        let passcode = SecretBytes(utf8: "old one")
        let digest = KeyDerivation.sha256(passcode, salt: salt).withUnsafeBytes { Array($0) }
        let sha256 = try PasscodeVerifier(olderSHA256: digest, salt: salt)
        let checked = try sha256.verify(passcode: passcode, machineSecret: .random(count: 32))
        #expect(checked.matches && checked.needsUpgrade)
        let key = try KeyDerivation.pbkdf2(passcode, salt: salt, rounds: 200_000, count: 32).withUnsafeBytes {
            Array($0)
        }
        #expect(try PasscodeVerifier(olderPBKDF2: key, salt: salt).verify(passcode: passcode).matches)
        #expect(throws: SealedFormatsError.self) {
            try PasscodeVerifier(olderSHA256: Array(digest.dropLast()), salt: salt)
        }
        #expect(throws: SealedFormatsError.self) { try PasscodeVerifier(olderSHA256: digest, salt: []) }
        #expect(throws: SealedFormatsError.self) {
            try PasscodeVerifier(olderPBKDF2: key, salt: Array(salt.dropLast()))
        }
    }

    @Test func aLogContainsNeitherSaltNorTag() throws {
        let text = try #require(Vectors.load("passcode_verifiers.json", as: Pinned.self).accepted.last?.text)
        let verifier = try PasscodeVerifier(text: text)
        var dumped = ""
        dump(verifier, to: &dumped)
        #expect(
            [dumped, "\(verifier)", String(reflecting: verifier)].allSatisfy {
                !$0.contains("[") && $0.utf8.count < 100
            })
    }
}
