import ControlAPI
import DBus
import Glibc

/// The idle hint that a desktop sets for its session at logind (org.freedesktop.login1.Session, `IdleHint` and
/// `IdleSinceHintMonotonic`). It is set only after the desktop's own idle time, so everything derived from it is late
/// by that time.
struct LogindIdle: IdleSource {
    static let name = "org.freedesktop.login1"
    private static let interface = "org.freedesktop.login1.Session"

    let kind = IdleReport.Source.logind
    private let bus: DBusConnection
    let path: String

    /// - Parameter session: as in XDG_SESSION_ID; nil for the caller's own.
    /// - Throws: `BusError` or `IdleSourceUnavailable` if there is no such session, or its desktop has never set the hint and
    ///   so perhaps never will.
    init(_ bus: DBusConnection, session: String?) async throws {
        self.bus = bus
        path = try await Self.path(bus, session: session)
        guard try await hint().since > 0 else {
            throw IdleSourceUnavailable(description: "This desktop does not report idleness to logind.")
        }
    }

    static func path(_ bus: DBusConnection, session: String?) async throws -> String {
        var identifier = session ?? ""
        if identifier.isEmpty {
            identifier =
                try await bus.property(name, "/org/freedesktop/login1/session/auto", interface, "Id").text ?? ""
        }
        let answer = try await bus.call(
            name, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "GetSession", [.string(identifier)])
        guard let path = answer.first?.text else {
            throw IdleSourceUnavailable(description: "logind has no such session.")
        }
        return path
    }

    /// The session's changes from now on.
    static func changes(_ bus: DBusConnection, path: String) async throws -> AsyncStream<BusSignal> {
        try await bus.signals(
            from: name, path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            firstArgument: interface)
    }

    func idleTime() async throws -> Duration {
        let hint = try await hint()
        guard hint.isIdle else { return .zero }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let time = Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
        return max(.zero, time - .microseconds(hint.since))
    }

    func untilIdle(for time: Duration) async throws {
        let changes = try await Self.changes(bus, path: path)
        let idle = try await idleTime()
        if try await hint().isIdle {
            // From here on only the end of the hint matters, and the caller checks again after it.
            try await FirstOf.sleeping(max(.zero, time - idle)) { for await _ in changes { return } }
        } else {
            for await _ in changes { return }
        }
        try Task.checkCancellation()
        _ = try await hint()
    }

    func untilTouched() async throws {
        let changes = try await Self.changes(bus, path: path)
        guard try await hint().isIdle else { return }
        for await _ in changes where try await !hint().isIdle { return }
        try Task.checkCancellation()
        throw IdleSourceUnavailable(description: "logind left the system bus.")
    }

    /// - Returns: `since` in microseconds of CLOCK_MONOTONIC, 0 if the hint was never set.
    private func hint() async throws -> (isIdle: Bool, since: Int64) {
        async let isIdle = bus.property(Self.name, path, Self.interface, "IdleHint").bool
        async let since = bus.property(Self.name, path, Self.interface, "IdleSinceHintMonotonic").integer
        guard let isIdle = try await isIdle, let since = try await since else {
            throw IdleSourceUnavailable(description: "logind reports no idle time for this session.")
        }
        return (isIdle, since)
    }
}
