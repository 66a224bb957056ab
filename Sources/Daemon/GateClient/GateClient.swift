import ControlAPI
public import DaemonCore
import Foundation
import GateProtocol
import Glibc
public import Policy
import Synchronization

/// The daemon's end of the gate's socket.
///
/// A thread of its own reads it, decides with `authorizer` and answers on the spot; what the features need comes
/// out of `events` afterwards. Sendable because everything that changes is inside one `Mutex`.
public final class GateClient: LaunchGatePort {
    public let events: AsyncStream<GateEvent>

    struct State {
        var connection: GateConnection?
        /// The number of this connection, from 1.
        var connectionNumber: UInt64 = 0
        var tokens: [AppID: AppToken] = [:]
        var apps: [AppToken: AppID] = [:]
        /// What this gate was sent of each app.
        var paths: [AppToken: [(kind: PathKind, path: [UInt8])]] = [:]
        var isSynchronised = false
        var lastToken: AppToken = 0
        var lastSequence: UInt32 = 0
        /// Who waits until a change is in force.
        var waiters: [UInt32: CheckedContinuation<Bool, Never>] = [:]
        var execRequests = GateProtocol.ExecRequestAssembler()
        var isStopped = false
    }

    private let socketPath: String
    private let authorizer: LaunchAuthorizer
    private let silence: Duration
    private let knownApps: KnownAppsFile?
    private let whenSynchronised: @Sendable () -> Void
    private let state = Mutex(State())
    private let continuation: AsyncStream<GateEvent>.Continuation

    /// - Parameters:
    ///   - silence: a gate that sends nothing for so long is pinged, and given up after as long again:
    ///     a request may be waiting for it to confirm a change.
    ///   - knownApps: where the list of apps is kept for the gate's next start; nil keeps it nowhere.
    ///   - whenSynchronised: called each time a gate has every mark in place.
    public init(
        socketPath: String, authorizer: LaunchAuthorizer, silence: Duration = .seconds(15),
        knownApps: KnownAppsFile? = nil, whenSynchronised: @escaping @Sendable () -> Void = {}
    ) {
        self.knownApps = knownApps
        self.whenSynchronised = whenSynchronised
        self.socketPath = socketPath
        self.silence = silence
        self.authorizer = authorizer
        (events, continuation) = AsyncStream.makeStream()
        authorizer.follow { [weak self] users in self?.denyWithoutAsking(users) }
    }

    private func denyWithoutAsking(_ users: UnaskedUsers) {
        guard state.withLock(\.isSynchronised) else { return }
        let users: DeniedUsers =
            switch users {
            case .none: .none
            case .allButRoot: .allButRoot
            case .all: .all
            }
        send(.denyWithoutAsking(users))
    }

    /// Starts the reader thread, which connects, and reconnects whenever the connection ends, until `stop()`.
    public func start() {
        Thread.detachNewThread { self.run() }
    }

    /// The wait after the gate could not be reached, in microseconds. Without a gate no locked app can be started, so it
    /// is short.
    private static let retryInterval: UInt32 = 50_000
    /// After a gate refused the connection, in microseconds.
    private static let refusedInterval: UInt32 = 1_000_000

    /// Returns after `stop()`. (A loop without an end keeps the optimiser of Swift 6.3 busy for ever.)
    private func run() {
        // One byte more than a message may have, so that one that is too large shows.
        var buffer = [UInt8](repeating: 0, count: GateProtocol.maximumMessageBytes + 1)
        while !state.withLock({ $0.isStopped }) {
            usleep(serve(&buffer))
        }
    }

    /// Closes the connection and ends the reader thread; for a client that is not used any more.
    public func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.connection
        }?.shutDown()
    }

    /// Serves one connection until its end.
    /// - Returns: how long to wait before the next, in microseconds.
    private func serve(_ buffer: inout [UInt8]) -> UInt32 {
        guard let connection = try? GateConnection(path: socketPath, silence: silence),
            connection.send(.hello(version: GateProtocol.version))
        else { return Self.retryInterval }
        state.withLock { state in
            state.connection = connection
            state.connectionNumber += 1
            state.tokens = [:]
            state.apps = [:]
            state.paths = [:]
            state.isSynchronised = false
            state.execRequests = GateProtocol.ExecRequestAssembler()
        }
        let wasWelcome = read(connection, &buffer)
        connection.shutDown()
        let waiters = state.withLock { state in
            state.connection = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: false) }
        continuation.yield(.disconnected)
        // One that closed the connection without a message does not accept this daemon: there is no hurry to retry.
        return wasWelcome ? Self.retryInterval : Self.refusedInterval
    }

    /// Reads until the connection is over: the gate hung up, is silent, or sent what no gate sends.
    /// - Returns: whether the gate sent anything.
    private func read(_ connection: GateConnection, _ buffer: inout [UInt8]) -> Bool {
        var wasWelcome = false
        var isAsked = false
        while true {
            switch connection.receive(into: &buffer) {
            case .end: return wasWelcome
            case .silence:
                guard !isAsked, connection.send(.ping(0)) else { return wasWelcome }
                isAsked = true
            case .message(let bytes):
                wasWelcome = true
                isAsked = false
                guard let message = try? GateMessage(decoding: bytes), handle(message, on: connection) else {
                    return wasWelcome
                }
            }
        }
    }

    /// - Returns: false where the connection has to end.
    private func handle(_ message: GateMessage, on connection: GateConnection) -> Bool {
        switch message {
        case .hello(let version, let mode, let orphans, let refusal):
            guard version == GateProtocol.version else { return false }
            continuation.yield(
                .connected(
                    mode == .held ? .held(orphansDenied: Int(orphans)) : .weak(reason: Self.reason(refusal)),
                    process: connection.process))
        case .launch(let question):
            guard let app = app(question.app) else {
                return question.deniedAtOnce || connection.send(.answer(question.launch, allow: false))
            }
            let launch = heldLaunch(question, app)
            let decision = authorizer.authorize(launch)
            let isSettled = decision.isSettled
            let isSent =
                !isSettled || question.deniedAtOnce
                || connection.send(.answer(question.launch, allow: decision.verdict == .allow))
            // The gate may have made way for this thread on this very processor: the kernel gets its answer first.
            if isSettled { sched_yield() }
            continuation.yield(.launch(launch, decision))
            return isSent
        case .denied(let question):
            guard let app = app(question.app) else { return true }
            let launch = heldLaunch(question, app)
            continuation.yield(.launch(launch, authorizer.decisionWithoutAsking(launch)))
        case .execRequest(let launch, let isLast, let part): return collect(launch, part, isLast: isLast)
        case .ended(let launch, let end):
            let reason: Reason =
                switch end {
                case .timedOut: .noAnswer
                case .processGone: .launcherGone
                case .tooManyWaiting: .tooManyWaiting
                }
            continuation.yield(.ended(number: launch, reason))
        case .readDenied(let token, let process, let user, let path):
            guard let app = app(token) else { return true }
            continuation.yield(
                .readDenied(app: app, process: process, user: user, path: String(decoding: path, as: UTF8.self)))
        case .applied(let token, let sequence, _, let failures):
            if let app = app(token) { continuation.yield(.marksMissing(app: app, count: Int(failures))) }
            confirm(sequence)
        case .filesChanged(let token):
            if let app = app(token) { continuation.yield(.filesChanged(app: app)) }
        case .file(let token, let isPresent, let handle):
            if let app = app(token) { continuation.yield(.file(app: app, isPresent: isPresent, handle: handle)) }
        case .unguarded(let token, let count):
            if let app = app(token) { continuation.yield(.unguarded(app: app, count: Int(count))) }
        case .pong(let number):
            if let sequence = UInt32(exactly: number) { confirm(sequence) }
        case .instancesReached: break
        }
        return true
    }

    private func collect(_ launch: LaunchToken, _ part: [UInt8], isLast: Bool) -> Bool {
        let bytes: [UInt8]?
        do {
            bytes = try state.withLock { state in try state.execRequests.append(part, of: launch, isLast: isLast) }
        } catch {
            return false
        }
        if let bytes, let execRequest = GateProtocol.ExecRequest(decoding: bytes) {
            continuation.yield(.execRequest(number: launch, ExecRequest(execRequest)))
        }
        return true
    }

    private static func reason(_ refusal: Int32) -> String {
        refusal == 0
            ? "the gate runs without root, so a locked app is noticed after it started, and stopped."
            : "the kernel refused permission events (\(String(cString: strerror(refusal)))), so a locked app is noticed "
                + "after it started, and stopped."
    }

    private func app(_ token: AppToken) -> AppID? { state.withLock { $0.apps[token] } }

    private func heldLaunch(_ question: LaunchQuestion, _ app: AppID) -> HeldLaunch {
        HeldLaunch(
            connection: state.withLock(\.connectionNumber), number: question.launch, app: app,
            process: question.process, parent: question.parent, user: question.user,
            loginUser: question.loginUser == .max ? nil : question.loginUser, deniedAtOnce: question.deniedAtOnce,
            path: String(decoding: question.path, as: UTF8.self))
    }

    // MARK: LaunchGatePort

    public func configure(answerWithin: Duration, maximumWaitingPerUser: Int) {
        let milliseconds = answerWithin.components.seconds * 1_000
        send(
            .settings(
                answerWithinMilliseconds: UInt32(clamping: milliseconds),
                maximumWaitingPerUser: UInt32(clamping: maximumWaitingPerUser)))
    }

    public func set(_ app: ResolvedApp, guarded: Bool) async {
        let (connection, token) = state.withLock { state in
            if let token = state.tokens[app.id] { return (state.connection, token) }
            state.lastToken += 1
            state.tokens[app.id] = state.lastToken
            state.apps[state.lastToken] = app.id
            return (state.connection, state.lastToken)
        }
        // All of it to one gate: the next one would not know what was begun.
        guard let connection, connection.send(.beginApp(token)) else { return }
        let paths: [(kind: PathKind, path: [UInt8])] =
            app.executables.map { (.executable, Array($0.utf8)) }
            + app.privateDirectories.map { (.privateDirectory, Array($0.utf8)) }
            + app.links.map { (.link, Array($0.utf8)) } + app.handles.map { (.handle, [UInt8]($0)) }
        for (kind, path) in paths {
            guard connection.send(.appPath(token, kind, path: path)) else { return }
        }
        await sendAndWait(on: connection) { .commitApp(token, guarded: guarded, sequence: $0) }
        state.withLock { $0.paths[token] = paths }
        keepKnownApps()
    }

    public func setGuarded(_ app: AppID, _ guarded: Bool) async {
        guard let token = state.withLock({ $0.tokens[app] }) else { return }
        await sendAndWait { .setGuarded(token, guarded: guarded, sequence: $0) }
    }

    public func forget(_ app: AppID) async {
        guard let token = state.withLock({ $0.tokens.removeValue(forKey: app) }) else { return }
        await sendAndWait { .forgetApp(token, sequence: $0) }
        state.withLock { state in
            state.apps[token] = nil
            state.paths[token] = nil
        }
        keepKnownApps()
    }

    public func synchronised(_ apps: Set<AppID>) async -> Bool {
        // A gate that connected meanwhile has only a part of the list.
        let connection = state.withLock { apps.isSubset(of: $0.tokens.keys) ? $0.connection : nil }
        guard let connection, connection.send(.synchronised),
            state.withLock({ state in
                guard state.connection === connection else { return false }
                state.isSynchronised = true
                return true
            })
        else { return false }
        authorizer.notifyFollower()
        keepKnownApps()
        // The gate reads in order: when it answers, it has read the message before.
        guard await sendAndWait(on: connection, { .ping(UInt64($0)) }) else { return false }
        whenSynchronised()
        return true
    }

    /// A list that is still being sent is not all of it.
    private func keepKnownApps() {
        guard let knownApps else { return }
        let apps = state.withLock { state in
            state.isSynchronised ? state.paths.sorted { $0.key < $1.key }.map(\.value) : nil
        }
        if let apps { knownApps.keep(KnownApps.encoded(apps)) }
    }

    public func answer(_ launch: HeldLaunch, allow: Bool) {
        // A restarted gate numbers its launches from the beginning: this number may be another app's launch.
        let connection = state.withLock { $0.connectionNumber == launch.connection ? $0.connection : nil }
        _ = connection?.send(.answer(launch.number, allow: allow))
    }

    public func protect(process: Int32) { send(.protect(pid: process)) }

    public func order(_ order: InstanceOrderKind, app: AppID) {
        guard let token = state.withLock({ $0.tokens[app] }) else { return }
        let kind: InstanceOrder =
            switch order {
            case .freeze: .freeze
            case .thaw: .thaw
            case .close: .close
            }
        send(.instances(token, kind))
    }

    @discardableResult
    private func send(_ message: DaemonMessage) -> Bool {
        state.withLock { $0.connection }?.send(message) ?? false
    }

    private func confirm(_ sequence: UInt32, _ isConfirmed: Bool = true) {
        state.withLock { $0.waiters.removeValue(forKey: sequence) }?.resume(returning: isConfirmed)
    }

    /// Returns true when the gate confirms the change, and false when it has gone: then it denies everything, and
    /// learns the whole state when it is back.
    @discardableResult
    private func sendAndWait(on expected: GateConnection? = nil, _ message: (UInt32) -> DaemonMessage) async -> Bool {
        let sequence = state.withLock { state in
            state.lastSequence &+= 1
            return state.lastSequence
        }
        let message = message(sequence)
        return await withCheckedContinuation { waiter in
            let connection = state.withLock { state -> GateConnection? in
                guard let connection = state.connection, expected == nil || expected === connection else { return nil }
                state.waiters[sequence] = waiter
                return connection
            }
            guard let connection else { return waiter.resume(returning: false) }
            if !connection.send(message) { confirm(sequence, false) }
        }
    }
}

extension ExecRequest {
    /// The same in the form of the control socket.
    fileprivate init(_ request: GateProtocol.ExecRequest) {
        func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
        self.init(
            path: base64(request.path), directory: base64(request.directory), arguments: request.arguments.map(base64),
            environment: request.environment.map(base64))
    }
}
