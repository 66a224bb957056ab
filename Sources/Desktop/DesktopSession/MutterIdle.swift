import ControlAPI
import DBus

/// GNOME's compositor: `org.gnome.Mutter.IdleMonitor` on the session bus. It signals when the idle time is reached and
/// at the next input, so nothing is polled.
struct MutterIdle: IdleSource {
    static let name = "org.gnome.Mutter.IdleMonitor"
    private static let path = "/org/gnome/Mutter/IdleMonitor/Core"

    let kind = IdleReport.Source.mutter
    private let bus: DBusConnection

    /// - Throws: `BusError` if this bus has no such monitor.
    init(_ bus: DBusConnection) async throws {
        self.bus = bus
        // The call must not start a monitor: one that isn't running measures nothing.
        guard try await bus.owner(of: Self.name) != nil else {
            throw IdleSourceUnavailable(description: "There is no \(Self.name) on the session bus.")
        }
        _ = try await idleTime()
    }

    func idleTime() async throws -> Duration {
        guard let answer = try await call("GetIdletime").first?.integer, answer >= 0 else {
            throw IdleSourceUnavailable(description: "\(Self.name) returned no idle time.")
        }
        return .milliseconds(answer)
    }

    func untilIdle(for time: Duration) async throws {
        let milliseconds = UInt64(max(1, time / .milliseconds(1)))
        try await untilFired("AddIdleWatch", [.uint64(milliseconds)]) {
            // A watch that is set after the time has passed fires only at the next inactivity.
            try await idleTime() >= time
        }
    }

    func untilTouched() async throws { try await untilFired("AddUserActiveWatch", []) { false } }

    /// Sets a watch, waits until it fires and removes it.
    ///
    /// - Parameter isDone: checked once the watch is set.
    private func untilFired(_ method: String, _ arguments: [BusValue], isDone: () async throws -> Bool) async throws {
        let fired = try await bus.signals(
            from: Self.name, path: Self.path, interface: Self.name, member: "WatchFired")
        guard let watch = try await call(method, arguments).first?.integer.flatMap({ UInt32(exactly: $0) }) else {
            throw IdleSourceUnavailable(description: "\(Self.name) set no watch.")
        }
        var hasFired = try await isDone()
        if !hasFired {
            for await signal in fired where signal.arguments.first?.integer == Int64(watch) {
                hasFired = true
                break
            }
        }
        // Removed also if this task was cancelled, because nothing else does.
        let bus = bus
        Task { try? await bus.call(Self.name, Self.path, Self.name, "RemoveWatch", [.uint32(watch)]) }
        if !hasFired, !Task.isCancelled {
            throw IdleSourceUnavailable(description: "\(Self.name) left the session bus.")
        }
    }

    private func call(_ member: String, _ arguments: [BusValue] = []) async throws -> [BusValue] {
        try await bus.call(Self.name, Self.path, Self.name, member, arguments)
    }
}
