/// Why a program can't be locked: the machine, the login, the desktop, other programs or AppLocker need it.
public struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable, CaseIterable {
        /// Part of AppLocker.
        case ownFile
        /// The first process of the system.
        case initProcess
        /// The dynamic loader.
        case loader
        /// A library: locking it would hold every program that uses it.
        case library
        case shell
        /// A language's interpreter or another program that runs other programs' files.
        case interpreter
        /// A program that starts other programs: env, flatpak, xdg-open.
        case starter
        /// sudo, su, login, polkit: the ways to become root.
        case privilege
        case messageBus
        case displayServer
        /// A compositor, window manager, desktop shell or session.
        case desktop
        case displayManager
        /// A service that the system needs to start, to be reached or to be repaired.
        case system
        /// Of a package that Debian marks as essential or required.
        case requiredPackage
        /// Serves the display of a user who is logged in right now.
        case runningServer
    }

    public let code: Code
    /// The real path of the program.
    public let path: String

    public var description: String { sentence }

    /// One sentence with the reason, and for an interpreter with what to do instead.
    public var sentence: String {
        switch code {
        case .ownFile: "\(path) is part of AppLocker, which must be able to start to unlock anything."
        case .initProcess: "\(path) is the first process of the system; without it the machine does not start."
        case .loader: "\(path) is the loader that starts every program."
        case .library: "\(path) is a library that several programs load, not a program of its own."
        case .shell: "\(path) is a shell, which logging in and most of the system's own scripts need."
        case .interpreter:
            "\(path) is an interpreter or runtime of many programs, so locking it would lock them all: lock the app's own script instead."
        case .starter: "\(path) only starts other programs, so locking it would lock them all: lock the app itself."
        case .privilege: "\(path) is needed to log in or to become root, also to repair the machine."
        case .messageBus: "\(path) is the message bus of the system and of every session."
        case .displayServer: "\(path) draws the screen, including the unlock prompt."
        case .desktop: "\(path) is part of the desktop, which must be running to show the unlock prompt."
        case .displayManager: "\(path) shows the login screen."
        case .system: "\(path) is needed to start, reach or repair the machine."
        case .requiredPackage: "\(path) belongs to a package that Debian cannot work without."
        case .runningServer: "\(path) serves the display of a session that is running now."
        }
    }
}
