/// A signal of the system: sleep, shutdown, or a change of a session or its idleness.
public enum SessionSignal: Sendable, Equatable {
    /// Signals are available from now on.
    case available
    /// Signals are no longer available; the reason as the end of a sentence.
    case unavailable(String)
    /// Signals are available, but the computer does not wait before it sleeps; the reason as the end of a sentence.
    case unheld(String)
    /// The computer waits for `acknowledge(number)` before it sleeps, a few seconds at most.
    case goingToSleep(UInt64)
    case woke
    /// As `goingToSleep`.
    case shuttingDown(UInt64)
    case lidClosed
    case sessionLocked(user: UInt32)
    /// Another user's session became the active one of the seat.
    case switchedAway(user: UInt32)
    /// A graphical session began, or its idleness has changed.
    case session(String, SessionIdleness)
    /// `leaving`: the user whose last session at this computer ended.
    case sessionEnded(String, leaving: UInt32?)
}

/// A session's idleness, as the system reports it.
public struct SessionIdleness: Sendable, Equatable {
    public var user: UInt32
    /// Whether anything keeps the system's hint up to date.
    public var isKnown: Bool
    /// How long it has been idle; nil while it is in use.
    public var idle: Duration?

    public init(user: UInt32, isKnown: Bool, idle: Duration?) {
        self.user = user
        self.isKnown = isKnown
        self.idle = idle
    }
}

/// Where session signals come from.
public protocol SessionSignalsPort: Sendable {
    /// For one reader, in the order of the events.
    var signals: AsyncStream<SessionSignal> { get }
    /// Allows the computer to sleep or shut down. A number that is no longer waited for is ignored.
    func acknowledge(_ number: UInt64)
}
