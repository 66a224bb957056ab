import ControlAPI
import Testing

@testable import UnlockPrompt

struct PromptSceneTests {
    private func scene(_ report: PromptReport) throws -> PromptScene {
        var queue = PromptQueue()
        queue.ask(report, at: .now)
        return try #require(queue.scene(at: .now))
    }

    @Test func itNamesTheRequester() throws {
        #expect(try scene(.sample()).requester == "bash (alice) wants to start it")
        #expect(try scene(.sample(parentName: nil)).requester == "alice wants to start it")
        #expect(try scene(.sample(parentName: "sh", userName: nil)).requester == "sh (user 1000) wants to start it")
    }

    @Test func itNamesAnAppsOwnPasscode() throws {
        #expect(try scene(.sample()).passcodeHint == "Passcode")
        #expect(try scene(.sample(hasOwnPasscode: true)).passcodeHint == "Passcode for Calculator")
    }

    @Test(arguments: [
        ("Fire\nfox", "Fire fox"),
        ("  Fire \t fox ", "Fire fox"),
        ("a\u{202E}gpj.exe", "a gpj.exe"),
        ("a\u{0}b\u{7}", "a b"),
        ("ماشین‌حساب", "ماشین‌حساب"),
    ])
    func aNameCannotBreakTheLineOrReverseIt(given: String, shown: String) {
        #expect(ShownText.line(given) == shown)
    }

    @Test func aLongNameIsTruncated() {
        #expect(ShownText.line(String(repeating: "x", count: 1_000_000)).count == ShownText.maximumLength)
    }

    @Test func aLongNameLeavesSpaceForTheRestOfTheHeading() throws {
        let heading = try scene(.sample(name: String(repeating: "long ", count: 50))).heading
        #expect(heading.hasSuffix("… is locked"))
        #expect(heading.count < 60)
    }

    @Test func countdownsAreFormattedAsDurations() {
        #expect(ShownText.countdown(59) == "59 s")
        #expect(ShownText.countdown(120) == "2 min")
        #expect(ShownText.countdown(61) == "1 min 1 s")
        #expect(ShownText.countdown(3_661) == "1 h 1 min")
    }
}

struct GrantChoiceTests {
    @Test func theDefaultOfTheSettingsIsOfferedFirst() {
        let choices = GrantChoice.all(defaultSeconds: 300)
        #expect(
            choices.map(\.title) == [
                "1 minute", "5 minutes", "15 minutes", "1 hour", "This launch only", "Until locked",
            ])
        #expect(GrantChoice.defaultIndex(of: choices, defaultSeconds: 300) == 1)
        #expect(choices[4].grant == GrantRequest(.thisLaunch))
        #expect(choices[5].grant == GrantRequest(.untilLocked))
    }

    @Test func anUnusualDefaultIsSortedAmongTheDurations() {
        let choices = GrantChoice.all(defaultSeconds: 90)
        #expect(choices.map(\.title).prefix(3) == ["1 minute", "90 seconds", "5 minutes"])
        #expect(GrantChoice.defaultIndex(of: choices, defaultSeconds: 90) == 1)
        #expect(choices[1].grant == GrantRequest(.duration, seconds: 90))
    }
}
