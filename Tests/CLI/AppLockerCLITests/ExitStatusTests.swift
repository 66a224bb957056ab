import ControlAPI
import Testing

@testable import AppLockerCLI

@Suite("Exit status of a command")
struct ExitStatusTests {
    @Test("Each error code has its documented exit status", arguments: ControlError.Code.allCases)
    func refusals(code: ControlError.Code) {
        let expected: AppLockerCLI.ExitStatus =
            switch code {
            case .badRequest: .usage
            case .noSuchApp, .ambiguousApp, .noSuchCategory, .noSuchItem, .ambiguousItem: .noSuchApp
            default: .refused
            }
        let failure = Failure(ControlError(code, "Because.", retryAfterSeconds: 7))
        #expect(failure.status == expected)
        #expect(failure.code == code.rawValue)
        #expect(failure.message == "Because.")
        #expect(failure.retryAfterSeconds == 7)
    }

    @Test("The numbers that scripts rely on are unchanged")
    func numbers() {
        #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    }

    @Test(
        "Wrong usage ends with 2, before any prompt",
        arguments: [
            ["nonsense"], ["status", "--nonsense"], ["lock"], ["lock", "a", "--all"], ["unlock"],
            ["unlock", "a", "--for", "soon"], ["unlock", "a", "--once", "--until-locked"], ["log", "--limit", "0"],
            ["stats", "--days", "x"], ["stats", "--days", "0"],
            ["stats", "--period", "year"], ["stats", "--period", "all", "--days", "3"], ["settings", "set"],
            ["schedule", "set", "a"], ["schedule", "clear"],
            ["schedule", "set", "--category", "c", "a", "block mon 10:00-11:00"], ["app", "set", "a"],
            ["app", "set", "a", "--on-grant-end", "explode"], ["prompt", "--once"], ["prompt", "--grant", "5m"],
            ["setup", "--passcode-fd", "-1"], ["setup", "--earlier-verifier", "v", "--passcode-fd", "0"],
            ["setup", "--passcode-fd", "three"], ["up", "--state", ""],
            ["unlock", "a", "--passcode", "secret"],
        ])
    func usage(arguments: [String]) async {
        #expect(await AppLockerCommand.execute(arguments) == .usage)
    }

    @Test("Every command has help, with an example", arguments: AppLockerCommand.everyCommand)
    func help(path: [String]) async throws {
        #expect(await AppLockerCommand.execute(path + ["--help"]) == .done)
        let help = AppLockerCommand.helpText(path)
        #expect(help.contains("\n  applocker \(path.joined(separator: " "))") || path.isEmpty, "\(help)")
    }

    @Test("Without a running AppLocker the status is 3, at once", .timeLimit(.minutes(1)))
    func notRunning() async {
        for command in [["status"], ["apps"], ["lock", "--all"], ["setup"], ["prompt", "--tty"], ["log", "--json"]] {
            #expect(await AppLockerCommand.execute(command + ["--socket", "/nonexistent/control.sock"]) == .notRunning)
        }
    }

    @Test("The JSON object of a failure has a code and a message, with sorted keys")
    func document() throws {
        let failure = Failure(ControlError(.lockedOut, "Wait.", retryAfterSeconds: 60))
        #expect(
            try Output.jsonText(FailureDocument(failure)) == """
                {
                  "error" : {
                    "code" : "locked_out",
                    "message" : "Wait.",
                    "retryAfterSeconds" : 60
                  }
                }
                """)
    }
}
