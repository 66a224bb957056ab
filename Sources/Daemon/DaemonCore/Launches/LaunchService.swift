public import ControlAPI
public import Policy
public import SealedFormats
import Sync

/// The launches that wait for an answer. Prompters and paired phones may answer; the first answer counts.
public actor LaunchService: Relockable {
    struct Waiting {
        var launch: HeldLaunch
        /// The user whose prompters show the prompt.
        var promptedUser: UInt32
        var report: PromptReport
        var deadline: Duration
        var execRequest: ExecRequest?
        /// How many passcodes are being compared for it. The time-out waits for their outcome.
        var answers = 0
        var timeout: Task<Void, Never>?

        /// The exec request that this prompter starts. It was read from the memory of the denied process, which that
        /// process's user controls, so only a prompter of the same user receives it.
        func execRequest(for peer: ControlPeer?) -> ExecRequest? { peer?.user == launch.user ? execRequest : nil }

        /// Whether the launch was denied at once and this prompter can't start it: its user has to start it again.
        func isLeftToItsUser(with peer: ControlPeer?) -> Bool { launch.deniedAtOnce && execRequest(for: peer) == nil }
    }

    struct Prompter {
        var peer: ControlPeer
        var events: AsyncStream<PromptEvent>.Continuation
    }

    /// The most answered launches that wait to be recorded. Further ones are only counted.
    private static let maximumDecided = 4_096

    let apps: AppService
    private let passcodes: PasscodeService
    let gate: any LaunchGatePort
    let authorizer: LaunchAuthorizer
    private let time: any TimeSource
    let directory: any ProcessDirectory
    private let log: ActivityLog
    let lockGenerations: LockGenerations
    private let changes: StateChanges
    private let events: DaemonEvents
    var waiting: [UInt64: Waiting] = [:]
    private var prompters: [UInt64: Prompter] = [:] {
        didSet {
            let users = Set(prompters.values.map(\.peer.user))
            authorizer.update { $0.promptedUsers = users }
        }
    }
    /// Processes that draw a user's desktop. They are sent to the gate again when it reconnects.
    private var desktops: [Int32: UInt32] = [:]
    /// Distinguishes the launches of one gate connection from those of the next, which numbers them from the beginning:
    /// a passcode that was typed for one launch must not approve another.
    private var gateConnection = UInt32.random(in: 0 ... .max)

    init(
        apps: AppService, passcodes: PasscodeService, gate: any LaunchGatePort, authorizer: LaunchAuthorizer,
        time: any TimeSource, directory: any ProcessDirectory, log: ActivityLog, lockGenerations: LockGenerations,
        changes: StateChanges, events: DaemonEvents
    ) {
        self.changes = changes
        self.events = events
        self.lockGenerations = lockGenerations
        self.apps = apps
        self.passcodes = passcodes
        self.gate = gate
        self.authorizer = authorizer
        self.time = time
        self.directory = directory
        self.log = log
    }

    public var waitingCount: Int { waiting.count }

    /// Until the first of the waiting launches is denied; nil if none waits.
    var secondsUntilTimeout: Int? {
        waiting.values.map(\.deadline).min().map { max(0, ($0 - time.elapsed()).wholeSecondsRoundedUp) }
    }

    // MARK: What the gate reports

    /// Reads the gate's events for as long as the daemon runs.
    public func followGate() async {
        // Decided launches only have to be recorded. Launches that wait for an answer do not wait for that.
        let (decided, decisions) = AsyncStream<(HeldLaunch, Decision)>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumDecided))
        async let recording: Void = record(decided)
        for await event in gate.events {
            switch event {
            case .connected(let state, let process):
                gateConnection &+= 1
                // A process number may have been reused meanwhile.
                desktops = desktops.filter { directory.owner(of: $0.key) == $0.value }
                for process in desktops.keys { gate.protect(process: process) }
                await apps.gateChanged(state, process: process)
            case .disconnected:
                for number in waiting.keys { settle(number, .gone) }
                await apps.gateChanged(.away, process: nil)
            case .launch(let launch, let decision):
                guard decision.isSettled else {
                    await received(launch, decision)
                    continue
                }
                if case .dropped = decisions.yield((launch, decision)) { await log.leaveOut() }
            case .execRequest(let number, let execRequest): execRequestArrived(number, execRequest)
            case .ended(let number, let reason): await gateEnded(number, reason)
            case .readDenied(let app, let process, let user, let path):
                await log.enqueue(
                    .readDenied, app: app, user: user, process: process, path: path,
                    "\(directory.processName(process) ?? "A program") tried to read \(path) and was refused.")
            // Looking an app up takes a while; launches are not kept waiting for it.
            case .filesChanged(let app): Task { await apps.filesChanged(app) }
            case .file(let app, let isPresent, let handle):
                await apps.note(handle, of: app, isPresent: isPresent)
            case .unguarded(let app, let count): await apps.setUnguarded(count, of: app)
            case .marksMissing(let app, let count): await apps.marksAreMissing(app, count: count)
            }
        }
        decisions.finish()
        await recording
    }

    private func received(_ launch: HeldLaunch, _ decision: Decision) async {
        if decision.verdict == .ask { await ask(launch) } else { await useGrantForOneLaunch(launch) }
    }

    private func record(_ decided: AsyncStream<(HeldLaunch, Decision)>) async {
        for await (launch, decision) in decided {
            await record(launch, decision.verdict == .allow ? .launchAllowed : .launchDenied, decision.reason)
        }
    }

    private func useGrantForOneLaunch(_ launch: HeldLaunch) async {
        // A launch that was denied at once can't use the grant: its prompter starts it again.
        var isFirst = false
        if !launch.deniedAtOnce {
            let facts = LaunchFacts(
                app: launch.app, uid: launch.user, isRoot: launch.user == 0, hasPrompter: false,
                waitingForUser: 0, lockout: LockoutLadder())
            do {
                isFirst = try await apps.admitOnce(facts)
            } catch {
                // Unless its use is written, the grant could be used twice.
                gate.answer(launch, allow: false)
                return await record(launch, .launchDenied, .locked)
            }
        }
        guard !isFirst else {
            gate.answer(launch, allow: true)
            return await record(launch, .launchAllowed, .grantedOnce)
        }
        // Another launch used the grant, so this one is decided without it.
        let decision = authorizer.authorize(launch, mayUseGrantForOneLaunch: false)
        guard decision.verdict != .ask else { return await ask(launch) }
        if !launch.deniedAtOnce { gate.answer(launch, allow: decision.verdict == .allow) }
        await record(launch, decision.verdict == .allow ? .launchAllowed : .launchDenied, decision.reason)
    }

    private func ask(_ launch: HeldLaunch) async {
        guard let promptedUser = authorizer.promptedUser(of: launch) else { return await denyUnasked(launch) }
        let settings = await apps.settings()
        let app = await apps.report(launch.app)
        let seconds =
            authorizer.hasPrompter(promptedUser) ? settings.promptTimeoutSeconds : settings.phoneTimeoutSeconds
        let report = PromptReport(
            prompt: "\(gateConnection)-\(launch.number)", app: app.id, name: app.name, icon: app.icon,
            path: launch.path,
            process: launch.process, parentName: directory.processName(launch.parent), user: launch.user,
            userName: directory.userName(launch.user), expiresInSeconds: seconds,
            defaultGrantSeconds: settings.defaultGrantSeconds, hasOwnPasscode: app.hasOwnPasscode,
            startsAgain: launch.deniedAtOnce, lockout: await passcodes.lockoutState(of: promptedUser))
        let number = launch.number
        // The prompter may have left meanwhile.
        guard authorizer.canAsk(promptedUser) else { return await denyUnasked(launch) }
        guard !authorizer.isAsleep else { return await denyUnasked(launch, .relocked) }
        let deadline = time.elapsed() + .seconds(seconds)
        waiting[number] = Waiting(
            launch: launch, promptedUser: promptedUser, report: report, deadline: deadline,
            timeout: Task { [time] in
                do { try await time.sleep(until: deadline) } catch { return }
                await self.timedOut(launch)
            })
        send(.ask(report), to: promptedUser)
        events.send(.promptOpened(report))
        await record(launch, .launchAsked, .locked)
    }

    private func denyUnasked(_ launch: HeldLaunch, _ reason: Reason = .nobodyToAsk) async {
        authorizer.waitingEnded(of: launch.user)
        if !launch.deniedAtOnce { gate.answer(launch, allow: false) }
        await record(launch, .launchDenied, reason)
    }

    /// The gate sends an exec request after its launch, on the same connection. One for a launch that does not wait is
    /// dropped. One without arguments means that the gate could not read them.
    private func execRequestArrived(_ number: UInt64, _ execRequest: ExecRequest) {
        guard waiting[number]?.launch.deniedAtOnce == true, !execRequest.arguments.isEmpty else { return }
        waiting[number]?.execRequest = execRequest
    }

    private func gateEnded(_ number: UInt64, _ reason: Reason) async {
        guard let launch = waiting[number]?.launch else {
            // The gate denied this launch without asking, so there is no prompt to close. Other users' launches follow
            // and do not wait for the disk.
            if reason == .tooManyWaiting { await log.enqueue(.launchDenied, reason: reason, reason.description) }
            return
        }
        settle(number, reason == .launcherGone ? .gone : .timedOut)
        await record(launch, .launchDenied, reason)
    }

    private func timedOut(_ launch: HeldLaunch) async {
        guard waiting[launch.number]?.answers == 0 else { return }
        await deny(launch, .noAnswer, .timedOut)
    }

    func deny(_ launch: HeldLaunch, _ reason: Reason, _ outcome: PromptOutcome) async {
        guard waiting[launch.number]?.launch == launch else { return }
        authorizer.remember(denied: launch, reason)
        if !launch.deniedAtOnce { gate.answer(launch, allow: false) }
        settle(launch.number, outcome)
        await record(launch, .launchDenied, reason)
    }

    /// Denies the waiting launches of this user, or of all users, and closes their prompts. Answers that are still
    /// being compared have no effect.
    func relock(_ absence: Absence) async {
        let user = absence.user
        authorizer.endRestarts(of: user)
        let ended = waiting.values.filter { user == nil || $0.promptedUser == user || $0.launch.user == user }
        for entry in ended {
            if !entry.launch.deniedAtOnce { gate.answer(entry.launch, allow: false) }
            settle(entry.launch.number, .denied)
        }
        for entry in ended { await record(entry.launch, .launchDenied, .relocked) }
    }

    /// A waiting launch is not open.
    func lastUse(by user: UInt32) -> Duration? { nil }

    /// Removes a launch from the waiting ones and notifies its prompters.
    private func settle(_ number: UInt64, _ outcome: PromptOutcome) {
        guard let entry = waiting.removeValue(forKey: number) else { return }
        entry.timeout?.cancel()
        authorizer.waitingEnded(of: entry.launch.user)
        send(.settled(prompt: entry.report.prompt, outcome: outcome), to: entry.promptedUser)
        events.send(.promptSettled(prompt: entry.report.prompt, outcome: outcome))
    }

    private func record(_ launch: HeldLaunch, _ kind: ActivityEvent.Kind, _ reason: Reason) async {
        let name = await apps.name(of: launch.app)
        let what =
            switch kind {
            case .launchAsked: "\(name) was started and waits for the passcode."
            case .launchAllowed: "\(name) was allowed to start. \(reason)"
            default: "\(name) was not allowed to start. \(reason)"
            }
        await log.enqueue(
            kind, app: launch.app, user: launch.user, process: launch.process, path: launch.path, reason: reason, what)
    }

    // MARK: Prompters

    public func join(_ peer: ControlPeer, connection: UInt64) -> AsyncStream<PromptEvent> {
        let (stream, events) = AsyncStream<PromptEvent>.makeStream(bufferingPolicy: .bufferingOldest(256))
        prompters[connection] = Prompter(peer: peer, events: events)
        changes.mark()
        events.yield(.ready)
        for report in waitingPrompts(of: peer) { events.yield(.ask(report)) }
        return stream
    }

    /// The prompts that this user may answer, the first to end first.
    func waitingPrompts(of peer: ControlPeer) -> [PromptReport] {
        let now = time.elapsed()
        let own = waiting.values.filter { $0.promptedUser == peer.user }.sorted { $0.deadline < $1.deadline }
        return own.map { entry in
            var report = entry.report
            report.expiresInSeconds = max(0, (entry.deadline - now).wholeSecondsRoundedUp)
            return report
        }
    }

    public func leave(connection: UInt64) async {
        guard let prompter = prompters.removeValue(forKey: connection) else { return }
        prompter.events.finish()
        let user = prompter.peer.user
        changes.mark()
        guard !authorizer.canAsk(user) else { return }
        for entry in waiting.values where entry.promptedUser == user && entry.answers == 0 {
            await deny(entry.launch, .prompterGone, .denied)
        }
    }

    /// The user's prompter that has been connected longest.
    func prompter(of user: UInt32) -> Prompter? {
        prompters.filter { $0.value.peer.user == user }.min { $0.key < $1.key }?.value
    }

    private func send(_ event: PromptEvent, to user: UInt32) {
        for prompter in prompters.values where prompter.peer.user == user { prompter.events.yield(event) }
    }

    /// Processes that have ended, or that run as another user, are ignored.
    public func registerDesktop(_ processes: [Int32], of peer: ControlPeer) {
        desktops = desktops.filter { $0.value != peer.user }
        for process in processes.prefix(64) where directory.owner(of: process) == peer.user {
            desktops[process] = peer.user
            gate.protect(process: process)
        }
    }

    // MARK: Answers

    public func cancel(_ prompt: String, by peer: ControlPeer) async throws {
        await deny(try find(prompt, of: peer), .cancelled, .denied)
    }

    /// - Throws: `ControlError` with `noSuchPrompt`, `wrongPasscode`, `lockedOut` or as `PasscodeService.verify`. The
    ///   launch keeps waiting then.
    public func answer(
        _ prompt: String, with passcode: SecretBytes, scope: GrantScope, by peer: ControlPeer
    ) async throws -> PromptAnswer {
        let launch = try find(prompt, of: peer)
        let number = launch.number
        waiting[number]?.answers += 1
        let generation = lockGenerations.generation(for: peer.user)
        var reason = Reason.passcodeEntered
        do {
            try await passcodes.verify(passcode, app: launch.app, user: peer.user)
            // The gate may have reconnected meanwhile and numbered launches from the beginning.
            guard let entry = waiting[number], entry.launch == launch else { throw Self.notWaiting }
            if scope != .thisLaunch || entry.isLeftToItsUser(with: peer) {
                reason = .unlockedByPasscode
                _ = try await apps.unlock(
                    [launch.app], scope: scope, user: peer.user, since: generation, reason: reason)
            }
        } catch {
            await answerFailed(launch)
            throw error
        }
        guard let entry = waiting[number], entry.launch == launch else { throw Self.notWaiting }
        // Frozen instances continue when their app is unlocked, and the new one must not be frozen with them.
        if scope == .thisLaunch { gate.order(.thaw, app: launch.app) }
        let execRequest = entry.execRequest(for: peer)
        if execRequest != nil { authorizer.allowRestart(of: launch.app, by: peer.process, user: peer.user) }
        await allow(launch, reason)
        if scope != .thisLaunch { await approveWaiting(of: [launch.app]) }
        return PromptAnswer(execRequest: execRequest)
    }

    /// Approves the waiting launches of apps that have been unlocked. Those that were denied at once keep waiting: only
    /// an answer starts them again.
    public func approveWaiting(of apps: Set<AppID>) async {
        for entry in waiting.values where apps.contains(entry.launch.app) && !entry.launch.deniedAtOnce {
            await allow(entry.launch, .granted)
        }
    }

    /// The launch keeps waiting, unless its time ran out or its last prompter left meanwhile.
    private func answerFailed(_ launch: HeldLaunch) async {
        guard var entry = waiting[launch.number], entry.launch == launch else { return }
        entry.answers -= 1
        waiting[launch.number] = entry
        guard entry.answers == 0 else { return }
        if entry.deadline <= time.elapsed() {
            await deny(launch, .noAnswer, .timedOut)
        } else if !authorizer.canAsk(entry.promptedUser) {
            await deny(launch, .prompterGone, .denied)
        }
    }

    func allow(_ launch: HeldLaunch, _ reason: Reason) async {
        guard waiting[launch.number]?.launch == launch else { return }
        if !launch.deniedAtOnce { gate.answer(launch, allow: true) }
        settle(launch.number, .allowed)
        await record(launch, .launchAllowed, reason)
    }

    private func find(_ prompt: String, of peer: ControlPeer) throws -> HeldLaunch {
        guard let entry = waiting.values.first(where: { $0.report.prompt == prompt }), entry.promptedUser == peer.user
        else { throw Self.notWaiting }
        return entry.launch
    }

    static var notWaiting: ControlError {
        ControlError(.noSuchPrompt, "This launch is no longer waiting; start the app again.")
    }
}
