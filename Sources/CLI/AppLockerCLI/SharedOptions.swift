import ArgumentParser
import Foundation
import LocalControl

/// The control socket's address, an option of every command that connects to AppLocker.
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

    func validate() throws {
        guard socket?.isEmpty != true else { throw ValidationError("--socket takes the path of a socket.") }
    }

    var socketPath: String { ControlSocketPath.find(option: socket, environment: ProcessInfo.processInfo.environment) }
    var client: ControlClient { ControlClient(socketPath: socketPath) }
    /// For requests that take long with much data, such as a backup.
    var patientClient: ControlClient { ControlClient(socketPath: socketPath, answerTimeout: .seconds(86_400)) }
}

/// Options of every command that prints.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON: the same fields as on the control socket, keys sorted.")
    var json = false
}

/// The options of a `ConnectedCommand`.
struct CommonOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var output: OutputOptions
}

/// A command that connects to AppLocker, may ask for the passcode, and prints.
protocol ConnectedCommand: AsyncParsableCommand {
    var options: CommonOptions { get }
    /// The shared vault that a command about moments concerns; nil for this computer's own vault.
    var sharedVault: String? { get }
}

extension ConnectedCommand {
    var sharedVault: String? { nil }
    var client: ControlClient { options.connection.client.inVault(sharedVault) }
    var passcodes: PasscodeSource { options.passcode.source }
    var output: OutputOptions { options.output }
    var owner: OwnerSession { OwnerSession(client: client, passcodes: passcodes) }
    var vault: OpenVault { OpenVault(client: client, passcodes: passcodes, sharedVault: sharedVault) }
}

/// The source of the passcode.
struct PasscodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the passcode from this open file descriptor, up to the end of its line.",
            discussion: "Without it, the passcode is read from the terminal.", valueName: "number"))
    var passcodeFd: Int32?

    func validate() throws {
        if let passcodeFd, passcodeFd < 0 {
            throw ValidationError("--passcode-fd takes the number of an open file descriptor, 0 or above.")
        }
    }

    var source: PasscodeSource { passcodeFd.map { .descriptor($0) } ?? .terminal }
}
