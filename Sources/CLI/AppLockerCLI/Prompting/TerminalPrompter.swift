import BlockingThread
import ControlAPI
import Foundation
import LocalControl

/// Prompts for pending launches in a terminal, one by one. It decides nothing: it sends the passcode to AppLocker.
struct TerminalPrompter: Sendable {
    let client: ControlClient
    let passcodes: PasscodeSource
    /// If set, the prompter doesn't ask how long to unlock.
    let grant: GrantRequest?
    let output: Output

    /// The pause before reconnecting to an AppLocker that has stopped.
    static let reconnectPause = Duration.seconds(2)

    /// Prompts until the process ends, also across restarts of AppLocker.
    ///
    /// - Throws: `ControlClientError` if AppLocker is not running at the start.
    func runForever() async throws {
        var events = try await connect()
        while true {
            try await run(events, once: false)
            output.line("The connection to AppLocker was lost. Reconnecting; until then every launch is denied.")
            events = try await reconnect()
        }
    }

    private func reconnect() async throws -> PromptEvents {
        while true {
            try await Task.sleep(for: Self.reconnectPause)
            do {
                return try await client.prompts()
            } catch is ControlClientError {
                continue
            } catch is ControlError {
                // It runs, but is not ready yet.
                continue
            }
        }
    }

    /// Prompts for one launch.
    ///
    /// - Throws: `ControlClientError` if AppLocker is not running, or stops before there is a launch.
    func runOnce() async throws -> PromptOutcome {
        guard let outcome = try await run(connect(), once: true) else {
            throw ControlClientError.notRunning(socketPath: client.socketPath, cause: "it ended")
        }
        return outcome
    }

    private func connect() async throws -> PromptEvents {
        let events = try await client.prompts()
        // A missing terminal is reported now, not when a launch is pending.
        if case .terminal = passcodes { try Terminal.withControlling { _ in } }
        return events
    }

    /// Prompts until AppLocker stops.
    @discardableResult
    private func run(_ events: PromptEvents, once: Bool) async throws -> PromptOutcome? {
        let launches = WaitingLaunches()
        return try await withThrowingTaskGroup(of: Void.self, returning: PromptOutcome?.self) { group in
            group.addTask {
                do {
                    for try await event in events {
                        switch event {
                        case .ready: output.line("Ready. Prompts for locked apps appear here; Ctrl-C quits.")
                        case .ask(let report): await launches.add(report)
                        case .start(let report, let execRequest): await startAgain(execRequest, report)
                        case .settled(let prompt, let outcome): await launches.settle(prompt, outcome)
                        }
                    }
                } catch {
                    // A broken stream is handled like a closed one: AppLocker has stopped.
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

    /// Prompts until the launch is settled, here or elsewhere.
    private func answer(_ launch: WaitingLaunch, othersWaiting: Int) async throws -> PromptOutcome {
        output.lines(PromptText.heading(launch.report, othersWaiting: othersWaiting))
        let terminal = try await heldTerminal()
        defer { terminal?.release() }
        return try await answer(launch, on: terminal)
    }

    /// One terminal for all prompts of a launch: keys typed while a passcode is being checked must not be echoed
    /// either.
    private func heldTerminal() async throws -> Terminal? {
        guard case .terminal = passcodes else { return nil }
        return try await runBlocking { try Terminal.hold() }
    }

    private func answer(_ launch: WaitingLaunch, on terminal: Terminal?) async throws -> PromptOutcome {
        var lockout = Lockout(launch.report.lockout)
        var chosen = grant
        while true {
            if let outcome = launch.outcome { return settled(outcome) }
            guard let passcode = try await passcode(launch, lockout, terminal) else { return try await refuse(launch) }
            if chosen == nil { chosen = try await length(launch, terminal) }
            guard let length = chosen else { return try await refuse(launch) }
            do {
                let answer = try await client.call(
                    \.answerPrompt, parameter: launch.report.prompt,
                    body: PromptAnswerRequest(passcode: passcode.text, grant: length))
                return try await allowed(launch, answer)
            } catch let error as ControlError {
                // After any other refusal, as of a full disk, the launch may be answered again.
                if error.code == .noSuchPrompt { return settled(launch.outcome ?? .gone) }
                output.line(error.message.terminalSafe)
                if error.code == .lockedOut { lockout = Lockout(seconds: error.retryAfterSeconds ?? 0) }
            } catch let error as ControlClientError {
                return lost(launch, error)
            } catch let error as CommandLineError {
                output.line(error.sentence)
            }
        }
    }

    /// Nil if the user gives up or the launch is settled meanwhile.
    private func passcode(
        _ launch: WaitingLaunch, _ lockout: Lockout, _ terminal: Terminal?
    ) async throws -> Passcode? {
        let passcodes = passcodes
        let passcode = try await runBlocking { () throws -> Passcode? in
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
        while true {
            let question = PromptText.lengthQuestion(launch.report, secondsLeft: launch.secondsLeft)
            let key = try await runBlocking {
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

    /// Denies the launch unless it is settled already.
    private func refuse(_ launch: WaitingLaunch) async throws -> PromptOutcome {
        if let outcome = launch.outcome { return settled(outcome) }
        do {
            try await client.call(\.cancelPrompt, parameter: launch.report.prompt)
        } catch let error as ControlError where error.code == .noSuchPrompt {
            return settled(launch.outcome ?? .gone)
        } catch let error as ControlError {
            output.line(error.message.terminalSafe)
            return launch.outcome ?? .gone
        } catch let error as ControlClientError {
            return lost(launch, error)
        }
        output.line("Denied: \(launch.report.name.terminalSafe) was not started.")
        return .denied
    }

    /// Starts a launch that was approved on a phone.
    private func startAgain(_ execRequest: ExecRequest, _ report: PromptReport) async {
        do {
            let process = try await execRequest.startAndConfirm()
            output.line("\(report.name.terminalSafe) was approved on a phone and is started (process \(process)).")
        } catch {
            output.line("\(error)".terminalSafe)
        }
    }

    private func allowed(_ launch: WaitingLaunch, _ answer: PromptAnswer) async throws -> PromptOutcome {
        let name = launch.report.name.terminalSafe
        guard let execRequest = answer.execRequest else {
            output.line(
                launch.report.startsAgain
                    ? "Passcode accepted. \(name) is unlocked for one start: start it again."
                    : "Passcode accepted. \(name) continues.")
            return .allowed
        }
        do {
            let process = try await execRequest.startAndConfirm()
            output.line("Passcode accepted. \(name) is started (process \(process)).")
            return .allowed
        } catch let error as ExecRequestError {
            output.line(error.description.terminalSafe)
            return .gone
        }
    }

    /// AppLocker stopped before it answered. The prompter continues with the next launch.
    private func lost(_ launch: WaitingLaunch, _ error: ControlClientError) -> PromptOutcome {
        output.line("\(error)".terminalSafe)
        return settled(launch.outcome ?? .gone)
    }

    private func settled(_ outcome: PromptOutcome) -> PromptOutcome {
        switch outcome {
        case .allowed: output.line("It was approved elsewhere.")
        case .denied: output.line("It was denied elsewhere.")
        case .timedOut: output.line("Nobody answered in time: the launch was denied.")
        case .gone: output.line("The launch is no longer waiting.")
        }
        return outcome
    }
}

/// A pause after wrong passcodes, which counts down.
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
