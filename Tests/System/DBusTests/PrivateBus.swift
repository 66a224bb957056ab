import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// A private dbus-daemon of a test.
final class PrivateBus: Sendable {
    let address: String
    let daemon: ChildProcess

    init() async throws {
        daemon = try ChildProcess("dbus-daemon", ["--session", "--print-address", "--nofork"])
        let daemon = daemon
        await eventually("dbus-daemon listens: \(daemon.stateDescription)") { daemon.output.contains("\n") }
        address = daemon.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
