import ArgumentParser
import Foundation
import LocalControl

/// Where AppLocker listens. Every command that talks to it takes this.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The control socket.",
            discussion: """
                Default: APPLOCKER_SOCKET, else /var/lib/applocker/control.sock, else \
                ~/.local/state/applocker/control.sock.
                """, valueName: "path"),
        completion: .file())
    var socket: String?

    var socketPath: String { ControlSocketPath.find(option: socket, environment: ProcessInfo.processInfo.environment) }
    var client: ControlClient { ControlClient(socketPath: socketPath) }
    /// For what takes as long as there is much of it, as a backup.
    var patientClient: ControlClient { ControlClient(socketPath: socketPath, answerTimeout: .seconds(86_400)) }
}

/// What every command that prints takes.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON: the same fields as on the control socket, keys sorted.")
    var json = false
}

/// Where a passcode comes from.
struct PasscodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the passcode from this open file descriptor, up to the end of its line.",
            discussion: "Without it, the passcode is asked on the terminal.", valueName: "number"))
    var passcodeFd: Int32?

    func validate() throws {
        if let passcodeFd, passcodeFd < 0 {
            throw ValidationError("--passcode-fd takes the number of an open file descriptor, 0 or above.")
        }
    }

    var source: PasscodeSource { passcodeFd.map { .descriptor($0) } ?? .terminal }
}
