import Glibc
import MessageBus
import WireProtocol

/// The idle hint that a desktop gives logind about its session (org.freedesktop.login1.Session, `IdleHint` and
/// `IdleSinceHintMonotonic`). The hint comes when the desktop's own time has passed, so what counts from it comes late by
/// that time.
struct LogindIdle: IdleSource {
    static let name = "org.freedesktop.login1"
    private static let interface = "org.freedesktop.login1.Session"

    let kind = IdleReport.Source.logind
    private let bus: MessageBus
    let path: String

    /// - Parameter session: as in XDG_SESSION_ID; nil for the caller's own.
    /// - Throws: `BusError` or `IdleSourceGone` where there is no such session, or nobody ever gave its hint: nobody
    ///   may ever give one then.
    init(_ bus: MessageBus, session: String?) async throws {
        self.bus = bus
        path = try await Self.path(bus, session: session)
        guard try await hint().since > 0 else {
            throw IdleSourceGone(description: "This desktop does not tell logind when nobody is there.")
        }
    }

    static func path(_ bus: MessageBus, session: String?) async throws -> String {
        var identifier = session ?? ""
        if identifier.isEmpty {
            identifier =
                try await bus.property(name, "/org/freedesktop/login1/session/auto", interface, "Id").text ?? ""
        }
        let answer = try await bus.call(
            name, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "GetSession", [.string(identifier)])
        guard let path = answer.first?.text else {
            throw IdleSourceGone(description: "logind does not know this session.")
        }
        return path
    }

    /// The session's own changes, from now on.
    static func changes(_ bus: MessageBus, path: String) async throws -> AsyncStream<BusSignal> {
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
            // From here on only the hint's end can change anything, and whoever waits looks again then.
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
        throw IdleSourceGone(description: "logind left the system bus.")
    }

    /// - Returns: `since` in microseconds of CLOCK_MONOTONIC, 0 where no hint was ever given.
    private func hint() async throws -> (isIdle: Bool, since: Int64) {
        async let isIdle = bus.property(Self.name, path, Self.interface, "IdleHint").bool
        async let since = bus.property(Self.name, path, Self.interface, "IdleSinceHintMonotonic").integer
        guard let isIdle = try await isIdle, let since = try await since else {
            throw IdleSourceGone(description: "logind says nothing about this session's idle time.")
        }
        return (isIdle, since)
    }
}
