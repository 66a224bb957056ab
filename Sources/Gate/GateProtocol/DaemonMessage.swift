/// A message from the daemon to the gate.
public enum DaemonMessage: Equatable, Sendable {
    /// First message of a connection.
    case hello(version: UInt16)
    /// How long a launch may wait (milliseconds), and how many may wait per user.
    case settings(answerWithinMilliseconds: UInt32, maximumWaitingPerUser: UInt32)
    /// The paths of this app follow; those sent before are replaced when `commitApp` arrives.
    case beginApp(AppToken)
    /// One path of the app that was begun, or one handle. At most 4,096 bytes (PATH_MAX).
    case appPath(AppToken, PathKind, path: [UInt8])
    /// The paths are complete. `sequence` is returned in `GateMessage.applied` when the marks are in place.
    case commitApp(AppToken, guarded: Bool, sequence: UInt32)
    /// Adds the marks (`guarded`) or removes them, with the paths already known.
    case setGuarded(AppToken, guarded: Bool, sequence: UInt32)
    /// The app is no longer on the list.
    case forgetApp(AppToken, sequence: UInt32)
    /// Every app has been sent: from now on a launch may cause a question.
    case synchronised
    /// The answer to `GateMessage.launch`. Where it allows, the process and its descendants of the same app are
    /// admitted: they may start the app's programs for as long as they live.
    case answer(LaunchToken, allow: Bool)
    /// Launches by any process that runs the same program as `pid` does, of the same user, are denied at once and
    /// started again later: this process draws the desktop and must not wait.
    case protect(pid: Int32)
    case instances(AppToken, InstanceOrder)
    /// Answered by `pong`; a gate that stays silent is reported as degraded.
    case ping(UInt64)
    /// Nobody can be asked: launches of guarded apps by these users are denied at once and reported as
    /// `GateMessage.denied`. Replaces the one before; `none` at the start of a connection.
    case denyWithoutAsking(DeniedUsers)

    public func encoded() -> [UInt8] {
        switch self {
        case .hello(let version): MessageWriter.message(1, version)
        case .settings(let milliseconds, let maximum): MessageWriter.message(2, milliseconds, maximum)
        case .beginApp(let app): MessageWriter.message(3, app)
        case .appPath(let app, let kind, let path): MessageWriter.message(4, app, kind.rawValue, path)
        case .commitApp(let app, let guarded, let sequence): MessageWriter.message(5, app, guarded, sequence)
        case .setGuarded(let app, let guarded, let sequence): MessageWriter.message(6, app, guarded, sequence)
        case .forgetApp(let app, let sequence): MessageWriter.message(7, app, sequence)
        case .synchronised: MessageWriter.message(8)
        case .answer(let launch, let allow): MessageWriter.message(9, launch, allow)
        case .protect(let pid): MessageWriter.message(10, pid)
        case .instances(let app, let order): MessageWriter.message(11, app, order.rawValue)
        case .ping(let number): MessageWriter.message(12, number)
        case .denyWithoutAsking(let users): MessageWriter.message(13, users.rawValue)
        }
    }

    public init(decoding bytes: [UInt8]) throws(GateProtocolError) {
        var reader = MessageReader(bytes)
        let kind: UInt8 = try reader.read()
        switch kind {
        case 1: self = .hello(version: try reader.read())
        case 2: self = .settings(answerWithinMilliseconds: try reader.read(), maximumWaitingPerUser: try reader.read())
        case 3: self = .beginApp(try reader.read())
        case 4: self = .appPath(try reader.read(), try reader.readCase("path kind"), path: reader.readRest())
        case 5:
            self = .commitApp(
                try reader.read(), guarded: try reader.readFlag("guarded"), sequence: try reader.read())
        case 6:
            self = .setGuarded(
                try reader.read(), guarded: try reader.readFlag("guarded"), sequence: try reader.read())
        case 7: self = .forgetApp(try reader.read(), sequence: try reader.read())
        case 8: self = .synchronised
        case 9: self = .answer(try reader.read(), allow: try reader.readFlag("allow"))
        case 10: self = .protect(pid: try reader.read())
        case 11: self = .instances(try reader.read(), try reader.readCase("instance order"))
        case 12: self = .ping(try reader.read())
        case 13: self = .denyWithoutAsking(try reader.readCase("users who are denied without asking"))
        default: throw .unknownKind(kind)
        }
        try reader.finish()
    }
}
