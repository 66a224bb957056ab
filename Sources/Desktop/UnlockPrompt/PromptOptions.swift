import ArgumentParser
import DesktopSession
import HubAPI

struct PromptOptions: ParsableCommand {
    enum Task: Equatable {
        case prompt(socket: String?)
        /// Shows one JPEG, read from a descriptor, with a caption read from the other.
        ///
        /// `hides`: hide it while the screen is being recorded.
        case showPhoto(Int32, caption: Int32?, hides: Bool)
        /// Shows the link that is read from the descriptor as a QR code.
        case showLink(Int32)
        /// Asks for the passcode and unlocks every app.
        case unlockAll(socket: String?)
        /// Asks for the passcode and adds five minutes to the app's grant.
        case keepOpen(app: String, socket: String?)
        /// Keeps the text that is read from the descriptor on the clipboard for this many seconds.
        case holdClipboard(Int32, seconds: Int)
    }

    static let configuration = CommandConfiguration(
        commandName: "applocker-prompt", abstract: "Ask for the passcode when a locked app is started.",
        discussion: """
            Runs once in each desktop session, without a window of its own, and is started at login. The options other \
            than --socket are for AppLocker's own programs.
            """,
        version: "applocker-prompt \(Release.version)")

    @OptionGroup var daemon: SocketOption

    @Flag(help: "Only ask for the passcode once, and unlock every app.")
    var unlockAll = false

    @Option(
        help: ArgumentHelp(
            "Only ask for the passcode once, and keep this unlocked app open for five more minutes.",
            valueName: "app id"))
    var keepOpen: String?

    @Option(
        help: ArgumentHelp(
            "Only show the JPEG from this open file descriptor, in a window of its own.",
            valueName: "number"))
    var photoFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Show the text from this file descriptor (UTF-8, at most 4 KiB) below the photo.", valueName: "number"))
    var captionFd: Int32?

    @Flag(help: "Hide photo and text while the screen is recorded.")
    var hideOnCapture = false

    @Option(
        help: ArgumentHelp(
            "Only show the link from this file descriptor (UTF-8, at most 2 KiB) as a QR code.",
            valueName: "number"))
    var linkFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Only put the text from this file descriptor (UTF-8, at most 1 MiB) on the clipboard.",
            valueName: "number"))
    var holdClipboardFd: Int32?

    @Option(help: "Remove the text from the clipboard after this number of seconds, 1 to 3600.")
    var seconds: Int?

    func validate() throws {
        for descriptor in [photoFd, captionFd, linkFd, holdClipboardFd] where (descriptor ?? 0) < 0 {
            throw ValidationError("A file descriptor is a number from 0.")
        }
        guard (1...3_600).contains(seconds ?? 1) else {
            throw ValidationError("--seconds needs a number from 1 to 3600.")
        }
        guard holdClipboardFd == nil || seconds != nil else {
            throw ValidationError("--hold-clipboard-fd needs --seconds.")
        }
        guard photoFd != nil || captionFd == nil && !hideOnCapture else {
            throw ValidationError("--caption-fd and --hide-on-capture need --photo-fd.")
        }
    }

    var task: Task {
        if let holdClipboardFd, let seconds { return .holdClipboard(holdClipboardFd, seconds: seconds) }
        if let photoFd { return .showPhoto(photoFd, caption: captionFd, hides: hideOnCapture) }
        if let linkFd { return .showLink(linkFd) }
        if let keepOpen { return .keepOpen(app: keepOpen, socket: daemon.socket) }
        return unlockAll ? .unlockAll(socket: daemon.socket) : .prompt(socket: daemon.socket)
    }
}
