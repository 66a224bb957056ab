public import Policy

/// A file that makes up an app and is locked with it.
public struct AppExecutable: Sendable, Hashable {
    public enum Role: String, Sendable {
        /// A script that only leads to another file of the app.
        case launcher
        /// What is started.
        case program
        /// A program that an interpreter runs; the interpreter itself is never part of an app.
        case script
        /// Another program in the app's own directories or of its package.
        case helper
        /// Started by the desktop in the background (D-Bus, thumbnails), not by the person at the keyboard.
        case service
        /// Not executable, but what an interpreter would be given: an .asar, a .jar, a Python module.
        case payload
    }

    /// The real path, no symbolic link in it.
    public let path: String
    public let role: Role

    public init(path: String, role: Role) {
        self.path = path
        self.role = role
    }
}

/// An app that can be started on this machine.
public struct InstalledApp: Sendable, Equatable {
    public enum Kind: String, Sendable { case desktop, flatpak, snap, appimage, executable }

    /// The desktop-file id without ".desktop", or "exec:" and the path with "-" for "/".
    public let id: AppID
    /// As the desktop shows it, in the environment's locale.
    public let name: String
    /// An icon's name, or the absolute path of an image.
    public let icon: String?
    /// The desktop entry that the desktop shows, where there is one.
    public let desktopFile: String?
    public let kind: Kind
    /// All files to lock, what is started first.
    public let executables: [AppExecutable]
    /// Directories that contain programs of this app only, so that the whole directory can be marked: a file that a
    /// package manager adds there belongs to the app immediately.
    public let privateDirectories: [String]
    /// Paths with symbolic links by which it is started: if a link's target changes, as after an update, the new target
    /// belongs to the app.
    public let links: [String]
    /// Names of other apps that share a file with this one, and are locked with it.
    public let sharedWith: [String]
    /// Why this app can't be locked. Nil for an app that can.
    public let lockRefusal: Refusal?
}

/// The files of one app at this moment.
public struct AppFiles: Sendable, Equatable {
    /// See ``InstalledApp/executables``.
    public let executables: [AppExecutable]
    /// See ``InstalledApp/privateDirectories``.
    public let privateDirectories: [String]
}

/// Everything that was found, and what could not be used.
public struct CatalogListing: Sendable {
    /// In the order of their names.
    public let apps: [InstalledApp]
    /// One for each entry that is malformed or whose program is not there.
    public let problems: [CatalogProblem]
}

/// A desktop entry that could not be used.
public struct CatalogProblem: Sendable, Equatable, CustomStringConvertible {
    public let path: String
    public let error: DesktopEntryError

    public var description: String { "\(path): \(error.sentence)" }
}

/// Why no app was found.
public struct CatalogError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable { case badReference, notFound, ambiguous, notAProgram, programMissing }

    public let code: Code
    /// One sentence: what was wrong and what to do.
    public let sentence: String
    /// For `.ambiguous` the apps that were meant, for `.notFound` those that sound alike.
    public internal(set) var candidates: [AppID] = []

    public var description: String { sentence }
}
