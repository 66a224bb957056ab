import ArgumentParser
import ControlAPI
import Foundation
import Pictures
import Policy

struct PromptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompt",
        abstract: "Show a prompt when you start a locked app.",
        discussion: """
            Without --tty this starts the prompt window, as the desktop does at login. With --tty it asks in this terminal, for machines without a desktop. One of them must run, or your launches of locked apps are denied.

              applocker prompt &
              applocker prompt --tty
              applocker prompt --tty --once --grant 5m --passcode-fd 3 3<passcodes    for scripts

            With --passcode-fd each attempt reads one line; at the end of the lines the launch is denied. With --once the exit status is 0 if the launch was allowed and 1 if not.
            """)

    @Flag(help: "Ask in this terminal instead of a window.")
    var tty = false
    @Flag(help: "Answer one launch and exit.")
    var once = false
    @Option(
        help: ArgumentHelp(
            "How long an unlock lasts, without asking: a time from 30s to 1h, this-launch or until-locked.",
            valueName: "length"))
    var grant: GrantArgument?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions

    func validate() throws {
        if !tty, once || grant != nil || passcode.passcodeFd != nil {
            throw ValidationError("--once, --grant and --passcode-fd need --tty.")
        }
    }

    func run() async throws {
        guard tty else { throw try PromptWindow.becomeOne(socketPath: connection.socketPath) }
        let prompter = TerminalPrompter(
            client: connection.client, passcodes: passcode.source, grant: grant?.request, output: .standard)
        guard once else { return try await prompter.runForever() }
        guard try await prompter.runOnce() == .allowed else { throw ExitStatusError(status: .refused) }
    }
}

/// A grant as an argument: "5m", "this-launch", "until-locked".
struct GrantArgument: ExpressibleByArgument {
    let request: GrantRequest

    init?(argument: String) {
        guard let scope = try? GrantScope(text: argument) else { return nil }
        switch scope {
        case .duration(let duration): request = GrantRequest(.duration, seconds: Int(duration.components.seconds))
        case .thisLaunch: request = GrantRequest(.thisLaunch)
        case .untilLocked: request = GrantRequest(.untilLocked)
        }
    }
}

/// The graphical prompter, a separate executable beside this one.
enum PromptWindow {
    /// Replaces this process with it; returns only an error.
    ///
    /// - Throws: `CommandLineError` if it is not installed.
    static func becomeOne(socketPath: String) throws -> CommandLineError {
        let path = OwnExecutable.sibling("applocker-prompt")
        guard access(path, X_OK) == 0 else {
            throw CommandLineError(
                .refused, code: "no_window",
                "The prompt's window is not installed (\(path) is missing); use `applocker prompt --tty`.")
        }
        setenv("APPLOCKER_SOCKET", socketPath, 1)
        return OwnExecutable.become(path, [])
    }
}

/// This program's own file, and those installed beside it.
enum OwnExecutable {
    static var path: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    static func sibling(_ name: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Replaces this process with a window program; returns only an error.
    static func become(_ path: String, _ arguments: [String]) -> CommandLineError {
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &words)
        return CommandLineError(
            .refused, code: "no_window", "\(path) could not be started: \(String(cString: strerror(errno))).")
    }
}

extension PictureMaker {
    /// With the decoder beside this program.
    static var installed: PictureMaker { PictureMaker(executable: OwnExecutable.sibling("applocker-picture")) }
}
