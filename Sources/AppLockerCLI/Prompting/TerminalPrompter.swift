import Foundation
import LocalControl
import WireProtocol

/// Asks about waiting launches in a terminal, one after the other. It decides nothing: the passcode goes to AppLocker.
struct TerminalPrompter: Sendable {
    let client: ControlClient
    let passcodes: PasscodeSource
    /// Where set, how long to unlock is not asked.
    let grant: GrantRequest?
    let output: Output

    /// How long to wait before looking for an AppLocker that went away.
    static let reconnectPause = Duration.seconds(2)

    /// Asks until the process is ended, over restarts of AppLocker too.
    ///
    /// - Throws: `ControlClientError` where AppLocker is not running at the start.
    func runForever() async throws {
        try await run(once: false)
        while true {
            output.line("AppLocker went away. Waiting for it to come back; until then every launch is denied.")
            while true {
                try await Task.sleep(for: Self.reconnectPause)
                do {
                    try await run(once: false)
                    break
                } catch is ControlClientError {
                    continue
                }
            }
        }
    }

    /// Asks about one launch.
    ///
    /// - Throws: `ControlClientError` where AppLocker is not running, or goes away before a launch came.
    func runOnce() async throws -> PromptOutcome {
        guard let outcome = try await run(once: true) else {
            throw ControlClientError.notRunning(socketPath: client.socketPath, cause: "it ended")
        }
        return outcome
    }

    @discardableResult
    private func run(once: Bool) async throws -> PromptOutcome? {
        let events = try await client.prompts()
        // Where there is no terminal to ask on, now is the time to say so, not when a launch waits.
        if case .terminal = passcodes { try Terminal.withControlling { _ in } }
        let launches = WaitingLaunches()
        return try await withThrowingTaskGroup(of: Void.self, returning: PromptOutcome?.self) { group in
            group.addTask {
                do {
                    for try await event in events {
                        switch event {
                        case .ready: output.line("Ready. Launches of locked apps are asked about here; Ctrl-C ends it.")
                        case .ask(let report): await launches.add(report)
                        case .start(let report, let recipe): await startAgain(recipe, report)
                        case .settled(let prompt, let outcome): await launches.settle(prompt, outcome)
                        }
                    }
                } catch {
                    // A stream that breaks off ends like one that is closed: AppLocker is gone.
                }
                await launches.end()
            }
            var last: PromptOutcome?
            while let launch = await launches.next() {
                last = try await answer(launch, othersWaiting: await launches.count)
                if once { break }
            }
            group.cancelAll()
            return last
        }
    }

    // MARK: One launch

    /// Asks until the launch is settled, by whomever.
    private func answer(_ launch: WaitingLaunch, othersWaiting: Int) async throws -> PromptOutcome {
        output.lines(PromptText.heading(launch.report, othersWaiting: othersWaiting))
        let terminal = try await heldTerminal()
        defer { terminal?.release() }
        return try await answer(launch, on: terminal)
    }

    /// One for all questions about a launch: what is typed while a passcode is being looked at must not show, either.
    private func heldTerminal() async throws -> Terminal? {
        guard case .terminal = passcodes else { return nil }
        return try await OwnThread.run { try Terminal.hold() }
    }

    private func answer(_ launch: WaitingLaunch, on terminal: Terminal?) async throws -> PromptOutcome {
        var lockout = Lockout(launch.report.lockout)
        var chosen = grant
        while true {
            if let outcome = launch.outcome { return settled(outcome) }
            guard let passcode = try await passcode(launch, lockout, terminal) else {
                if let outcome = launch.outcome { return settled(outcome) }
                return try await refuse(launch)
            }
            if chosen == nil { chosen = try await length(launch, terminal) }
            guard let length = chosen else {
                if let outcome = launch.outcome { return settled(outcome) }
                return try await refuse(launch)
            }
            do {
                let answer: PromptAnswer = try await client.call(
                    .answerPrompt, parameter: launch.report.prompt,
                    body: PromptAnswerRequest(passcode: passcode.text, grant: length))
                return try await allowed(launch, answer)
            } catch let error as ControlError {
                switch error.code {
                case .wrongPasscode, .busy, .badRequest:
                    output.line(error.message.terminalSafe)
                case .lockedOut:
                    output.line(error.message.terminalSafe)
                    lockout = Lockout(seconds: error.retryAfterSeconds ?? 0)
                case .noSuchPrompt:
                    return settled(launch.outcome ?? .gone)
                default:
                    throw error
                }
            }
        }
    }

    /// Nil where the user gives up or the launch is settled meanwhile.
    private func passcode(
        _ launch: WaitingLaunch, _ lockout: Lockout, _ terminal: Terminal?
    ) async throws -> Passcode? {
        let passcodes = passcodes
        let passcode = try await OwnThread.run { () throws -> Passcode? in
            if case .descriptor(let descriptor) = passcodes { return try PasscodeSource.readLine(descriptor) }
            return try terminal?.readSecret(
                question: PromptText.question(
                    secondsLeft: launch.secondsLeft, lockoutSecondsLeft: lockout.secondsLeft),
                cancel: launch.cancelDescriptor)
        }
        return passcode?.isEmpty == false ? passcode : nil
    }

    private func length(_ launch: WaitingLaunch, _ terminal: Terminal?) async throws -> GrantRequest? {
        guard let terminal else { return GrantRequest(.duration) }
        let question = PromptText.lengthQuestion(launch.report)
        while true {
            let key = try await OwnThread.run {
                try terminal.readKey(question: question, cancel: launch.cancelDescriptor)
            }
            guard let key else { return nil }
            switch key {
            case 0x0A, 0x0D: return GrantRequest(.duration, seconds: launch.report.defaultGrantSeconds)
            case UInt8(ascii: "o"), UInt8(ascii: "O"): return GrantRequest(.thisLaunch)
            case UInt8(ascii: "u"), UInt8(ascii: "U"): return GrantRequest(.untilLocked)
            default: continue
            }
        }
    }

    private func refuse(_ launch: WaitingLaunch) async throws -> PromptOutcome {
        do {
            _ = try await client.call(.cancelPrompt, parameter: launch.report.prompt, reply: DoneReport.self)
        } catch let error as ControlError where error.code == .noSuchPrompt {
            return settled(launch.outcome ?? .gone)
        }
        output.line("Refused: \(launch.report.name.terminalSafe) was not started.")
        return .denied
    }

    /// A phone let it in.
    private func startAgain(_ recipe: LaunchRecipe, _ report: PromptReport) async {
        do {
            let process = try await recipe.startAndConfirm()
            output.line("\(report.name.terminalSafe) was let in from a phone and is started (process \(process)).")
        } catch {
            output.line("\(error)".terminalSafe)
        }
    }

    private func allowed(_ launch: WaitingLaunch, _ answer: PromptAnswer) async throws -> PromptOutcome {
        let name = launch.report.name.terminalSafe
        guard let recipe = answer.recipe else {
            output.line(
                launch.report.startsAgain
                    ? "Right: \(name) is unlocked for one start. Start it once more." : "Right: \(name) goes on.")
            return .allowed
        }
        do {
            let process = try await recipe.startAndConfirm()
            output.line("Right: \(name) is started (process \(process)).")
            return .allowed
        } catch let error as LaunchRecipeError {
            output.line(error.description.terminalSafe)
            return .gone
        }
    }

    private func settled(_ outcome: PromptOutcome) -> PromptOutcome {
        switch outcome {
        case .allowed: output.line("It was allowed elsewhere.")
        case .denied: output.line("It was refused elsewhere.")
        case .timedOut: output.line("Nobody answered in time: the launch was denied.")
        case .gone: output.line("The launch does not wait any more.")
        }
        return outcome
    }
}

/// A pause after wrong passcodes, counting down by itself.
struct Lockout: Sendable {
    private let end: ContinuousClock.Instant

    init(_ state: LockoutState) { self.init(seconds: state.remainingSeconds) }
    init(seconds: Int) { end = .now + .seconds(seconds) }

    /// Rounded up, 0 when it is over.
    var secondsLeft: Int {
        let left = (end - .now).components
        return max(0, Int(left.seconds) + (left.attoseconds > 0 ? 1 : 0))
    }
}
