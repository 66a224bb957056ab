import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// The prompter as a process: one a session, reconnecting to the daemon, starting launches again, hardened.
@Suite(.requires(.display, .program("xdotool"), .program("openbox"), .program("xprop")))
struct PromptProgramTests {
    @Test func aSecondPrompterInTheSameSessionReportsTheFirstAndEnds() async throws {
        let desktop = try await Desktop()
        let first = try await desktop.startPrompt()
        let second = try await ChildProcess.run(
            BuiltProducts.path("applocker-prompt"), ["--socket", desktop.daemon.socketPath],
            environment: desktop.environment)
        #expect(second.exit == .code(0))
        #expect(second.output.contains("running in this session already"))
        #expect(first.isRunning)
        first.kill()
        try await first.wait()
        await eventually("its connection has ended") { desktop.daemon.prompterCount == 0 }
        let third = try await desktop.startPrompt()
        #expect(third.isRunning, "the lock is released with its holder")
    }

    @Test func aMissingDesktopAndWrongArgumentsAreErrorsWithAdvice() async throws {
        let directory = try TemporaryDirectory()
        let program = try BuiltProducts.path("applocker-prompt")
        let environment = Desktop.environment(directory)
        let noDesktop = try await ChildProcess.run(program, environment: environment)
        #expect(noDesktop.exit == .code(1))
        #expect(noDesktop.errorOutput.contains("applocker prompt --tty"))
        let wrong = try await ChildProcess.run(program, ["--passcode", "1234"], environment: environment)
        #expect(wrong.exit == .code(2))
        #expect(wrong.errorOutput.contains("--help"))
        #expect(try await ChildProcess.run(program, ["--help"], environment: environment).exit == .code(0))
        #expect(try await ChildProcess.run(program, ["--version"], environment: environment).output.contains("0."))
    }

    @Test func theWindowClosesWithTheDaemonAndThePrompterReconnects() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        try desktop.daemon.send(.ask(.sample("7")))
        try await desktop.awaitWindow("Calculator is locked")
        desktop.daemon.stop()
        await desktop.awaitNoWindow()
        await eventually("it could not connect") { prompt.errorOutput.contains("AppLocker is not running") }
        try desktop.daemon.start()
        await eventually("it connects again") { desktop.daemon.prompterCount == 1 }
        try desktop.daemon.send(.ask(.sample("8", name: "Firefox")))
        try await desktop.awaitWindow("Firefox is locked")
        #expect(prompt.isRunning)
    }

    @Test func theDesktopsProcessesAreRegistered() async throws {
        let desktop = try await Desktop(.openbox)
        let prompt = try await desktop.startPrompt()
        let manager = try #require(desktop.windowManager)
        await eventually("the processes are registered") {
            try desktop.daemon.calls("POST /v1/prompts/desktop").contains { call in
                let named = try JSONDecoder().decode(RegisterDesktopRequest.self, from: call.body).processes
                return Set(named).isSuperset(of: [desktop.server.process.pid, manager.pid])
                    && !named.contains(prompt.pid)
            }
        }
    }

    @Test func aLaunchOfTheDesktopIsStartedAgainExactly() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        let script = try desktop.directory.write(
            "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" \"$PWD\" \"$MARK\" \"$(ulimit -c)\" > \"$1\"\n", to: "app",
            permissions: 0o755)
        let result = desktop.directory.path("result")
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let execRequest = ExecRequest(
            path: base64(script), directory: base64("/usr"),
            arguments: ["app", result, "a b", ""].map(base64), environment: ["MARK=ünique"].map(base64))
        desktop.daemon.onAnswer { _ in .init(200, PromptAnswer(execRequest: execRequest)) }
        try desktop.daemon.send(.ask(.sample("7", startsAgain: true)))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("1234")
        try await desktop.press("Return")
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        let core = limit.rlim_cur == rlim_t.max ? "unlimited" : "\(limit.rlim_cur / 1_024)"
        await eventually("the app ran") {
            try String(contentsOfFile: result, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
                == [script, result, "a b", "", "/usr", "ünique", core, ""].map { Substring($0) }
        }
        await eventually("no zombie is left") { try childProcesses(of: prompt.pid).isEmpty }
        await desktop.awaitNoWindow()
    }

    @Test func aLaunchThatCannotBeStartedAgainIsExplained() async throws {
        let desktop = try await Desktop()
        let prompt = try await desktop.startPrompt()
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let execRequest = ExecRequest(
            path: base64("/nonexistent"), directory: base64("/"), arguments: [base64("x")], environment: [])
        desktop.daemon.onAnswer { _ in .init(200, PromptAnswer(execRequest: execRequest)) }
        try desktop.daemon.send(.ask(.sample("7", startsAgain: true)))
        try await desktop.awaitWindow("Calculator is locked")
        try await desktop.type("1234")
        try await desktop.press("Return")
        try await desktop.awaitWindow("Calculator did not start")
        try await desktop.press("Escape")
        await desktop.awaitNoWindow()
        #expect(prompt.isRunning)
    }

    @Test(.requires(.root)) func noOtherProgramOfTheUserCanReadItsMemory() async throws {
        let desktop = try await Desktop()
        let nobody: uid_t = 65_534
        chown(desktop.directory.path, nobody, nobody)
        let prompt = try await desktop.startPrompt(user: nobody)
        let maps = try await ChildProcess.run("cat", ["/proc/\(prompt.pid)/maps"], user: nobody)
        #expect(maps.exit == .code(1))
        #expect(maps.errorOutput.contains("Permission denied"))
        #expect(maps.output.isEmpty)
        let limits = try String(contentsOfFile: "/proc/\(prompt.pid)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ")[4] == "0")
    }
}
