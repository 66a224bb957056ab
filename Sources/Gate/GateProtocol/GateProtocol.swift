/// The messages between `applockerd` and `applocker-gate`, one per datagram of a Unix `SOCK_SEQPACKET` socket.
///
/// The gate listens; the daemon connects, sends `hello`, sends every app with its paths, and ends with
/// `synchronised`. Until that message arrives, and whenever the daemon is not connected, the gate denies every launch of
/// a guarded app. All integers are little-endian and of fixed width; a path or an argument block is the rest of its
/// message, in the bytes the kernel uses (no encoding is assumed).
public enum GateProtocol {
    /// Both ends state it in their first message and close the connection on any other.
    public static let version: UInt16 = 3
    /// The largest message, in bytes. Argument blocks are cut into parts of this size.
    public static let maximumMessageBytes = 65_536
    /// The largest argument block of a launch that is denied at once and started again later, in bytes.
    public static let maximumExecRequestBytes = 2_097_152
}

/// The number by which daemon and gate call an app. The daemon hands it out; it means nothing to anybody else and is
/// never reused within one connection.
public typealias AppToken = UInt32

/// One launch that the gate asks about; unique within one run of the gate.
public typealias LaunchToken = UInt64

/// How a path belongs to its app.
public enum PathKind: UInt8, Sendable {
    /// An executable or script: marked for execution and for reading.
    case executable = 0
    /// A directory that belongs to this app alone: everything started from it is the app.
    case privateDirectory = 1
    /// A path with symbolic links on its way: whatever file it leads to is an executable of the app.
    case link = 2
    /// No path but the handle of an executable or a private directory, as `GateMessage.file` had it: the file is the
    /// app's, wherever it was moved to.
    case handle = 3
}

/// What to do with the processes of an app that are running.
public enum InstanceOrder: UInt8, Sendable {
    /// Stop them where they are.
    case freeze = 0
    /// Let frozen ones go on.
    case thaw = 1
    /// Ask them to end (SIGTERM), and after a grace period insist (SIGKILL).
    case close = 2
}

/// How the gate notices a launch.
public enum GateMode: UInt8, Sendable {
    /// The kernel holds the launch before its first instruction (fanotify permission events).
    case held = 0
    /// The process is noticed after it started and is stopped: the weak mode.
    case watched = 1
}

/// Whose launches of guarded apps the gate denies without asking the daemon.
public enum DeniedUsers: UInt8, Sendable {
    case none = 0
    /// Root's launches are exempt, so the daemon still decides them.
    case allButRoot = 1
    case all = 2

    public func contains(_ user: UInt32) -> Bool { self == .all || self == .allButRoot && user != 0 }
}

/// How a launch ended without an answer from the daemon.
public enum LaunchEnd: UInt8, Sendable {
    /// Nobody answered in time: denied.
    case timedOut = 0
    /// The process was killed or ended while it waited.
    case processGone = 1
    /// More launches of this user wait than are allowed: denied.
    case tooManyWaiting = 2
}
