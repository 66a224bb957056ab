import ControlAPI
import DBus
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DesktopSession

/// A widely used notification daemon, on a real X server.
@Suite(.requires(.display, .program("dbus-daemon"), .program("dunst"), .program("dunstctl")))
struct DunstTests {
    @Test func notificationsAreShownReplacedAndClosedAndTheirButtonsWork() async throws {
        let session = try await PrivateSessionBus()
        let x11 = try await XServer()
        let environment = [
            "DISPLAY": x11.display, "HOME": session.directory.path,
            "DBUS_SESSION_BUS_ADDRESS": session.address, "PATH": "/usr/bin:/bin",
        ]
        let dunst = try ChildProcess(
            "dunst",
            [
                "-config",
                // No notification expires.
                try session.directory.write(
                    "[global]\n[urgency_low]\ntimeout = 0\n[urgency_normal]\ntimeout = 0\n", to: "dunstrc"),
            ], environment: environment)
        let bus = try session.connect()
        await eventually("dunst runs: \(dunst.errorOutput)") {
            try await bus.owner(of: NotificationServer.name) != nil
        }
        func count(_ what: String) async throws -> String {
            try await ChildProcess.run("dunstctl", ["count", what], environment: environment).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        func displayed() async throws -> String { try await count("displayed") }
        let server = NotificationServer(bus, offered: [.lockNow])
        let pressed = Flag()
        let subscription = try await server.subscribe()
        let serving = Task {
            try await server.serve(subscription) { action, _ in if action == .lockNow { pressed.set() } }
        }
        defer { serving.cancel() }
        await server.show(DesktopNotification(.sample(.blocked, sentence: "<b> & \u{202E}")))
        await server.settled()
        await eventually("the notification is shown") { try await displayed() == "1" }
        await server.show(DesktopNotification(.sample(.unlocked)))
        await server.settled()
        // In this order, so that one on its way to the screen is counted.
        #expect(try await count("waiting") == "0")
        #expect(try await displayed() == "1", "it replaced the earlier one")
        _ = try await ChildProcess.run("dunstctl", ["action", "0"], environment: environment)
        await eventually("the button") { pressed.isSet }
        await server.show(.inactivity(secondsLeft: 30))
        await server.settled()
        await eventually("a notification is shown") { try await displayed() != "0" }
        await server.withdraw("inactivity")
        await server.settled()
        await server.withdraw(DesktopNotification(.sample(.unlocked)).key)
        await server.settled()
        await eventually("all are closed") { try await displayed() == "0" }
    }
}
