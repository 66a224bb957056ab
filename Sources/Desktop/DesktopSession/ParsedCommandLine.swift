public import ArgumentParser
import HubAPI
import LocalControl

extension ParsableCommand {
    /// Reads the command line of a program of the desktop session. Where there is nothing to run, it is printed why: help
    /// and version to standard output, an error with the usage to standard error.
    ///
    /// - Returns: the options, or the exit code: 0 after help and version, 2 after an error.
    public static func parsed(_ arguments: [String]) -> ParsedCommandLine<Self> {
        do {
            return .options(try parse(arguments))
        } catch {
            if exitCode(for: error) == .success {
                print(fullMessage(for: error))
                return .exit(0)
            }
            StandardError.write(fullMessage(for: error) + "\n")
            return .exit(2)
        }
    }
}

public enum ParsedCommandLine<Options> {
    case options(Options)
    case exit(Int32)
}

/// The control socket's address, an option of the agent and the prompt.
public struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "AppLocker's control socket. Default: APPLOCKER_SOCKET, else that of the system's or of your own AppLocker.",
            valueName: "path"),
        transform: { argument in
            guard !argument.isEmpty else { throw ValidationError("It must not be empty.") }
            return argument
        })
    public var socket: String?

    public init() {}
}
