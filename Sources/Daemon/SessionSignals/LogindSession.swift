import DBus
import DaemonCore

/// A person's session, from the properties of org.freedesktop.login1.Session.
struct LogindSession: Sendable {
    static let interface = "org.freedesktop.login1.Session"

    let user: UInt32
    /// The seat's object path; nil for a session from elsewhere.
    let seat: String?
    /// logind keeps no idle hint for a text login.
    let isGraphical: Bool
    var isLocked: Bool
    private let hint: Bool
    /// In microseconds of CLOCK_MONOTONIC; 0 if the hint was never set.
    private let hintSince: UInt64

    /// Nil for login screens and system sessions.
    ///
    /// - Parameter lastKnown: keeps its lock state if the desktop does not set LockedHint.
    init?(_ properties: [String: BusValue], lastKnown: LogindSession?) {
        guard properties["Class"]?.text?.hasPrefix("user") == true,
            let user = properties["User"]?.elements?.first?.integer.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.user = user
        let seat = properties["Seat"]?.elements ?? []
        self.seat = seat.first?.text.flatMap { $0.isEmpty ? nil : seat.last?.text }
        isGraphical = !["tty", "unspecified"].contains(properties["Type"]?.text ?? "unspecified")
        isLocked = properties["LockedHint"]?.bool ?? lastKnown?.isLocked ?? false
        hint = properties["IdleHint"]?.bool ?? false
        hintSince = properties["IdleSinceHintMonotonic"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
    }

    /// - Parameter now: microseconds of CLOCK_MONOTONIC.
    func idleness(at now: UInt64) -> SessionIdleness {
        SessionIdleness(
            user: user, isKnown: hint || hintSince > 0,
            idle: hint ? .microseconds(hintSince > 0 && hintSince < now ? now - hintSince : 0) : nil)
    }
}
