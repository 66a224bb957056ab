import Foundation
public import Policy
import WireProtocol

/// The list of apps: what is locked, since when it is open, and that the gate's marks say the same.
///
/// Each change is on disk before it is acknowledged, and the gate has its marks back before a lock is reported.
public actor AppService {
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
    private let judge: LaunchJudge
    let relocks: Relocks
    let changes: StateChanges
    /// Changed in turns.
    var stored = Stored()
    /// What the gate was told last.
    var guarded: [AppID: Bool] = [:]
    var missingMarks: [AppID: Int] = [:]
    /// How many files of an app start without a question, because they could not be marked.
    var unguarded: [AppID: Int] = [:]
    /// Files that the gate has found or misses, until they are written.
    var changedHandles: [AppID: [Data: Bool]] = [:]
    /// What is to happen to running instances whose grant ended while the gate was away.
    private var overdue: [AppID: InstanceAction] = [:]
    private(set) var gateState = GateState.away
    private(set) var gateProcess: Int32?
    /// The gate that is away watched processes and held nothing.
    private var wasWeak = false
    /// Changes wait for each other, gate and disk included.
    let turns = Turns()
    /// The wait for the next change that time brings; cut short when something else changes.
    private var nap: Task<Void, Never>?

    init(
        documents: any RecordStore, resolver: any AppResolver, gate: any LaunchGatePort, time: any TimeSource,
        judge: LaunchJudge, log: ActivityLog, relocks: Relocks, changes: StateChanges
    ) {
        self.relocks = relocks
        self.changes = changes
        self.documents = documents
        self.resolver = resolver
        self.gate = gate
        self.time = time
        self.judge = judge
        self.log = log
    }

    public var policy: LockPolicy { stored.policy }

    /// - Throws: `UnreadableState`, or what the store throws.
    public func load() async throws {
        if let bytes = try await documents.document(Self.documentName) {
            stored = try UnreadableState.decode(Stored.self, from: bytes, named: Self.documentName)
        }
        for ended in stored.policy.endExpiredGrants(at: time.now()) { overdue[ended.grant.app] = ended.action }
        stored.policy.endMonitoringPause(at: time.now())
        publish()
    }

    // MARK: Changing

    /// Runs a change on a copy, writes it, and brings the gate in step.
    ///
    /// - Throws: what `body` throws, or `ControlError.failed` when it could not be written; then nothing has changed.
    @discardableResult
    func change<Value>(_ body: (inout Stored) throws -> Value) async throws -> Value {
        try await turns.perform {
            var copy = stored
            let value: Value
            do {
                value = try body(&copy)
            } catch let error as PolicyError {
                throw ControlError(error)
            }
            try await write(copy)
            stored = copy
            publish()
            await bringGateInStep()
            return value
        }
    }

    /// As `change`, for what makes things more locked: it takes effect even where it can't be written.
    @discardableResult
    func tighten(_ body: (inout LockPolicy) throws -> [EndedGrant]) async throws -> [EndedGrant] {
        try await turns.perform {
            let before = stored.policy
            let ended: [EndedGrant]
            do {
                ended = try body(&stored.policy)
            } catch let error as PolicyError {
                throw ControlError(error)
            }
            guard stored.policy != before || !isWritten else { return [] }
            publish()
            await bringGateInStep()
            for grant in ended { await applyEnd(of: grant) }
            try await write(stored)
            return ended
        }
    }

    /// As `change`, written together with something else; nothing is written and nothing changes where that is nil.
    func change(with other: StateChange?, _ body: (inout Stored) throws -> Void) async throws {
        try await turns.perform {
            var copy = stored
            do {
                try body(&copy)
            } catch let error as PolicyError {
                throw ControlError(error)
            }
            guard let other else { return }
            try await write(copy, with: other)
            stored = copy
            publish()
            await bringGateInStep()
        }
    }

    /// Ends the grants that need this user's presence, or all. Returns when the gate has its marks back; the disk
    /// follows, because the computer waits to sleep.
    func relock(_ user: UInt32?, _ reason: GrantEndReason) async {
        await withCheckedContinuation { inForce in
            Task {
                try? await turns.perform {
                    let ended = user.map { stored.policy.endGrants(of: $0, reason) } ?? stored.policy.endGrants(reason)
                    if !ended.isEmpty { publish() }
                    await bringGateInStep()
                    for grant in ended { act(on: grant) }
                    inForce.resume()
                    guard !ended.isEmpty else { return }
                    for grant in ended {
                        await log.note(
                            .grantEnded, app: grant.grant.app, user: grant.grant.user,
                            Self.sentence(grant, name(of: grant.grant.app)))
                    }
                    try await write(stored)
                }
            }
        }
    }

    /// When the newest grant that needs this user's presence was given, since boot; nil where there is none.
    func lastGrant(of user: UInt32) -> Duration? {
        let now = time.now()
        return stored.policy.grants.values.filter { $0.concerns(user) && $0.isValid(at: now) }.map(\.startedAt).max()
    }

    /// Whether the store has what holds; what makes things more locked holds even where it can't be written.
    private var isWritten = true

    func write(_ stored: Stored, with other: StateChange = StateChange()) async throws {
        do {
            var change = other
            change.documents[Self.documentName] = try [UInt8](JSONEncoder().encode(stored))
            try await documents.write(change)
            isWritten = true
        } catch let error as DocumentChanged {
            throw error
        } catch {
            isWritten = false
            throw ControlError(
                .failed, "AppLocker could not write its state (\(error)). Free some disk space and try again.")
        }
    }

    private func publish() {
        judge.update { [policy = stored.policy] in $0.policy = policy }
        nap?.cancel()
        changes.mark()
    }

    // MARK: The gate

    /// Tells the gate what differs from what it was told last.
    func bringGateInStep() async {
        guard gateState != .away else { return }
        let now = time.now()
        for id in guarded.keys.filter({ stored.policy.apps[$0] == nil }).sorted() {
            guarded[id] = nil
            missingMarks[id] = nil
            unguarded[id] = nil
            // The gate lets go of the app's instances with the app: none may stay frozen.
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
            }
        }
    }

    func gateChanged(_ state: GateState, process: Int32?) async {
        _ = try? await turns.perform { await synchronise(state, process: process) }
    }

    private func synchronise(_ state: GateState, process: Int32?) async {
        // A gate that can't be reached is tried again and again.
        guard state != .away || gateState != .away else { return }
        if case .weak = gateState { wasWeak = true } else if case .held = gateState { wasWeak = false }
        gateState = state
        gateProcess = process
        changes.mark()
        guarded = [:]
        missingMarks = [:]
        unguarded = [:]
        guard state != .away else {
            await log.record(.gateAway, gateAwaySentence)
            return
        }
        configureGate()
        await bringGateInStep()
        gate.synchronised()
        for (id, action) in overdue where guarded[id] == true { order(action, id) }
        overdue = [:]
        let sentence =
            switch state {
            case .held(0): "The gate holds launches in the kernel."
            case .held(let orphans): "The gate is back and denied \(orphans) launches that had waited."
            case .weak(let reason): "Weak mode: \(reason)"
            case .away: ""
            }
        await log.record(.gateConnected, sentence)
    }

    /// In the weak mode nothing but the gate itself stops a launch.
    var gateAwaySentence: String {
        wasWeak
            ? "The gate is away: locked apps start without a question until it is back."
            : "The gate is away: locked apps can't be started until it is back."
    }

    func configureGate() {
        let settings = stored.policy.settings
        // The daemon answers at the time-out itself; the gate's own deadline is for a daemon that hangs.
        gate.configure(
            answerWithin: settings.promptTimeout + .seconds(10),
            maximumWaitingPerUser: settings.maximumWaitingPerUser)
    }

    // MARK: Time

    /// Ends grants and follows schedules, sleeping exactly until the next change. Runs until it is cancelled.
    func followTime() async throws {
        while !Task.isCancelled {
            try await turns.perform { await tick() }
            let wait = stored.policy.nextTransition(after: time.now()) ?? .seconds(86_400)
            let nap = Task { [time] in _ = try? await time.sleep(for: max(wait, .milliseconds(1))) }
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
            judge.update { [policy = stored.policy] in $0.policy = policy }
        }
        // A schedule may have begun or ended.
        changes.mark()
        await bringGateInStep()
        for grant in ended { await applyEnd(of: grant) }
        if monitoringIsBack { await log.record(.monitoringOn, "Monitoring is on again.") }
        if !ended.isEmpty || monitoringIsBack { try? await write(stored) }
    }

    private func applyEnd(of ended: EndedGrant) async {
        act(on: ended)
        await log.record(
            .grantEnded, app: ended.grant.app, user: ended.grant.user, Self.sentence(ended, name(of: ended.grant.app)))
    }

    private static func sentence(_ ended: EndedGrant, _ name: String) -> String {
        "\(name) is locked again (\(ended.reason.rawValue))."
    }

    /// What its owner wants done with the running instances.
    private func act(on ended: EndedGrant) {
        // A grant for one launch that nobody used let nothing in.
        let action = ended.grant.scope == .thisLaunch ? .keep : ended.action
        if gateState == .away {
            overdue[ended.grant.app] = action
        } else {
            order(action, ended.grant.app)
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
}
