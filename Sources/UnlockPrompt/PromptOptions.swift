import Foundation

/// The command line of `applocker-prompt`.
enum PromptOptions: Equatable {
    /// `socket` is the value of `--socket`.
    case run(socket: String?)
    case help
    case version
    /// What was wrong with the arguments, in one sentence.
    case wrong(String)

    static let usage = """
        Usage: applocker-prompt [--socket PATH]

        Asks for the passcode when a locked app is started. Runs once in each desktop session, without a window of its
        own, and is started at login.

          --socket PATH   AppLocker's control socket. Otherwise APPLOCKER_SOCKET, the system's or your own AppLocker.
          --version       Print the version.
          --help          Print this.

        """

    init(_ arguments: [String]) {
        var socket: String?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                self = .help
                return
            case "--version":
                self = .version
                return
            case "--socket":
                guard let value = rest.popFirst(), !value.isEmpty else {
                    self = .wrong("--socket needs the path of AppLocker's control socket.")
                    return
                }
                socket = value
            case _ where argument.hasPrefix("--socket=") && argument.count > "--socket=".count:
                socket = String(argument.dropFirst("--socket=".count))
            default:
                self = .wrong("\(argument) is not an option of applocker-prompt; see applocker-prompt --help.")
                return
            }
        }
        self = .run(socket: socket)
    }
}
