import ControlAPI
import DBus
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

@Suite(.requires(.program("dbus-daemon"))) struct NotificationServerTests {
    @Test func aLaterNotificationOfAnAppReplacesTheEarlierOne() async throws {
        let session = try await PrivateSessionBus()
        let mock = try await MockNotifications(on: session, capabilities: ["actions", "body", "body-markup"])
        let server = NotificationServer(try session.connect(), offered: [.lockNow, .showLog])
        await server.show(DesktopNotification(.sample(.blocked, sentence: "a < b")))
        await server.settled()
        await server.show(DesktopNotification(.sample(.blocked, app: "gimp", name: "GIMP")))
        await server.settled()
        await server.show(DesktopNotification(.sample(.unlocked)))
        await server.settled()
        let notified = mock.calls["Notify"]
        #expect(notified.map { $0[1].integer } == [0, 0, 101], "what each replaces")
        #expect(mock.summaries == ["Firefox was blocked", "GIMP was blocked", "Firefox is unlocked"])
        #expect(notified[0][0].text == "AppLocker" && notified[0][2].text == "applocker-locked-symbolic")
        #expect(notified[0][4].text == "a &lt; b")
        #expect(notified[2][5].elements?.compactMap(\.text) == ["lock-now", "Lock now", "show-log", "Show log"])
        #expect(notified[0][6].options?["urgency"]?.integer == 1)
        #expect(notified[0][7].integer == -1)
        #expect(mock.calls["GetCapabilities"].count == 1)
    }

    @Test func aWarningIsWithdrawnOnce() async throws {
        let session = try await PrivateSessionBus()
        let mock = try await MockNotifications(on: session, capabilities: ["body"])
        let server = NotificationServer(try session.connect(), offered: [.lockNow])
        await server.withdraw("inactivity")
        await server.settled()
        // Executed in order, even without waiting for the first.
        await server.show(.inactivity(secondsLeft: 30))
        await server.withdraw("inactivity")
        await server.settled()
        await server.withdraw("inactivity")
        await server.settled()
        #expect(mock.calls.members == ["GetCapabilities", "Notify", "CloseNotification"])
        #expect(mock.calls["Notify"][0][7].integer == 30_000)
        #expect(mock.calls["Notify"][0][5].elements == [], "no buttons where the server has none")
    }

    @Test func aPressedButtonIsAcceptedOnlyFromTheServer() async throws {
        let session = try await PrivateSessionBus()
        let mock = try await MockNotifications(on: session, capabilities: ["actions", "body"])
        let server = NotificationServer(try session.connect(), offered: [.lockNow, .showLog])
        let pressed = Mutex<[DesktopNotification.Action]>([])
        let subscription = try await server.subscribe()
        let serving = Task {
            try await server.serve(subscription) { action, key in
                pressed.withLock { $0.append(key == "app firefox" ? action : .open) }
            }
        }
        defer { serving.cancel() }
        await server.show(DesktopNotification(.sample(.unlocked)))
        await eventually("it is shown") { !mock.summaries.isEmpty }
        let stranger = try session.connect()
        // At once: the reply with its number may still be under way.
        try await mock.invoke(101, "show-log")
        await eventually("the button is handled") { pressed.withLock { $0 == [.showLog] } }
        try await stranger.emit(
            MockNotifications.path, MockNotifications.name, "ActionInvoked", [.uint32(101), .string("lock-now")])
        try await mock.invoke(55, "lock-now")
        try await mock.invoke(101, "something-else")
        try await mock.bus.emit(MockNotifications.path, MockNotifications.name, "ActionInvoked", [.string("lock-now")])
        try await mock.invoke(101, "lock-now")
        await eventually("the second button is handled") { pressed.withLock { $0.last == .lockNow } }
        #expect(
            pressed.withLock { $0 } == [.showLog, .lockNow], "signals of another sender and unknown ones are ignored")
    }

    @Test func anotherServersCapabilitiesAreReadAgain() async throws {
        let session = try await PrivateSessionBus()
        let server = NotificationServer(try session.connect(), offered: [.lockNow])
        let subscription = try await server.subscribe()
        let serving = Task { try await server.serve(subscription) { _, _ in } }
        defer { serving.cancel() }
        await server.show(DesktopNotification(.sample(.blocked)))  // No server: not an error.
        await server.settled()
        var first: MockNotifications? = try await MockNotifications(on: session, capabilities: ["body"])
        await server.show(DesktopNotification(.sample(.blocked)))
        await server.settled()
        #expect(first?.calls["Notify"].count == 1)
        first?.bus.close()
        await first?.bus.untilEnd()
        first = nil
        // The bus releases the name once it has detected the end of the connection.
        var next: MockNotifications?
        await eventually("the name is free") {
            next = try await MockNotifications(on: session, capabilities: [])
            return true
        }
        let second = try #require(next)
        await eventually("the change is detected") {
            await server.show(DesktopNotification(.sample(.blocked, sentence: "Again.")))
            await server.settled()
            return second.calls["Notify"].last?[3].text == "Firefox was blocked: Again."
        }
        // One that was shown before the change was detected does not count.
        let noticed = second.calls.members.prefix { $0 != "GetCapabilities" }.count
        #expect(
            second.calls["Notify"].dropFirst(noticed).first?[1].integer == 0,
            "another server's ids are invalid")
    }
}
