public import Policy
public import WireProtocol

/// How launches are noticed, as far as the daemon knows.
public enum GateState: Equatable, Sendable {
    case away
    /// The kernel holds them. `orphansDenied` launches of an earlier run of the gate were denied.
    case held(orphansDenied: Int)
    /// The weak mode, with the sentence that says why.
    case weak(reason: String)
}

/// One start of a locked app, which the kernel holds or which was denied already.
public struct HeldLaunch: Hashable, Sendable {
    public var number: UInt64
    public var app: AppID
    public var process: Int32
    public var parent: Int32
    public var user: UInt32
    /// Who logged in; nil where the kernel does not know.
    public var loginUser: UInt32?
    /// Denied because the desktop itself made it; its recipe follows.
    public var deniedAtOnce: Bool
    public var path: String

    public init(
        number: UInt64, app: AppID, process: Int32, parent: Int32, user: UInt32, loginUser: UInt32?,
        deniedAtOnce: Bool, path: String
    ) {
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
    /// Whether it is answered where it is made.
    public var isSettled: Bool { verdict != .ask && reason != .grantedOnce }
}

/// What the gate reports, in the order in which it happened.
public enum GateEvent: Sendable {
    case connected(GateState, process: Int32)
    case disconnected
    /// `decision` was made, and answered unless it is `ask` or a grant for one launch.
    case launch(HeldLaunch, Decision)
    case recipe(number: UInt64, LaunchRecipe)
    case ended(number: UInt64, Reason)
    case readDenied(app: AppID, process: Int32, user: UInt32, path: String)
    case filesChanged(app: AppID)
    /// A file of the app that a user can move, to be sent with its paths; or one that is gone.
    case file(app: AppID, isPresent: Bool, handle: [UInt8])
    /// So many of its files start without a question, because they could not be marked.
    case unguarded(app: AppID, count: Int)
    /// Paths that could not be marked, most often because there is nothing.
    case marksMissing(app: AppID, count: Int)
}

public enum InstanceOrderKind: Sendable { case freeze, thaw, close }

/// The gate, as the daemon needs it.
///
/// Orders that arrive while the gate is away are not queued: the whole state is sent anew when it is back, and until
/// then the gate denies everything.
public protocol LaunchGatePort: Sendable {
    /// Where the gate's events are read, by one reader.
    var events: AsyncStream<GateEvent> { get }
    func configure(answerWithin: Duration, maximumWaitingPerUser: Int)
    /// Sends the app's paths; returns when its marks are in force (or the gate is away).
    func set(_ app: ResolvedApp, guarded: Bool) async
    func setGuarded(_ app: AppID, _ guarded: Bool) async
    func forget(_ app: AppID) async
    /// Every app has been sent.
    func synchronised()
    func answer(_ launch: UInt64, allow: Bool)
    func protect(process: Int32)
    func order(_ order: InstanceOrderKind, app: AppID)
}
