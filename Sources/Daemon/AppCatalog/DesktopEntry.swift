/// One application entry, as the Desktop Entry Specification 1.5 has it
/// (https://specifications.freedesktop.org/desktop-entry-spec/). Only the group [Desktop Entry] is kept: actions and
/// other groups are ignored.
public struct DesktopEntry: Sendable, Equatable {
    /// "Application", "Link", "Directory" or something unknown.
    public var type = ""
    /// The best `Name` for the locale.
    public var name = ""
    /// `Name` without a locale.
    public var unlocalisedName = ""
    /// An icon's name, or the absolute path of an image.
    public var icon: String?
    /// The command line, its string escapes undone, its quoting and field codes not.
    public var exec: String?
    /// A program that must exist for the entry to be shown.
    public var tryExec: String?
    public var noDisplay = false
    public var hidden = false
    public var onlyShowIn: [String] = []
    public var notShowIn: [String] = []
    /// `Path`: the directory to start in.
    public var directory: String?
    public var isDBusActivatable = false
    public var runsInTerminal = false
    /// `X-Flatpak`: the Flatpak application that exported this entry.
    public var flatpak: String?
    /// `X-SnapInstanceName`: the snap that exported this entry.
    public var snapInstance: String?

    /// Files over this many bytes are refused; the largest real ones have some 100,000.
    public static let sizeLimit = 1 << 20

    /// Whether a desktop that calls itself by these names (`$XDG_CURRENT_DESKTOP`) shows the entry.
    public func isShown(in desktops: [String]) -> Bool {
        if hidden || noDisplay { return false }
        guard !desktops.isEmpty else { return true }
        for desktop in desktops {
            if onlyShowIn.contains(desktop) { return true }
            if notShowIn.contains(desktop) { return false }
        }
        return onlyShowIn.isEmpty
    }
}

/// Why a desktop entry can't be used.
public struct DesktopEntryError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case unreadable, tooLarge, notText, syntax, missingKey, badValue, badCommand, programNotFound, badName
    }

    public let code: Code
    /// One sentence: what is wrong, and where.
    public let sentence: String
    /// The line, counted from 1, where there is one to name.
    public let line: Int?
    /// The errno of the failed read, where that is the cause.
    public let cause: Int32?

    public var description: String { sentence }

    init(_ code: Code, _ sentence: String, line: Int? = nil, cause: Int32? = nil) {
        self.code = code
        self.sentence = sentence
        self.line = line
        self.cause = cause
    }
}
