public import ControlAPI
public import Policy

/// The gate's state, as the daemon last received it.
public enum GateState: Equatable, Sendable {
    case away
    /// The kernel holds them. `orphansDenied` launches of an earlier run of the gate were denied.
    case held(orphansDenied: Int)
    /// The weak mode, with the reason as a sentence.
    case weak(reason: String)
}

/// A launch of a locked app that the kernel holds, or that was denied at once.
public struct HeldLaunch: Hashable, Sendable {
    /// The gate's connection, from 1. Each may number its launches from the beginning.
    public var connection: UInt64
    public var number: UInt64
    public var app: AppID
    public var process: Int32
    public var parent: Int32
    public var user: UInt32
    /// The user who logged in; nil if the kernel has none.
    public var loginUser: UInt32?
    /// Denied at once because the desktop itself made the launch; its exec request follows.
    public var deniedAtOnce: Bool
    public var path: String

    public init(
        connection: UInt64, number: UInt64, app: AppID, process: Int32, parent: Int32, user: UInt32,
        loginUser: UInt32?, deniedAtOnce: Bool, path: String
    ) {
        self.connection = connection
        self.number = number
        self.app = app
        self.process = process
        self.parent = parent
        self.user = user
        self.loginUser = loginUser
        self.deniedAtOnce = deniedAtOnce
        self.path = path
    }
}

extension Decision {
    /// Whether the launch is answered as soon as it is decided.
    public var isSettled: Bool { verdict != .ask && reason != .grantedOnce }
}

/// What the gate reports, in the order in which it happened.
public enum GateEvent: Sendable {
    case connected(GateState, process: Int32)
    case disconnected
    /// `decision` was made. The gate has the answer, unless it is `ask` or a grant for one launch.
    case launch(HeldLaunch, Decision)
    case execRequest(number: UInt64, ExecRequest)
    case ended(number: UInt64, Reason)
    case readDenied(app: AppID, process: Int32, user: UInt32, path: String)
    case filesChanged(app: AppID)
    /// A file of the app that a user can move was found, or is gone. Its handle is sent with the app's paths.
    case file(app: AppID, isPresent: Bool, handle: [UInt8])
    /// `count` of the app's files start without a prompt, because they could not be marked.
    case unguarded(app: AppID, count: Int)
    /// `count` paths could not be marked, most often because they do not exist.
    case marksMissing(app: AppID, count: Int)
}

public enum InstanceOrderKind: Sendable { case freeze, thaw, close }

/// The daemon's port to the gate.
///
/// Orders to a disconnected gate are not queued. When it connects, the whole state is sent again; until then the gate
/// denies everything.
public protocol LaunchGatePort: Sendable {
    /// The gate's events, for one reader.
    var events: AsyncStream<GateEvent> { get }
    func configure(answerWithin: Duration, maximumWaitingPerUser: Int)
    /// Sends the app's paths; returns when its marks are in force (or the gate is not connected).
    func set(_ app: ResolvedApp, guarded: Bool) async
    func setGuarded(_ app: AppID, _ guarded: Bool) async
    func forget(_ app: AppID) async
    /// Reports that every app has been sent, and waits until launches of these apps cause prompts.
    ///
    /// - Returns: false if the gate is not connected, or another one is than the one that was sent the apps.
    func synchronised(_ apps: Set<AppID>) async -> Bool
    /// Does nothing if the launch's connection has ended.
    func answer(_ launch: HeldLaunch, allow: Bool)
    func protect(process: Int32)
    func order(_ order: InstanceOrderKind, app: AppID)
}
