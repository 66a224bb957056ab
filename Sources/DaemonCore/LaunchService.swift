public import Policy
public import SealedFormats
public import WireProtocol

/// The launches that wait for an answer, and the prompters that may give it. Whoever answers first wins.
public actor LaunchService {
    struct Waiting {
        var launch: HeldLaunch
        /// Whose prompters are asked.
        var askee: UInt32
        var report: PromptReport
        var deadline: Duration
        var recipe: LaunchRecipe?
        /// A passcode for it is being compared: the time-out waits for the outcome.
        var isBeingAnswered = false
        var timeout: Task<Void, Never>?
    }

    private struct Prompter {
        var peer: ControlPeer
        var events: AsyncStream<PromptEvent>.Continuation
    }

    private let apps: AppService
    private let passcodes: PasscodeService
    private let gate: any LaunchGatePort
    private let judge: LaunchJudge
    private let time: any TimeSource
    private let directory: any ProcessDirectory
    private let log: ActivityLog
    private var waiting: [UInt64: Waiting] = [:]
    private var prompters: [UInt64: Prompter] = [:]
    /// Processes that draw a user's desktop; told to the gate again when it comes back.
    private var desktops: [Int32: UInt32] = [:]

    public init(
        apps: AppService, passcodes: PasscodeService, gate: any LaunchGatePort, judge: LaunchJudge,
        time: any TimeSource, directory: any ProcessDirectory, log: ActivityLog
    ) {
        self.apps = apps
        self.passcodes = passcodes
        self.gate = gate
        self.judge = judge
        self.time = time
        self.directory = directory
        self.log = log
    }

    public var waitingCount: Int { waiting.count }

    // MARK: What the gate reports

    /// Reads the gate's events for as long as the daemon runs.
    public func followGate() async {
        for await event in gate.events {
            switch event {
            case .connected(let state, let process):
                for process in desktops.keys { gate.protect(process: process) }
                await apps.gateChanged(state, process: process)
            case .disconnected:
                for number in waiting.keys { settle(number, .gone) }
                await apps.gateChanged(.away, process: nil)
            case .launch(let launch, let decision): await received(launch, decision)
            case .recipe(let number, let recipe): recipeArrived(number, recipe)
            case .ended(let number, let reason): await gateEnded(number, reason)
            case .readDenied(let app, let process, let user, let path):
                await log.record(
                    .readDenied, app: app, user: user, process: process, path: path,
                    "\(directory.processName(process) ?? "A program") tried to read \(path) and was refused.")
            case .filesChanged(let app): await apps.filesChanged(app)
            case .marksMissing(let app, let count): await apps.marksAreMissing(app, count: count)
            }
        }
    }

    private func received(_ launch: HeldLaunch, _ decision: Decision) async {
        switch (decision.verdict, decision.reason) {
        case (.ask, _): await ask(launch)
        case (.allow, .grantedOnce):
            let facts = LaunchFacts(
                app: launch.app, uid: launch.user, isRoot: launch.user == 0, hasPrompter: false,
                waitingForUser: 0, lockout: LockoutLadder())
            let isFirst = (try? await apps.admitOnce(facts)) ?? false
            gate.answer(launch.number, allow: isFirst)
            await record(launch, isFirst ? .launchAllowed : .launchDenied, isFirst ? .grantedOnce : .nobodyToAsk)
        case (.allow, let reason): await record(launch, .launchAllowed, reason)
        case (.deny, let reason): await record(launch, .launchDenied, reason)
        }
    }

    private func ask(_ launch: HeldLaunch) async {
        guard let askee = judge.askee(of: launch) else {
            judge.waitingEnded(of: launch.user)
            if !launch.deniedAtOnce { gate.answer(launch.number, allow: false) }
            await record(launch, .launchDenied, .nobodyToAsk)
            return
        }
        let settings = await apps.settings()
        let app = await apps.report(launch.app)
        let timeout = Duration.seconds(settings.promptTimeoutSeconds)
        let report = PromptReport(
            prompt: String(launch.number), app: app.id, name: app.name, icon: app.icon, path: launch.path,
            process: launch.process, parentName: directory.processName(launch.parent), user: launch.user,
            userName: directory.userName(launch.user), expiresInSeconds: settings.promptTimeoutSeconds,
            defaultGrantSeconds: settings.defaultGrantSeconds, hasOwnPasscode: app.hasOwnPasscode,
            startsAgain: launch.deniedAtOnce, lockout: await passcodes.lockoutState())
        let number = launch.number
        let recipe = earlyRecipes.removeValue(forKey: number)
        waiting[number] = Waiting(
            launch: launch, askee: askee, report: report, deadline: time.now().elapsed + timeout, recipe: recipe,
            timeout: Task { [time] in
                do { try await time.sleep(for: timeout) } catch { return }
                await self.timedOut(number)
            })
        tell(askee, .ask(report))
        await record(launch, .launchAsked, .locked)
    }

    /// A recipe that came before its launch was known here.
    private var earlyRecipes: [UInt64: LaunchRecipe] = [:]

    private func recipeArrived(_ number: UInt64, _ recipe: LaunchRecipe) {
        if waiting[number] != nil {
            waiting[number]?.recipe = recipe
        } else if earlyRecipes.count < 64 {
            earlyRecipes[number] = recipe
        }
    }

    private func gateEnded(_ number: UInt64, _ reason: Reason) async {
        guard let launch = waiting[number]?.launch else { return }
        settle(number, reason == .launcherGone ? .gone : .timedOut)
        await record(launch, .launchDenied, reason)
    }

    private func timedOut(_ number: UInt64) async {
        guard let entry = waiting[number], !entry.isBeingAnswered else { return }
        await deny(number, .noAnswer, .timedOut)
    }

    private func deny(_ number: UInt64, _ reason: Reason, _ outcome: PromptOutcome) async {
        guard let launch = waiting[number]?.launch else { return }
        if !launch.deniedAtOnce { gate.answer(number, allow: false) }
        settle(number, outcome)
        await record(launch, .launchDenied, reason)
    }

    /// Takes the launch off the waiting list and tells its prompters.
    private func settle(_ number: UInt64, _ outcome: PromptOutcome) {
        guard let entry = waiting.removeValue(forKey: number) else { return }
        entry.timeout?.cancel()
        judge.waitingEnded(of: entry.launch.user)
        tell(entry.askee, .settled(prompt: entry.report.prompt, outcome: outcome))
    }

    private func record(_ launch: HeldLaunch, _ kind: ActivityEvent.Kind, _ reason: Reason) async {
        let name = await apps.name(of: launch.app)
        let what =
            switch kind {
            case .launchAsked: "\(name) was started and waits for the passcode."
            case .launchAllowed: "\(name) was allowed to start. \(reason)"
            default: "\(name) was not allowed to start. \(reason)"
            }
        await log.record(
            kind, app: launch.app, user: launch.user, process: launch.process, path: launch.path, reason: reason, what)
    }

    // MARK: Prompters

    public func join(_ peer: ControlPeer, connection: UInt64) -> AsyncStream<PromptEvent> {
        let (stream, events) = AsyncStream<PromptEvent>.makeStream(bufferingPolicy: .bufferingOldest(256))
        prompters[connection] = Prompter(peer: peer, events: events)
        judge.update { $0.prompters[peer.user, default: 0] += 1 }
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
        guard left <= 0 else { return }
        for (number, entry) in waiting where entry.askee == user && !entry.isBeingAnswered {
            await deny(number, .prompterGone, .denied)
        }
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
        waiting[number]?.isBeingAnswered = true
        do {
            try await passcodes.verify(passcode, app: launch.app, user: peer.user)
        } catch {
            waiting[number]?.isBeingAnswered = false
            if let deadline = waiting[number]?.deadline, deadline <= time.now().elapsed {
                await deny(number, .noAnswer, .timedOut)
            }
            throw error
        }
        guard let recipe = waiting[number].map(\.recipe) else { throw Self.notWaiting }
        if scope == .thisLaunch {
            await allow(number, by: peer)
        } else {
            do {
                _ = try await apps.unlock([launch.app], scope: scope, user: peer.user)
            } catch {
                waiting[number]?.isBeingAnswered = false
                throw error
            }
            for (other, entry) in waiting where entry.launch.app == launch.app && other != number {
                if entry.launch.deniedAtOnce { continue }
                await allow(other, by: peer)
            }
            await allow(number, by: peer)
        }
        return PromptAnswer(recipe: recipe)
    }

    private func allow(_ number: UInt64, by peer: ControlPeer) async {
        guard let launch = waiting[number]?.launch else { return }
        if launch.deniedAtOnce {
            judge.allowRestart(of: launch.app, by: peer.process, user: peer.user)
        } else {
            gate.answer(number, allow: true)
        }
        settle(number, .allowed)
        await record(launch, .launchAllowed, .passcodeGiven)
    }

    private func find(_ prompt: String, of peer: ControlPeer) throws -> UInt64 {
        guard let number = UInt64(prompt), let entry = waiting[number], entry.askee == peer.user else {
            throw Self.notWaiting
        }
        return number
    }

    private static var notWaiting: ControlError {
        ControlError(.noSuchPrompt, "This launch is not waiting any more; start the app again.")
    }
}
