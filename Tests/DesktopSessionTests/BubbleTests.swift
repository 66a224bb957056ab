import Testing
import WireProtocol

@testable import DesktopSession

extension Notice {
    static func sample(
        _ kind: Kind, app: String? = "firefox", name: String? = "Firefox",
        sentence: String = "bash (den) tried to start it.", hasPhoto: Bool = false
    ) -> Notice {
        Notice(kind: kind, app: app, appName: name, sentence: sentence, hasPhoto: hasPhoto, number: 7)
    }
}

struct BubbleTests {
    @Test func eachKindSaysWhatHappened() {
        #expect(Bubble(.sample(.blocked)).summary == "Firefox was blocked")
        #expect(Bubble(.sample(.wrongPasscode)).summary == "Wrong passcode for Firefox")
        #expect(Bubble(.sample(.unlocked)).summary == "Firefox is unlocked")
        #expect(Bubble(.sample(.relocked)).summary == "Firefox is locked again")
        let degraded = Bubble(.sample(.degraded, app: nil, name: nil, sentence: "The gate is away."))
        #expect(degraded.urgency == .critical && degraded.body == "The gate is away.")
        #expect(Bubble(.sample(.unlocked, name: nil)).summary == "firefox is unlocked", "an app without a name")
    }

    @Test func aPhotoIsMentionedAndNothingOfItIsThere() {
        let bubble = Bubble(.sample(.wrongPasscode, sentence: "2 wrong passcodes.", hasPhoto: true))
        #expect(bubble.body == "2 wrong passcodes. A photo was taken.")
        #expect(!Bubble(.sample(.wrongPasscode)).body.contains("photo"))
        #expect(bubble.icon == "applocker-locked-symbolic")
    }

    @Test func newsOfOneAppTakeEachOthersPlace() {
        #expect(Bubble(.sample(.blocked)).key == Bubble(.sample(.unlocked)).key)
        #expect(Bubble(.sample(.blocked)).key != Bubble(.sample(.blocked, app: "gimp")).key)
        #expect(
            Bubble(.sample(.degraded, app: nil)).key != Bubble(.sample(.relocked, app: nil)).key,
            "what concerns no app keeps to its own kind")
    }

    @Test func markupInAnAppsNameStaysText() {
        let bubble = Bubble(.sample(.blocked, name: "<b>A&B</b>", sentence: "a <a href=\"x\">link</a>\u{202E}\n& more"))
        var abilities = BubbleAbilities(capabilities: ["body", "body-markup", "actions"])
        #expect(abilities.texts(of: bubble).summary == "<b>A&B</b> was blocked", "a summary is never markup")
        #expect(abilities.texts(of: bubble).body == "a &lt;a href=&quot;x&quot;&gt;link&lt;/a&gt; &amp; more")
        abilities = BubbleAbilities(capabilities: ["body"])
        #expect(abilities.texts(of: bubble).body == "a <a href=\"x\">link</a> & more")
    }

    @Test func aServerThatCanDoLittleGetsLittle() {
        let bubble = Bubble(.sample(.unlocked, sentence: "For 5 min."))
        let full = BubbleAbilities(capabilities: ["actions", "body"])
        #expect(
            full.actions(of: bubble, offered: [.lockNow, .showLog]) == [
                "lock-now", "Lock now", "show-log", "Show log",
            ])
        #expect(full.actions(of: bubble, offered: [.lockNow]) == ["lock-now", "Lock now"])
        let little = BubbleAbilities(capabilities: ["icon-static"])
        #expect(little.actions(of: bubble, offered: [.lockNow, .showLog]).isEmpty)
        #expect(little.texts(of: bubble) == ("Firefox is unlocked: For 5 min.", ""))
    }

    @Test func theInactivityWarningSaysHowLongIsLeft() {
        let bubble = Bubble.inactivity(secondsLeft: 30)
        #expect(bubble.summary == "AppLocker locks in 30 s")
        #expect(bubble.shown == .seconds(30) && bubble.actions == [.lockNow])
    }
}
