/// A launch that waits for an answer, or that was denied at once: because the desktop must not wait, or because nobody
/// can be asked.
public struct LaunchQuestion: Equatable, Sendable {
    public var launch: LaunchToken
    public var app: AppToken
    public var process: Int32
    public var parent: Int32
    /// The real user id of the process, as the system (not a user namespace) counts.
    public var user: UInt32
    /// Who logged in (`/proc/PID/loginuid`); 4294967295 where the kernel has no login user.
    public var loginUser: UInt32
    /// True: the launch was denied already and its `execRequest` follows, so that it can be started again.
    public var deniedAtOnce: Bool
    /// The file that is being started, at most 4,096 bytes.
    public var path: [UInt8]

    public init(
        launch: LaunchToken, app: AppToken, process: Int32, parent: Int32, user: UInt32, loginUser: UInt32,
        deniedAtOnce: Bool, path: [UInt8]
    ) {
        self.launch = launch
        self.app = app
        self.process = process
        self.parent = parent
        self.user = user
        self.loginUser = loginUser
        self.deniedAtOnce = deniedAtOnce
        self.path = path
    }
}

/// A message from the gate to the daemon.
public enum GateMessage: Equatable, Sendable {
    /// First message of a connection: how launches are noticed, how many orphans of an earlier run were denied
    /// before the first read, and in the weak mode the errno with which fanotify refused.
    case hello(version: UInt16, mode: GateMode, orphansDenied: UInt32, refusal: Int32)
    case launch(LaunchQuestion)
    /// A part of what a denied launch needs to be started again (`GateProtocol.ExecRequest.encoded`). The parts come in
    /// order, after the `launch` that they belong to. No arguments: it could not be read, or its path does not lead to the
    /// file that was to be started.
    case execRequest(LaunchToken, isLast: Bool, part: [UInt8])
    /// `tooManyWaiting` comes for the first of many refusals of a user, not for each.
    case ended(LaunchToken, LaunchEnd)
    /// Somebody other than root read or copied a locked file and was refused. Sent once per process and file, and of one
    /// user 16 times at once and then once a second at most.
    case readDenied(AppToken, process: Int32, user: UInt32, path: [UInt8])
    /// The change with this number is in force: `marks` are in place, `failures` paths could not be marked. Number 0
    /// is a second attempt that nobody asked for, after descriptors or memory had been missing.
    case applied(AppToken, sequence: UInt32, marks: UInt32, failures: UInt32)
    /// A file of the app was replaced, added or removed: its executables have to be looked up again.
    case filesChanged(AppToken)
    /// How many processes of the app an order reached.
    case instancesReached(AppToken, InstanceOrder, count: UInt32)
    case pong(UInt64)
    /// The app has a file that a user can move, to be sent with its paths from the next connection on; or what a handle
    /// meant is gone. The handle is at most 140 bytes, which only the gate understands.
    case file(AppToken, isPresent: Bool, handle: [UInt8])
    /// How many existing files of the app could not be marked and how many of its directories could not be watched, in all.
    /// Such a file starts without a prompt, and so does one that replaces a file in such a directory. 0 after a success.
    case unguarded(AppToken, count: UInt32)
    /// A launch that was denied by `DaemonMessage.denyWithoutAsking`. It has no exec request and needs no answer. Not
    /// sent while the daemon is slow to read.
    case denied(LaunchQuestion)

    public func encoded() -> [UInt8] {
        switch self {
        case .hello(let version, let mode, let orphans, let refusal):
            MessageWriter.message(129, version, mode.rawValue, orphans, refusal)
        case .launch(let question): question.encoded(130)
        case .execRequest(let launch, let isLast, let part): MessageWriter.message(131, launch, isLast, part)
        case .ended(let launch, let end): MessageWriter.message(132, launch, end.rawValue)
        case .readDenied(let app, let process, let user, let path):
            MessageWriter.message(133, app, process, user, path)
        case .applied(let app, let sequence, let marks, let failures):
            MessageWriter.message(134, app, sequence, marks, failures)
        case .filesChanged(let app): MessageWriter.message(135, app)
        case .instancesReached(let app, let order, let count): MessageWriter.message(136, app, order.rawValue, count)
        case .pong(let number): MessageWriter.message(137, number)
        case .file(let app, let isPresent, let handle): MessageWriter.message(138, app, isPresent, handle)
        case .unguarded(let app, let count): MessageWriter.message(139, app, count)
        case .denied(let question): question.encoded(140)
        }
    }

    public init(decoding bytes: [UInt8]) throws(GateProtocolError) {
        var reader = MessageReader(bytes)
        let kind: UInt8 = try reader.read()
        switch kind {
        case 129:
            self = .hello(
                version: try reader.read(), mode: try reader.readCase("mode"), orphansDenied: try reader.read(),
                refusal: try reader.read())
        case 130: self = .launch(try LaunchQuestion(reading: &reader))
        case 131:
            self = .execRequest(try reader.read(), isLast: try reader.readFlag("last part"), part: reader.readRest())
        case 132: self = .ended(try reader.read(), try reader.readCase("launch end"))
        case 133:
            self = .readDenied(
                try reader.read(), process: try reader.read(), user: try reader.read(), path: reader.readRest())
        case 134:
            self = .applied(
                try reader.read(), sequence: try reader.read(), marks: try reader.read(), failures: try reader.read())
        case 135: self = .filesChanged(try reader.read())
        case 136:
            self = .instancesReached(
                try reader.read(), try reader.readCase("instance order"), count: try reader.read())
        case 137: self = .pong(try reader.read())
        case 138:
            self = .file(try reader.read(), isPresent: try reader.readFlag("present"), handle: reader.readRest())
        case 139: self = .unguarded(try reader.read(), count: try reader.read())
        case 140: self = .denied(try LaunchQuestion(reading: &reader))
        default: throw .unknownKind(kind)
        }
        try reader.finish()
    }
}

extension LaunchQuestion {
    fileprivate func encoded(_ kind: UInt8) -> [UInt8] {
        MessageWriter.message(kind, launch, app, process, parent, user, loginUser, deniedAtOnce, path)
    }

    fileprivate init(reading reader: inout MessageReader) throws(GateProtocolError) {
        launch = try reader.read()
        app = try reader.read()
        process = try reader.read()
        parent = try reader.read()
        user = try reader.read()
        loginUser = try reader.read()
        deniedAtOnce = try reader.readFlag("denied at once")
        path = reader.readRest()
    }
}
