import Foundation
import SystemTestSupport
import TestSupport
import Testing

@Suite("The prompter in a terminal")
struct CommandLinePromptTests {
    /// With the kernel holding launches the program prints its process number and ends; the weak mode needs one that
    /// still runs when it is noticed.
    private let isHeld = geteuid() == 0 && Requirement.fanotify.isMet

    private func lockedDiary(_ applocker: CommandLineFixture) async throws -> String {
        let diary = try applocker.copy(of: isHeld ? "/usr/bin/readlink" : "/bin/sleep", as: "Diary")
        #expect(try await applocker.run("add", diary, passcodes: [CommandLineFixture.passcode]).status == 0)
        return diary
    }

    private func launch(_ diary: String) throws -> ChildProcess {
        try ChildProcess(diary, isHeld ? ["/proc/self"] : ["5"])
    }

    private func wasRefused(_ exit: ChildProcess.Exit) -> Bool {
        exit == (isHeld ? .notStarted(errno: EPERM) : .signal(SIGKILL))
    }

    @Test("Wrong, then right: the same process continues, and nothing typed is shown")
    func wrongThenRight() async throws {
        let applocker = try await CommandLineFixture()
        let diary = try await lockedDiary(applocker)
        let terminal = try TestTerminal()
        let prompter = try terminal.start(
            BuiltProducts.path("applocker"), ["prompt", "--tty"], environment: applocker.environment)
        await terminal.shows("Ready.")
        let launch = try launch(diary)
        await terminal.shows("wants to start Diary (\(diary))")
        await terminal.shows("Passcode (")
        #expect(!terminal.echoes)
        terminal.type("not the passcode\n")
        await terminal.shows("For how long?")
        terminal.type("\n")
        await terminal.shows("Wrong passcode.")
        #expect(launch.isRunning && launch.output.isEmpty)
        // Typed while the passcode before it is being checked.
        terminal.type("wrong again\n")
        terminal.type(CommandLineFixture.passcode + "x\u{7F}\n")
        await terminal.shows("Wrong passcode.", times: 2)
        await terminal.shows("Diary continues.")
        #expect(try await launch.wait() == .code(0))
        if isHeld { #expect(launch.output == "\(launch.pid)\n") }
        #expect(!terminal.text.contains("not the passcode"))
        #expect(!terminal.text.contains("wrong again"))
        #expect(!terminal.text.contains(CommandLineFixture.passcode))
        // The outcome is printed before the terminal is restored.
        await eventually("keys are shown again") { terminal.echoes }
        terminal.type("\u{03}")
        #expect(try await prompter.wait() == .signal(SIGINT))
        try await applocker.end()
    }

    @Test("An empty passcode and Ctrl-D refuse the launch")
    func refuse() async throws {
        let applocker = try await CommandLineFixture()
        let diary = try await lockedDiary(applocker)
        let terminal = try TestTerminal()
        let prompter = try terminal.start(
            BuiltProducts.path("applocker"), ["prompt", "--tty"], environment: applocker.environment)
        await terminal.shows("Ready.")
        for (count, key) in [(1, "\n"), (2, "\u{04}")] {
            let launch = try launch(diary)
            await terminal.shows("wants to start Diary", times: count)
            await eventually { !terminal.echoes }
            terminal.type(key)
            #expect(wasRefused(try await launch.wait()))
            await terminal.shows("Denied: Diary was not started.", times: count)
        }
        prompter.kill()
        try await applocker.end()
    }

    @Test("A signal that ends the prompter during a prompt restores the terminal")
    func signalRestores() async throws {
        let applocker = try await CommandLineFixture()
        let diary = try await lockedDiary(applocker)
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let terminal = try TestTerminal()
            let prompter = try terminal.start(
                BuiltProducts.path("applocker"), ["prompt", "--tty"], environment: applocker.environment)
            await terminal.shows("Ready.")
            let launch = try launch(diary)
            await eventually { !terminal.echoes }
            prompter.kill(signal)
            #expect(try await prompter.wait() == .signal(signal))
            #expect(terminal.echoes)
            #expect(wasRefused(try await launch.wait()))
        }
        try await applocker.end()
    }

    @Test("For scripts: one launch, passcodes from a descriptor, the outcome in the exit status")
    func once() async throws {
        let applocker = try await CommandLineFixture()
        let diary = try await lockedDiary(applocker)
        func answer(_ passcodes: [String]) async throws -> (prompter: ChildProcess, launch: ChildProcess.Exit) {
            let prompter = try applocker.start(
                ["prompt", "--tty", "--once", "--grant", "this-launch"], passcodes: passcodes)
            await eventually("the prompter is ready") { prompter.output.contains("Ready.") }
            let launch = try launch(diary)
            _ = try await prompter.wait()
            return (prompter, try await launch.wait())
        }
        let allowed = try await answer(["wrong one", CommandLineFixture.passcode])
        #expect(allowed.prompter.exit == .code(0))
        #expect(allowed.launch == .code(0))
        #expect(allowed.prompter.output.contains("Wrong passcode."))
        let refused = try await answer(["wrong one"])
        #expect(refused.prompter.exit == .code(1))
        #expect(wasRefused(refused.launch))
        try await applocker.end()
    }

    @Test("An unlock elsewhere ends the prompt")
    func settledElsewhere() async throws {
        let applocker = try await CommandLineFixture()
        let diary = try await lockedDiary(applocker)
        let terminal = try TestTerminal()
        let prompter = try terminal.start(
            BuiltProducts.path("applocker"), ["prompt", "--tty", "--once"], environment: applocker.environment)
        await terminal.shows("Ready.")
        let launch = try launch(diary)
        await eventually { !terminal.echoes }
        #expect(try await applocker.run("unlock", "Diary", passcodes: [CommandLineFixture.passcode]).status == 0)
        #expect(try await launch.wait() == .code(0))
        await terminal.shows("It was approved elsewhere.")
        #expect(try await prompter.wait() == .code(0))
        #expect(terminal.echoes)
        try await applocker.end()
    }
}
