import Foundation

/// The command line of `applocker-prompt`.
enum PromptOptions: Equatable {
    /// `socket` is the value of `--socket`.
    case run(socket: String?)
    /// Shows one JPEG, read from a descriptor, with a caption read from the other.
    ///
    /// `hides`: hide it while the screen is being recorded.
    case showPhoto(Int32, caption: Int32?, hides: Bool)
    /// Shows the link that is read from the descriptor as a QR code.
    case showLink(Int32)
    /// Asks for the passcode and unlocks every app.
    case unlockAll(socket: String?)
    /// Keeps the text that is read from the descriptor on the clipboard for this many seconds.
    case holdClipboard(Int32, seconds: Int)
    case help
    case version
    /// The error in the arguments, as one sentence.
    case wrong(String)

    static let usage = """
        Usage: applocker-prompt [--socket PATH]
               applocker-prompt --unlock-all [--socket PATH]
               applocker-prompt --photo-fd N [--caption-fd N] [--hide-on-capture]
               applocker-prompt --link-fd N
               applocker-prompt --hold-clipboard-fd N --seconds S

        Asks for the passcode when a locked app is started. Runs once in each desktop session, without a window of its
        own, and is started at login.

          --socket PATH          AppLocker's control socket. Otherwise APPLOCKER_SOCKET, the system's or your own
                                 AppLocker.
          --unlock-all           Only ask for the passcode once, and unlock every app.
          --photo-fd N           Only show the JPEG that can be read from this open file descriptor, in a window of
                                 its own.
          --caption-fd N         Show what can be read from this one (UTF-8, at most 4 KiB) below it.
          --hide-on-capture      Show neither while the screen is being recorded.
          --link-fd N            Only show the link that can be read from this one (UTF-8, at most 2 KiB) as a QR code.
          --hold-clipboard-fd N  Only put the text that can be read from this one (UTF-8, at most 1 MiB) on the
                                 clipboard,
          --seconds S            and take it away after so many seconds, 1 to 3600.
          --version              Print the version.
          --help                 Print this.

        """

    init(_ arguments: [String]) {
        var socket: String?
        var photo: Int32?
        var caption: Int32?
        var link: Int32?
        var clipboard: Int32?
        var seconds: Int?
        var hides = false
        var unlocksAll = false
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
            case "--unlock-all": unlocksAll = true
            case "--hide-on-capture": hides = true
            case "--seconds":
                guard let number = rest.popFirst().flatMap({ Int($0) }), (1...3_600).contains(number) else {
                    self = .wrong("--seconds needs a number from 1 to 3600.")
                    return
                }
                seconds = number
            case "--photo-fd", "--caption-fd", "--link-fd", "--hold-clipboard-fd":
                guard let number = rest.popFirst().flatMap({ Int32($0) }), number >= 0 else {
                    self = .wrong("\(argument) needs the number of an open file descriptor.")
                    return
                }
                switch argument {
                case "--photo-fd": photo = number
                case "--caption-fd": caption = number
                case "--link-fd": link = number
                default: clipboard = number
                }
            default:
                self = .wrong("\(argument) is not an option of applocker-prompt; see applocker-prompt --help.")
                return
            }
        }
        if let clipboard {
            self =
                seconds.map { .holdClipboard(clipboard, seconds: $0) } ?? .wrong("--hold-clipboard-fd needs --seconds.")
        } else if let photo {
            self = .showPhoto(photo, caption: caption, hides: hides)
        } else if caption != nil || hides {
            self = .wrong("\(hides ? "--hide-on-capture" : "--caption-fd") needs --photo-fd.")
        } else if let link {
            self = .showLink(link)
        } else if unlocksAll {
            self = .unlockAll(socket: socket)
        } else {
            self = .run(socket: socket)
        }
    }
}
