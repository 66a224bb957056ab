import ControlAPI
import Foundation
public import Policy
import Sync

/// The list of apps: which are locked, their grants, and the gate's marks that follow from both.
///
/// Each change is on disk before it is acknowledged, and the gate's marks are restored before a lock is reported.
public actor AppService: Relockable {
    static let documentName = "apps"

    struct Stored: Codable {
        var policy = LockPolicy()
        var resolved: [AppID: ResolvedApp] = [:]
        var former: [AppID: FormerPaths] = [:]
    }

    let resolver: any AppResolver
    let gate: any LaunchGatePort
    let time: any TimeSource
    let log: ActivityLog
    private let documents: any RecordStore
    private let authorizer: LaunchAuthorizer
    let lockGenerations: LockGenerations
    let changes: StateChanges
    let events: DaemonEvents
    /// The ends of grants of which users were warned.
    var warnedOf: Set<Closing> = []
    /// Changed only in `serialQueue`.
    var stored = Stored()
    /// The state that was last sent to the gate.
    var guarded: [AppID: Bool] = [:]
    var missingMarks: [AppID: Int] = [:]
    /// How many files of an app start without a prompt, because they could not be marked.
    var unguarded: [AppID: Int] = [:]
    /// Handles of files that the gate reported as present or gone, until they are written.
    var changedHandles: [AppID: [Data: Bool]] = [:]
    /// The action for running instances whose grant ended while the gate was not connected.
    private var overdue: [AppID: InstanceAction] = [:]
    private var connectedGate = GateState.away
    private var isGateSynchronised = false
    /// Away until the gate has been sent every app: it denies their launches without a prompt.
    var gateState: GateState { isGateSynchronised ? connectedGate : .away }
    private(set) var gateProcess: Int32?
    /// The gate ran in weak mode when it was last connected.
    private var wasWeak = false
    /// Runs one change at a time, including its messages to the gate and its write.
    let serialQueue = AsyncSerialQueue()
    /// The sleep until the next change by time; cancelled when the policy changes.
    private var nap: Task<Void, Never>?

    init(
        documents: any RecordStore, resolver: any AppResolver, gate: any LaunchGatePort, time: any TimeSource,
        authorizer: LaunchAuthorizer, log: ActivityLog, lockGenerations: LockGenerations, changes: StateChanges,
        events: DaemonEvents
    ) {
        self.events = events
        self.lockGenerations = lockGenerations
        self.changes = changes
        self.documents = documents
        self.resolver = resolver
        self.gate = gate
        self.time = time
        self.authorizer = authorizer
        self.log = log
    }

    public var policy: LockPolicy { stored.policy }

    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        stored = try await documents.decoded(Stored.self, Self.documentName) ?? stored
        for ended in stored.policy.endExpiredGrants(at: time.now()) { overdue[ended.grant.app] = ended.action }
        stored.policy.endMonitoringPause(at: time.now())
        publish()
    }

    // MARK: Changing

    /// Applies a change to a copy, writes it, and updates the gate.
    ///
    /// - Parameter other: written in the same transaction; nil writes and changes nothing.
    /// - Throws: what `body` throws, or `ControlError.failed` when it could not be written; then nothing has changed.
    @discardableResult
    func change<Value>(
        with other: StateChange? = StateChange(), _ body: (inout Stored) throws -> Value
    ) async throws -> Value {
        try await serialQueue.perform {
            var copy = stored
            let value = try ControlError.converting { try body(&copy) }
            guard let other else { return value }
            try await write(copy, with: other)
            stored = copy
            publish()
            await synchronizeGate()
            return value
        }
    }

    /// As `change`, for changes that only lock: they take effect even if they can't be written.
    @discardableResult
    func tighten(_ body: (inout LockPolicy) throws -> [EndedGrant]) async throws -> [EndedGrant] {
        try await serialQueue.perform {
            let before = stored.policy
            let ended = try ControlError.converting { try body(&stored.policy) }
            guard stored.policy != before || !isWritten else { return [] }
            publish()
            await synchronizeGate()
            for grant in ended { await applyEnd(of: grant) }
            try await write(stored)
            return ended
        }
    }

    /// Ends the grants that need this user's presence, or all. Returns when the gate's marks are restored. The write
    /// follows, because the computer may be waiting to sleep.
    func relock(_ absence: Absence) async {
        let reason = absence.reason
        await withCheckedContinuation { inForce in
            Task {
                try? await serialQueue.perform {
                    let ended =
                        absence.user.map { stored.policy.endGrants(of: $0, reason) } ?? stored.policy.endGrants(reason)
                    if !ended.isEmpty { publish() }
                    await synchronizeGate()
                    for grant in ended { act(on: grant) }
                    inForce.resume()
                    guard !ended.isEmpty else { return }
                    for grant in ended {
                        await log.enqueue(
                            .grantEnded, app: grant.grant.app, user: grant.grant.user,
                            grant.reason.sentence(of: name(of: grant.grant.app)))
                    }
                    try await write(stored)
                }
            }
        }
    }

    /// When the newest grant that needs this user's presence was given, since boot; nil where there is none.
    func lastUse(by user: UInt32) -> Duration? {
        let now = time.now()
        return stored.policy.grants.values.filter { $0.concerns(user) && $0.isValid(at: now) }.map(\.startedAt).max()
    }

    /// Whether the store has the current state. Changes that lock are in force even if they can't be written.
    private var isWritten = true

    func write(_ stored: Stored, with other: StateChange = StateChange()) async throws {
        do {
            var change = other
            change.documents[Self.documentName] = try [UInt8](JSONEncoder().encode(stored))
            try await documents.write(change)
            isWritten = true
        } catch let error where error is DocumentChanged || error is RevisionConflict {
            throw error
        } catch {
            isWritten = false
            throw ControlError(
                .failed, "AppLocker could not write its state (\(error)). Free some disk space and try again.")
        }
    }

    private func publish() {
        authorizer.update { [policy = stored.policy] in $0.policy = policy }
        nap?.cancel()
        changes.mark()
    }

    // MARK: The gate

    /// Sends the gate the differences from the state that was last sent.
    func synchronizeGate() async {
        // An app that is removed and added again is another one: what was to happen to the first is not repeated.
        overdue = overdue.filter { stored.policy.apps[$0.key] != nil }
        guard connectedGate != .away else { return }
        let now = time.now()
        for id in guarded.keys.filter({ stored.policy.apps[$0] == nil }).sorted() {
            guarded[id] = nil
            missingMarks[id] = nil
            unguarded[id] = nil
            // The gate drops the app's instances with the app, so none may stay frozen.
            gate.order(.thaw, app: id)
            await gate.forget(id)
        }
        for id in stored.policy.apps.keys.sorted() {
            let wanted = stored.policy.isGuarded(id, at: now)
            guard guarded[id] != wanted else { continue }
            let isKnown = guarded[id] != nil
            guarded[id] = wanted
            if isKnown {
                await gate.setGuarded(id, wanted)
            } else if var app = stored.resolved[id] {
                app.executables += stored.former[id]?.executables ?? []
                app.privateDirectories += stored.former[id]?.privateDirectories ?? []
                await gate.set(app, guarded: wanted)
            } else {
                continue
            }
            // Otherwise what was frozen stays stopped, and launches that need no prompt are stopped with it. The app may
            // have been opened without a gate.
            if !wanted { gate.order(.thaw, app: id) }
        }
    }

    func gateChanged(_ state: GateState, process: Int32?) async {
        _ = try? await serialQueue.perform { await synchronise(state, process: process) }
    }

    private func synchronise(_ state: GateState, process: Int32?) async {
        // Each failed attempt to reach the gate reports `away` again.
        guard state != .away || connectedGate != .away else { return }
        if case .weak = connectedGate { wasWeak = true } else if case .held = connectedGate { wasWeak = false }
        connectedGate = state
        isGateSynchronised = false
        gateProcess = process
        changes.mark()
        guarded = [:]
        missingMarks = [:]
        unguarded = [:]
        guard state != .away else {
            await log.append(.gateAway, gateAwaySentence)
            return
        }
        configureGate()
        await synchronizeGate()
        isGateSynchronised = await gate.synchronised(
            Set(stored.policy.apps.keys.filter { stored.resolved[$0] != nil }))
        // Another gate has connected meanwhile, or none: its own event follows.
        guard isGateSynchronised else { return }
        changes.mark()
        for (id, action) in overdue where guarded[id] == true { order(action, id) }
        overdue = [:]
        let sentence =
            switch state {
            case .held(0): "The gate holds launches in the kernel."
            case .held(1): "The gate was restarted and denied a launch that had waited."
            case .held(let orphans): "The gate was restarted and denied \(orphans) launches that had waited."
            case .weak(let reason): "Weak mode: \(reason)"
            case .away: ""
            }
        await log.append(.gateConnected, sentence)
    }

    /// In the weak mode only a running gate stops launches.
    var gateAwaySentence: String {
        guard connectedGate == .away else {
            return "The gate is being sent the list of apps: locked apps can't be started until it has it."
        }
        return wasWeak
            ? "The gate is not running: locked apps start without a prompt until it is restarted."
            : "The gate is not running: locked apps can't be started until it is restarted."
    }

    func configureGate() {
        let settings = stored.policy.settings
        // The daemon answers at the time-out itself; the gate's own deadline is for a daemon that hangs.
        gate.configure(
            answerWithin: settings.longestTimeout + .seconds(10),
            maximumWaitingPerUser: settings.maximumWaitingPerUser)
    }

    // MARK: Time

    /// Ends grants and follows schedules, sleeping exactly until the next change. Runs until it is cancelled.
    func followTime() async throws {
        while !Task.isCancelled {
            try await serialQueue.perform { await tick() }
            let now = time.now()
            let waits = [stored.policy.nextTransition(after: now), nextClosingWarning(after: now)].compactMap { $0 }
            let wait = waits.min() ?? .seconds(86_400)
            let nap = Task { [time, end = now.elapsed + max(wait, .milliseconds(1))] in
                _ = try? await time.sleep(until: end)
            }
            self.nap = nap
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
        }
    }

    private func tick() async {
        let now = time.now()
        var copy = stored
        let ended = copy.policy.endExpiredGrants(at: now)
        let monitoringIsBack = copy.policy.endMonitoringPause(at: now)
        if !ended.isEmpty || monitoringIsBack {
            stored = copy
            authorizer.update { [policy = stored.policy] in $0.policy = policy }
        }
        // A schedule may have begun or ended.
        changes.mark()
        await synchronizeGate()
        for grant in ended { await applyEnd(of: grant) }
        warnOfClosings(at: now)
        if monitoringIsBack { await log.append(.monitoringOn, "Monitoring is on again.") }
        if !ended.isEmpty || monitoringIsBack { try? await write(stored) }
    }

    private func applyEnd(of ended: EndedGrant) async {
        act(on: ended)
        await log.append(
            .grantEnded, app: ended.grant.app, user: ended.grant.user,
            ended.reason.sentence(of: name(of: ended.grant.app)))
    }

    /// Applies the owner's setting for running instances.
    private func act(on ended: EndedGrant) {
        let app = ended.grant.app
        // An unused grant for one launch has started no instance, and nothing would continue an app that is open.
        let isLeft =
            ended.grant.scope == .thisLaunch
            || ended.action == .freeze && !stored.policy.isGuarded(app, at: time.now())
        handleInstances(of: app, isLeft ? .keep : ended.action)
    }

    /// Applies the owner's choice for what runs of apps that were locked just now. One that is open again meanwhile, or
    /// still, is left as it is: nothing would continue what was frozen.
    ///
    /// - Returns: the apps that were left as they are.
    func handleInstances(of ids: [AppID], _ action: InstanceAction) async throws -> [AppID] {
        guard action != .keep else { return [] }
        return try await serialQueue.perform {
            let now = time.now()
            let locked = ids.filter { stored.policy.isGuarded($0, at: now) }
            for id in locked { handleInstances(of: id, action) }
            return ids.filter { !locked.contains($0) }
        }
    }

    private func handleInstances(of id: AppID, _ action: InstanceAction) {
        if connectedGate == .away {
            overdue[id] = action
        } else {
            order(action, id)
        }
    }

    private func order(_ action: InstanceAction, _ id: AppID) {
        switch action {
        case .keep: break
        case .freeze: gate.order(.freeze, app: id)
        case .close: gate.order(.close, app: id)
        }
    }

    func name(of id: AppID) -> String { stored.policy.apps[id]?.name ?? id.rawValue }
}

extension ControlError {
    init(_ error: PolicyError) {
        let code: Code =
            switch error.code {
            case .noSuchApp: .noSuchApp
            case .noSuchCategory: .noSuchCategory
            case .invalidSchedule, .invalidDuration, .invalidCategory, .invalidSetting: .badRequest
            }
        self.init(code, error.sentence)
    }

    /// Throws errors of the policy as `ControlError`.
    static func converting<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as PolicyError {
            throw ControlError(error)
        }
    }
}
