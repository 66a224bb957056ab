public import Policy
public import SealedFormats
public import WireProtocol

/// The launches that wait for an answer, and the prompters that may give it, or a paired phone, with or without them.
/// Whoever answers first wins.
public actor LaunchService {
    struct Waiting {
        var launch: HeldLaunch
        /// Whose prompters are asked.
        var askee: UInt32
        var report: PromptReport
        var deadline: Duration
        var recipe: LaunchRecipe?
        /// Passcodes for it that are being compared: the time-out waits for the outcome.
        var answers = 0
        var timeout: Task<Void, Never>?

        /// What this prompter starts again. It comes from the memory of the process that was denied, which its user
        /// can fill with anything, and runs as whoever starts it: so nobody but that user gets it.
        func recipe(for peer: ControlPeer?) -> LaunchRecipe? { peer?.user == launch.user ? recipe : nil }

        /// Denied at once, and not to be started again by this prompter: its user may start it once more.
        func isLeftToItsUser(with peer: ControlPeer?) -> Bool { launch.deniedAtOnce && recipe(for: peer) == nil }
    }

    struct Prompter {
        var peer: ControlPeer
        var events: AsyncStream<PromptEvent>.Continuation
    }

    /// Launches that were answered and wait to be recorded; more are counted.
    private static let maximumDecided = 4_096

    let apps: AppService
    private let passcodes: PasscodeService
    let gate: any LaunchGatePort
    let judge: LaunchJudge
    private let time: any TimeSource
    let directory: any ProcessDirectory
    private let log: ActivityLog
    let relocks: Relocks
    private let changes: StateChanges
    var waiting: [UInt64: Waiting] = [:]
    /// Told of launches that begin to wait, and of what became of them; must return at once.
    private var onNews: (@Sendable (PromptEvent) -> Void)?
    private var prompters: [UInt64: Prompter] = [:]
    /// Processes that draw a user's desktop; told to the gate again when it comes back.
    private var desktops: [Int32: UInt32] = [:]
    /// Tells the launches of one connection of the gate from those of the next, whose numbers begin anew: a passcode
    /// that was typed for one must not let in another.
    private var gateConnection = UInt32.random(in: 0 ... .max)

    init(
        apps: AppService, passcodes: PasscodeService, gate: any LaunchGatePort, judge: LaunchJudge,
        time: any TimeSource, directory: any ProcessDirectory, log: ActivityLog, relocks: Relocks,
        changes: StateChanges
    ) {
        self.changes = changes
        self.relocks = relocks
        self.apps = apps
        self.passcodes = passcodes
        self.gate = gate
        self.judge = judge
        self.time = time
        self.directory = directory
        self.log = log
    }

    func tellNews(to body: @escaping @Sendable (PromptEvent) -> Void) { onNews = body }

    public var waitingCount: Int { waiting.count }

    // MARK: What the gate reports

    /// Reads the gate's events for as long as the daemon runs.
    public func followGate() async {
        // What was decided only has to be recorded: who waits for an answer does not wait for that.
        let (decided, decisions) = AsyncStream<(HeldLaunch, Decision)>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumDecided))
        async let recording: Void = record(decided)
        for await event in gate.events {
            switch event {
            case .connected(let state, let process):
                gateConnection &+= 1
                // A number may have come to mean another process meanwhile.
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
            case .recipe(let number, let recipe): recipeArrived(number, recipe)
            case .ended(let number, let reason): await gateEnded(number, reason)
            case .readDenied(let app, let process, let user, let path):
                await log.note(
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
        // Denied already, so it can't use the grant: its prompter starts it again.
        var isFirst = false
        if !launch.deniedAtOnce {
            let facts = LaunchFacts(
                app: launch.app, uid: launch.user, isRoot: launch.user == 0, hasPrompter: false,
                waitingForUser: 0, lockout: LockoutLadder())
            do {
                isFirst = try await apps.admitOnce(facts)
            } catch {
                // A use that can't be written could be repeated.
                gate.answer(launch.number, allow: false)
                return await record(launch, .launchDenied, .locked)
            }
        }
        guard !isFirst else {
            gate.answer(launch.number, allow: true)
            return await record(launch, .launchAllowed, .grantedOnce)
        }
        // Another launch used the grant: this one is asked about like any other.
        let decision = judge.judge(launch, mayUseGrantForOneLaunch: false)
        guard decision.verdict != .ask else { return await ask(launch) }
        if !launch.deniedAtOnce { gate.answer(launch.number, allow: decision.verdict == .allow) }
        await record(launch, decision.verdict == .allow ? .launchAllowed : .launchDenied, decision.reason)
    }

    private func ask(_ launch: HeldLaunch) async {
        guard let askee = judge.askee(of: launch) else { return await denyUnasked(launch) }
        let settings = await apps.settings()
        let app = await apps.report(launch.app)
        let timeout = Duration.seconds(settings.promptTimeoutSeconds)
        let report = PromptReport(
            prompt: "\(gateConnection)-\(launch.number)", app: app.id, name: app.name, icon: app.icon,
            path: launch.path,
            process: launch.process, parentName: directory.processName(launch.parent), user: launch.user,
            userName: directory.userName(launch.user), expiresInSeconds: settings.promptTimeoutSeconds,
            defaultGrantSeconds: settings.defaultGrantSeconds, hasOwnPasscode: app.hasOwnPasscode,
            startsAgain: launch.deniedAtOnce, lockout: await passcodes.lockoutState(of: askee))
        let number = launch.number
        // The prompter may have left meanwhile.
        guard judge.canAsk(askee) else { return await denyUnasked(launch) }
        guard !judge.isAsleep else { return await denyUnasked(launch, .relocked) }
        waiting[number] = Waiting(
            launch: launch, askee: askee, report: report, deadline: time.now().elapsed + timeout,
            timeout: Task { [time] in
                do { try await time.sleep(for: timeout) } catch { return }
                await self.timedOut(number)
            })
        tell(askee, .ask(report))
        onNews?(.ask(report))
        await record(launch, .launchAsked, .locked)
    }

    private func denyUnasked(_ launch: HeldLaunch, _ reason: Reason = .nobodyToAsk) async {
        judge.waitingEnded(of: launch.user)
        if !launch.deniedAtOnce { gate.answer(launch.number, allow: false) }
        await record(launch, .launchDenied, reason)
    }

    /// The gate sends it after its launch, on the same connection: one whose launch does not wait is nobody's. Without
    /// arguments it says that the gate could not read what was asked for.
    private func recipeArrived(_ number: UInt64, _ recipe: LaunchRecipe) {
        guard waiting[number]?.launch.deniedAtOnce == true, !recipe.arguments.isEmpty else { return }
        waiting[number]?.recipe = recipe
    }

    private func gateEnded(_ number: UInt64, _ reason: Reason) async {
        guard let launch = waiting[number]?.launch else {
            // The gate does not even ask about these, so there is nothing else to tell.
            // Other users' launches come behind it and don't wait for the disk.
            if reason == .tooManyWaiting { await log.note(.launchDenied, reason: reason, reason.description) }
            return
        }
        settle(number, reason == .launcherGone ? .gone : .timedOut)
        await record(launch, .launchDenied, reason)
    }

    private func timedOut(_ number: UInt64) async {
        guard let entry = waiting[number], entry.answers == 0 else { return }
        await deny(number, .noAnswer, .timedOut)
    }

    func deny(_ number: UInt64, _ reason: Reason, _ outcome: PromptOutcome) async {
        guard let launch = waiting[number]?.launch else { return }
        if !launch.deniedAtOnce { gate.answer(number, allow: false) }
        settle(number, outcome)
        await record(launch, .launchDenied, reason)
    }

    /// Denies what waits for an answer of this user, or of anybody, and closes the prompts. Answers that are still
    /// being compared come too late.
    func relock(_ user: UInt32?) async {
        judge.endRestarts(of: user)
        let ended = waiting.values.filter { user == nil || $0.askee == user || $0.launch.user == user }
        for entry in ended {
            if !entry.launch.deniedAtOnce { gate.answer(entry.launch.number, allow: false) }
            settle(entry.launch.number, .denied)
        }
        for entry in ended { await record(entry.launch, .launchDenied, .relocked) }
    }

    /// Takes the launch off the waiting list and tells its prompters.
    private func settle(_ number: UInt64, _ outcome: PromptOutcome) {
        guard let entry = waiting.removeValue(forKey: number) else { return }
        entry.timeout?.cancel()
        judge.waitingEnded(of: entry.launch.user)
        tell(entry.askee, .settled(prompt: entry.report.prompt, outcome: outcome))
        onNews?(.settled(prompt: entry.report.prompt, outcome: outcome))
    }

    private func record(_ launch: HeldLaunch, _ kind: ActivityEvent.Kind, _ reason: Reason) async {
        let name = await apps.name(of: launch.app)
        let what =
            switch kind {
            case .launchAsked: "\(name) was started and waits for the passcode."
            case .launchAllowed: "\(name) was allowed to start. \(reason)"
            default: "\(name) was not allowed to start. \(reason)"
            }
        await log.note(
            kind, app: launch.app, user: launch.user, process: launch.process, path: launch.path, reason: reason, what)
    }

    // MARK: Prompters

    public func join(_ peer: ControlPeer, connection: UInt64) -> AsyncStream<PromptEvent> {
        let (stream, events) = AsyncStream<PromptEvent>.makeStream(bufferingPolicy: .bufferingOldest(256))
        prompters[connection] = Prompter(peer: peer, events: events)
        judge.update { $0.prompters[peer.user, default: 0] += 1 }
        changes.mark()
        events.yield(.ready)
        let now = time.now().elapsed
        for entry in waiting.values where entry.askee == peer.user {
            var report = entry.report
            report.expiresInSeconds = max(0, (entry.deadline - now).wholeSecondsRoundedUp)
            events.yield(.ask(report))
        }
        return stream
    }

    public func leave(connection: UInt64) async {
        guard let prompter = prompters.removeValue(forKey: connection) else { return }
        prompter.events.finish()
        let user = prompter.peer.user
        let left = judge.update { view in
            let left = view.prompters[user, default: 0] - 1
            view.prompters[user] = left > 0 ? left : nil
            return left
        }
        changes.mark()
        guard left <= 0, !judge.canAskPhone else { return }
        for (number, entry) in waiting where entry.askee == user && entry.answers == 0 {
            await deny(number, .prompterGone, .denied)
        }
    }

    /// The one that has been there longest.
    func prompter(of user: UInt32) -> Prompter? {
        prompters.filter { $0.value.peer.user == user }.min { $0.key < $1.key }?.value
    }

    private func tell(_ user: UInt32, _ event: PromptEvent) {
        for prompter in prompters.values where prompter.peer.user == user { prompter.events.yield(event) }
    }

    /// Processes that have ended, or that run as somebody else, are passed over.
    public func registerDesktop(_ processes: [Int32], of peer: ControlPeer) {
        desktops = desktops.filter { $0.value != peer.user }
        for process in processes.prefix(64) where directory.owner(of: process) == peer.user {
            desktops[process] = peer.user
            gate.protect(process: process)
        }
    }

    // MARK: Answers

    public func cancel(_ prompt: String, by peer: ControlPeer) async throws {
        let number = try find(prompt, of: peer)
        await deny(number, .cancelled, .denied)
    }

    /// - Throws: `ControlError` with `noSuchPrompt`, `wrongPasscode`, `lockedOut` or as `PasscodeService.verify`. The
    ///   launch goes on waiting.
    public func answer(
        _ prompt: String, with passcode: SecretBytes, scope: GrantScope, by peer: ControlPeer
    ) async throws -> PromptAnswer {
        let number = try find(prompt, of: peer)
        guard let launch = waiting[number]?.launch else { throw Self.notWaiting }
        waiting[number]?.answers += 1
        let ticket = relocks.ticket(for: peer.user)
        do {
            try await passcodes.verify(passcode, app: launch.app, user: peer.user)
            // Meanwhile the gate may have begun its numbers anew.
            guard let entry = waiting[number], entry.launch == launch else { throw Self.notWaiting }
            if scope != .thisLaunch || entry.isLeftToItsUser(with: peer) {
                _ = try await apps.unlock([launch.app], scope: scope, user: peer.user, since: ticket)
            }
        } catch {
            await answerFailed(launch)
            throw error
        }
        guard let entry = waiting[number], entry.launch == launch else { throw Self.notWaiting }
        // A frozen instance goes on when its app is unlocked, and a new one must not be frozen with it.
        if scope == .thisLaunch { gate.order(.thaw, app: launch.app) }
        let recipe = entry.recipe(for: peer)
        if recipe != nil { judge.allowRestart(of: launch.app, by: peer.process, user: peer.user) }
        await allow(launch, .passcodeGiven)
        if scope != .thisLaunch { await letIn([launch.app]) }
        return PromptAnswer(recipe: recipe)
    }

    /// Lets in the launches that wait for apps that have been unlocked. Those that were denied at once go on waiting:
    /// only an answer starts them again.
    public func letIn(_ apps: Set<AppID>) async {
        for entry in waiting.values where apps.contains(entry.launch.app) && !entry.launch.deniedAtOnce {
            await allow(entry.launch, .granted)
        }
    }

    /// The launch goes on waiting, unless its time ran out or its last prompter left meanwhile.
    private func answerFailed(_ launch: HeldLaunch) async {
        guard var entry = waiting[launch.number], entry.launch == launch else { return }
        entry.answers -= 1
        waiting[launch.number] = entry
        guard entry.answers == 0 else { return }
        if entry.deadline <= time.now().elapsed {
            await deny(launch.number, .noAnswer, .timedOut)
        } else if !judge.canAsk(entry.askee) {
            await deny(launch.number, .prompterGone, .denied)
        }
    }

    func allow(_ launch: HeldLaunch, _ reason: Reason) async {
        guard waiting[launch.number]?.launch == launch else { return }
        if !launch.deniedAtOnce { gate.answer(launch.number, allow: true) }
        settle(launch.number, .allowed)
        await record(launch, .launchAllowed, reason)
    }

    private func find(_ prompt: String, of peer: ControlPeer) throws -> UInt64 {
        guard let (number, entry) = waiting.first(where: { $0.value.report.prompt == prompt }),
            entry.askee == peer.user
        else { throw Self.notWaiting }
        return number
    }

    static var notWaiting: ControlError {
        ControlError(.noSuchPrompt, "This launch is not waiting any more; start the app again.")
    }
}
