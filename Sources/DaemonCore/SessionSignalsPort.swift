/// What the system tells of its people: sleep, the end of sessions, and whether anybody is there.
public enum SessionSignal: Sendable, Equatable {
    /// They are told from now on.
    case available
    /// They are not told any more; why, as the end of a sentence.
    case unavailable(String)
    /// They are told, but the computer does not wait before it sleeps; why, as the end of a sentence.
    case unheld(String)
    /// The computer waits for `acknowledge(number)` before it sleeps, a few seconds at most.
    case goingToSleep(UInt64)
    case woke
    /// As `goingToSleep`.
    case shuttingDown(UInt64)
    case lidClosed
    case sessionLocked(user: UInt32)
    /// Another user's session came to the front of the seat.
    case switchedAway(user: UInt32)
    /// A graphical session began, or what is known of its idleness has changed.
    case session(String, SessionIdleness)
    /// `leaving`: whose last session at this computer it was.
    case sessionEnded(String, leaving: UInt32?)
}

/// A session's idleness, as the system knows it.
public struct SessionIdleness: Sendable, Equatable {
    public var user: UInt32
    /// Whether anything keeps the system's hint up to date.
    public var isKnown: Bool
    /// How long nobody has touched it; nil while somebody does.
    public var idle: Duration?

    public init(user: UInt32, isKnown: Bool, idle: Duration?) {
        self.user = user
        self.isKnown = isKnown
        self.idle = idle
    }
}

/// Where session signals come from.
public protocol SessionSignalsPort: Sendable {
    /// Read by one reader, in the order in which things happened.
    var signals: AsyncStream<SessionSignal> { get }
    /// The computer may sleep or shut down now. A number that is not waited for any more is passed over.
    func acknowledge(_ number: UInt64)
}

/// Nothing is told: where the system has nobody who would.
public struct NoSessionSignals: SessionSignalsPort {
    public let signals: AsyncStream<SessionSignal>

    public init(_ why: String) {
        signals = AsyncStream { continuation in
            continuation.yield(.unavailable(why))
            continuation.finish()
        }
    }

    public func acknowledge(_ number: UInt64) {}
}
