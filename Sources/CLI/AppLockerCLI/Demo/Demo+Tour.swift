import ControlAPI
import Foundation
import LocalControl

extension Demo {
    /// - Throws: if a step can't be performed.
    func showEverything() async throws {
        try await lockTheProgram()
        try await startWithoutPrompter()
        let prompts = DemoPrompts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let events = try await client.prompts()
            group.addTask {
                do { for try await event in events { await prompts.handle(event) } } catch {}  // ends with the daemon
            }
            // Earlier launches would be denied, because no prompter is connected.
            _ = await Demo.holds(within: Demo.patience) { await prompts.isReady }
            try await answerWronglyThenRightly(prompts)
            try await killTheGate(prompts)
            group.cancelAll()
        }
        try await sealANote()
        try await showTheLog()
    }

    private func lockTheProgram() async throws {
        narrator.step("2. Lock a program")
        let owner = OwnerSession(client: client, passcodes: .terminal)
        let changed = try await owner.open(with: passcode) { token in
            try await client.call(\.addApp, token: token, body: AddAppRequest(app: program.path))
        }
        let app = changed.apps.first
        narrator.check(
            app?.state == .locked, "\(program.path), \(program.description), is locked.",
            otherwise: "It is on the list, but \(app?.stateText ?? "AppLocker did not report its state").")
    }

    private func startWithoutPrompter() async throws {
        narrator.step("3. Start it without a prompter")
        let launch = try await program.launch()
        let end = await launch.end(within: Self.patience)
        narrator.check(
            end.map(program.wasRefused) ?? false, "Refused: \(Self.words(end)).",
            otherwise: "It was not refused: \(Self.words(end)).")
    }

    private func answerWronglyThenRightly(_ prompts: DemoPrompts) async throws {
        narrator.step("4. Start it again, with a prompter")
        let launch = try await program.launch()
        let prompt = try await prompts.next()
        let parent = prompt.parentName?.terminalSafe ?? "something"
        narrator.print(
            "AppLocker asks: \(parent) wants to start \(prompt.name.terminalSafe), process \(prompt.process).")
        narrator.check(
            prompt.process == launch.pid, "It is the process that was started, \(launch.pid).",
            otherwise: "It is not the process that was started, \(launch.pid).")

        do {
            try await answer(prompt, with: Passcode("not the passcode"))
            narrator.fail("A wrong passcode was accepted.")
        } catch let error as ControlError {
            narrator.check(
                error.code == .wrongPasscode, "A wrong passcode: \(error.message.terminalSafe)",
                otherwise: "A wrong passcode was answered with \(error.code.rawValue).")
        }
        let state = processState(launch.pid)
        narrator.check(
            launch.end == nil && (!program.isHeld || !launch.runs(program.path)),
            program.isHeld
                ? "The process is still waiting in execve; no instruction of the program has run."
                : "The process is still waiting, stopped (state \(state)).",
            otherwise: "The process is no longer waiting: \(Self.words(launch.end)), state \(state).")

        try await answer(prompt, with: passcode)
        let end = await launch.end(within: Self.patience)
        narrator.check(
            end.map(program.ran) ?? false, "The correct passcode: the same launch continued; \(Self.words(end)).",
            otherwise: "After the correct passcode it did not continue: \(Self.words(end)).")
        if program.isHeld {
            narrator.check(
                end?.output == "\(launch.pid)\n", "It is the same process: \(launch.pid).",
                otherwise: "It reports another process: \(end?.output.debugDescription ?? "").")
        }
    }

    private func answer(_ prompt: PromptReport, with passcode: Passcode) async throws {
        try await client.call(
            \.answerPrompt, parameter: prompt.prompt,
            body: PromptAnswerRequest(passcode: passcode.text, grant: GrantRequest(.duration))
        )
    }

    private func killTheGate(_ prompts: DemoPrompts) async throws {
        narrator.step("5. Lock it, start it, and kill the gate while it waits")
        let changed = try await client.call(\.lock, body: LockRequest(all: true))
        narrator.print("Locked again: \(changed.apps.map(\.stateText).joined(separator: ", ")).")
        let launch = try await program.launch()
        _ = try await prompts.next()
        guard let gate = try await gateProcess() else {
            return narrator.fail("The gate is not running, so it can't be killed.")
        }
        guard kill(gate, SIGKILL) == 0 else {
            launch.send(SIGKILL)
            return narrator.print(
                "NOT SHOWN: process \(gate) is root's, this user can't kill it (\(String(cString: strerror(errno)))).")
        }
        narrator.print("SIGKILL to the gate, process \(gate).")
        let isBack = await Self.holds(within: Self.patience) {
            let now = try? await gateProcess()
            return now != nil && now != gate
        }
        let newGate = try await gateProcess()
        narrator.check(
            isBack, "The gate was restarted as process \(newGate ?? 0).", otherwise: "The gate was not restarted.")
        if !program.isHeld {
            let prompt = try await prompts.next()
            let state = processState(launch.pid)
            narrator.check(
                prompt.process == launch.pid && state == "T",
                "The launch stayed stopped, and the new gate causes a prompt for it.",
                otherwise: "The launch did not stay stopped (state \(state)): \(Self.words(launch.end)).")
            try await cancel(prompt)
        }
        let end = await launch.end(within: Self.patience)
        narrator.check(
            end.map(program.wasRefused) ?? false, "The waiting launch was refused: \(Self.words(end)).",
            otherwise: "The waiting launch was not refused: \(Self.words(end)).")
        if end == nil { launch.send(SIGKILL) }

        let next = try await program.launch()
        let prompt = try await prompts.next()
        try await cancel(prompt)
        let refused = await next.end(within: Self.patience)
        narrator.check(
            prompt.process == next.pid && (refused.map(program.wasRefused) ?? false),
            "The new gate also causes a prompt for the next launch; cancelled: \(Self.words(refused)).",
            otherwise: "After the gate's restart: \(Self.words(refused)).")
    }

    private func cancel(_ prompt: PromptReport) async throws {
        try await client.call(\.cancelPrompt, parameter: prompt.prompt)
    }

    /// The process number of a working gate; nil if it doesn't work now.
    private func gateProcess() async throws -> Int32? {
        let status = try await client.call(\.status)
        guard status.protection != .gateAway else { return nil }
        return status.processes.first { $0.name == "applocker-gate" }?.pid
    }

    private func processState(_ pid: Int32) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        return text.split(separator: ")").last?.split(separator: " ").first.map(String.init) ?? "gone"
    }

    private func showTheLog() async throws {
        narrator.step("7. Read the log")
        let list = try await client.call(\.log, query: LogQuery(limit: 50))
        for event in list.events { narrator.print(event.line(Paint(isColoured: false))) }
        let kinds = Set(list.events.map(\.kind))
        let expected: Set = ["launch_denied", "launch_allowed", "passcode_wrong"]
        narrator.check(
            expected.isSubset(of: kinds), "The refusals, the wrong passcode and the start are all in it.",
            otherwise: "Missing in the log: \(expected.subtracting(kinds).sorted().joined(separator: ", ")).")
        try await verifyTheLog()
    }
}

/// The prompts that the demo's prompter receives.
actor DemoPrompts {
    private var asked: [PromptReport] = []
    /// Whether the daemon has registered this prompter.
    private(set) var isReady = false

    func handle(_ event: PromptEvent) {
        switch event {
        case .ready: isReady = true
        case .ask(let report): asked.append(report)
        default: break
        }
    }

    /// - Throws: `CommandLineError` if no prompt arrives in time.
    func next() async throws -> PromptReport {
        let isAsked = await Demo.holds(within: Demo.patience) { !self.asked.isEmpty }
        guard isAsked else {
            throw CommandLineError(.refused, code: "demo_failed", "The launch caused no prompt.")
        }
        return asked.removeFirst()
    }
}
