import ControlAPI
import TestSupport
import Testing

@testable import DesktopSession

extension Notice {
    static func sample(
        _ kind: Kind, app: String? = "firefox", name: String? = "Firefox",
        sentence: String = "bash (den) tried to start it.", hasPhoto: Bool = false
    ) -> Notice {
        Notice(kind: kind, app: app, appName: name, sentence: sentence, hasPhoto: hasPhoto, number: 7)
    }
}

struct DesktopNotificationTests {
    @Test func eachKindHasItsText() {
        #expect(DesktopNotification(.sample(.blocked)).summary == "Firefox was blocked")
        #expect(DesktopNotification(.sample(.wrongPasscode)).summary == "Wrong passcode for Firefox")
        #expect(DesktopNotification(.sample(.unlocked)).summary == "Firefox is unlocked")
        #expect(DesktopNotification(.sample(.relocked)).summary == "Firefox is locked again")
        let degraded = DesktopNotification(
            .sample(.degraded, app: nil, name: nil, sentence: "The gate is not running."))
        #expect(degraded.urgency == .critical && degraded.body == "The gate is not running.")
        #expect(
            DesktopNotification(.sample(.unlocked, name: nil)).summary == "firefox is unlocked", "an app without a name"
        )
    }

    @Test func aPhotoIsMentionedButNotShown() {
        let notification = DesktopNotification(.sample(.wrongPasscode, sentence: "2 wrong passcodes.", hasPhoto: true))
        #expect(notification.body == "2 wrong passcodes. A photo was taken.")
        #expect(!DesktopNotification(.sample(.wrongPasscode)).body.contains("photo"))
        #expect(notification.icon == "applocker-locked-symbolic")
    }

    @Test func notificationsOfOneAppReplaceEachOther() {
        #expect(DesktopNotification(.sample(.blocked)).key == DesktopNotification(.sample(.unlocked)).key)
        #expect(DesktopNotification(.sample(.blocked)).key != DesktopNotification(.sample(.blocked, app: "gimp")).key)
        #expect(
            DesktopNotification(.sample(.degraded, app: nil)).key
                != DesktopNotification(.sample(.relocked, app: nil)).key,
            "a notification without an app is replaced only by its own kind")
    }

    @Test func markupInAnAppsNameIsEscaped() {
        let notification = DesktopNotification(
            .sample(.blocked, name: "<b>A&B</b>", sentence: "a <a href=\"x\">link</a>\u{202E}\n& more"))
        var abilities = DesktopNotificationAbilities(capabilities: ["body", "body-markup", "actions"])
        #expect(abilities.texts(of: notification).summary == "<b>A&B</b> was blocked", "a summary is never markup")
        #expect(abilities.texts(of: notification).body == "a &lt;a href=&quot;x&quot;&gt;link&lt;/a&gt; &amp; more")
        abilities = DesktopNotificationAbilities(capabilities: ["body"])
        #expect(abilities.texts(of: notification).body == "a <a href=\"x\">link</a> & more")
    }

    @Test func aServerReceivesOnlyWhatItsCapabilitiesAllow() {
        let notification = DesktopNotification(.sample(.unlocked, sentence: "For 5 min."))
        let full = DesktopNotificationAbilities(capabilities: ["actions", "body"])
        #expect(
            full.actions(of: notification, offered: [.lockNow, .showLog]) == [
                "lock-now", "Lock now", "show-log", "Show log",
            ])
        #expect(full.actions(of: notification, offered: [.lockNow]) == ["lock-now", "Lock now"])
        let little = DesktopNotificationAbilities(capabilities: ["icon-static"])
        #expect(little.actions(of: notification, offered: [.lockNow, .showLog]).isEmpty)
        #expect(little.texts(of: notification) == ("Firefox is unlocked: For 5 min.", ""))
    }

    @Test func theWarningThatAnAppIsClosedShowsTheTimeLeft() {
        let notification = DesktopNotification(ClosingNotice(app: "firefox", appName: "Fire\nfox", secondsLeft: 42))
        #expect(notification.summary == "Fire fox closes in 42 s")
        #expect(notification.urgency == .critical && notification.shown == .seconds(42))
        #expect(notification.actions == [.keepOpen] && notification.actions[0].label == "Keep 5 Minutes")
    }

    @Test func moreTimeIsOfferedOnlyWithThePrompt() throws {
        let directory = try TemporaryDirectory()
        let programs = SessionPrograms(
            environment: ["PATH": directory.path], socket: nil, directory: directory.path)
        func install(_ name: String) throws {
            try directory.write("#!/bin/sh\n", to: name, permissions: 0o755)
        }
        try install("applocker")
        try install("x-terminal-emulator")
        #expect(programs.offeredActions == [.lockNow, .showLog])
        try install("applocker-prompt")
        #expect(programs.offeredActions == [.lockNow, .keepOpen, .showLog])
        withExtendedLifetime(directory) {}
    }

    @Test func theInactivityWarningShowsTheTimeLeft() {
        let notification = DesktopNotification.inactivity(secondsLeft: 30)
        #expect(notification.summary == "AppLocker locks in 30 s")
        #expect(notification.shown == .seconds(30) && notification.actions == [.lockNow])
    }
}
