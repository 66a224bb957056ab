import Foundation

/// The command line of `applocker-prompt`.
enum PromptOptions: Equatable {
    /// `socket` is the value of `--socket`.
    case run(socket: String?)
    /// Shows one JPEG, read from a descriptor, with what is read from the other below it.
    case showPhoto(Int32, caption: Int32?)
    case help
    case version
    /// What was wrong with the arguments, in one sentence.
    case wrong(String)

    static let usage = """
        Usage: applocker-prompt [--socket PATH]
               applocker-prompt --photo-fd N [--caption-fd N]

        Asks for the passcode when a locked app is started. Runs once in each desktop session, without a window of its
        own, and is started at login.

          --socket PATH   AppLocker's control socket. Otherwise APPLOCKER_SOCKET, the system's or your own AppLocker.
          --photo-fd N    Only show the JPEG that can be read from this open file descriptor, in a window of its own.
          --caption-fd N  Show what can be read from this one (UTF-8, at most 4 KiB) below it.
          --version       Print the version.
          --help          Print this.

        """

    init(_ arguments: [String]) {
        var socket: String?
        var photo: Int32?
        var caption: Int32?
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
            case "--photo-fd", "--caption-fd":
                guard let number = rest.popFirst().flatMap({ Int32($0) }), number >= 0 else {
                    self = .wrong("\(argument) needs the number of an open file descriptor.")
                    return
                }
                if argument == "--photo-fd" { photo = number } else { caption = number }
            default:
                self = .wrong("\(argument) is not an option of applocker-prompt; see applocker-prompt --help.")
                return
            }
        }
        if let photo {
            self = .showPhoto(photo, caption: caption)
        } else if caption != nil {
            self = .wrong("--caption-fd needs --photo-fd.")
        } else {
            self = .run(socket: socket)
        }
    }
}
