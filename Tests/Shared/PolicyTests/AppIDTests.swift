import Foundation
import Policy
import Testing

@Suite struct AppIDTests {
    @Test(arguments: [
        "org.gnome.Calculator", "firefox-esr", "exec:usr-bin-foo", "a b", "日本語", String(repeating: "x", count: 255),
    ])
    func anOrdinaryIdIsAccepted(_ text: String) {
        #expect(AppID(rawValue: text)?.rawValue == text)
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "../etc/passwd", "a/b", "/usr/bin/foo", "a..b", "nul\u{0}", "line\n", "esc\u{1B}[2J",
        "del\u{7F}", "c1\u{9B}", "right-to-left\u{202E}", "separator\u{2028}", String(repeating: "x", count: 256),
        String(repeating: "é", count: 128),
    ])
    func anIDWithPathsOrControlCharactersIsRefused(_ text: String) throws {
        #expect(AppID(rawValue: text) == nil)
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([AppID].self, from: json) }
    }

    @Test func idsAreDictionaryKeysInJSONAndAreValidated() throws {
        let json = try JSONEncoder().encode([calculator: 1])
        #expect(String(decoding: json, as: UTF8.self) == #"{"org.gnome.Calculator":1}"#)
        #expect(try JSONDecoder().decode([AppID: Int].self, from: json) == [calculator: 1])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([AppID: Int].self, from: Data(#"{"../x":1}"#.utf8))
        }
    }
}

@Suite struct MomentTests {
    @Test func sundayIsZeroInTheCLibraryAndSevenHere() {
        #expect(
            (0...6).map { Weekday(daysSinceSunday: $0) } == [
                .sunday, .monday, .tuesday, .wednesday, .thursday, .friday, .saturday,
            ])
        #expect(Weekday(daysSinceSunday: 7) == nil)
        #expect(Weekday(daysSinceSunday: -1) == nil)
    }

    @Test func aSecondOutsideTheDayIsMovedIntoIt() {
        #expect(CivilTime(weekday: .friday, secondOfDay: 86_400).secondOfDay == 86_399)
        #expect(CivilTime(weekday: .friday, secondOfDay: -1).secondOfDay == 0)
    }
}

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("30s", Duration.seconds(30)), ("5m", .seconds(300)), ("1h", .seconds(3600)), ("1h30m", .seconds(5400)),
        ("1m30s", .seconds(90)), ("1s500ms", .milliseconds(1500)), ("0s", .zero), ("1ns", .nanoseconds(1)),
    ])
    func durationsAreReadAndPrintedTheSame(_ text: String, _ duration: Duration) throws {
        #expect(try Duration(text: text) == duration)
        #expect(duration.text == text)
    }

    @Test(arguments: [
        "", "5", "m", "-5m", "5 m", "5m5h", "5m5m", "1.5h", "5d", "99999999999999999999h", "9999999999h", "5m\n", "٥m",
    ])
    func anythingElseIsRefusedInOneSentence(_ text: String) {
        #expect { try Duration(text: text) } throws: { error in
            (error as? PolicyError)?.code == .invalidDuration && "\(error)".contains("write it like")
        }
    }
}
