/// Whose apps are looked for, and where. Everything that would otherwise come from the process's own environment is a
/// value here, so that the daemon can ask for each user and a test for a tree of its own.
public struct CatalogEnvironment: Sendable, Equatable {
    /// Goes in front of every path that is opened: "" for this machine, else a directory that holds a whole tree.
    public var root: String
    /// The user's home directory, absolute.
    public var home: String
    /// `$XDG_DATA_HOME`, by default `~/.local/share`.
    public var dataHome: String
    /// `$XDG_DATA_DIRS`, most important first, by default /usr/local/share and /usr/share.
    public var dataDirectories: [String]
    /// `$PATH` followed by the usual program directories: a program that only another shell would find counts too.
    public var searchPath: [String]
    /// The locale for names, as in `LC_MESSAGES`: `de_DE.UTF-8@euro`. "C" or "" for the unlocalised names.
    public var locale: String
    /// `$XDG_CURRENT_DESKTOP`, for OnlyShowIn and NotShowIn. Empty: entries of every desktop are shown.
    public var currentDesktops: [String]

    static let usualPrograms = [
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/games", "/usr/games",
        "/snap/bin",
    ]

    /// - Parameters:
    ///   - home: the user's home directory.
    ///   - variables: that user's environment; XDG_DATA_HOME, XDG_DATA_DIRS, PATH, LC_ALL, LC_MESSAGES, LANG and
    ///     XDG_CURRENT_DESKTOP are looked at. Relative directories are ignored, as the XDG base directory
    ///     specification asks.
    ///   - root: see ``root``.
    public init(home: String, variables: [String: String] = [:], root: String = "") {
        self.root = root == "/" ? "" : root
        self.home = home
        dataHome = variables["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
        let given = Self.directories(variables["XDG_DATA_DIRS"])
        dataDirectories = given.isEmpty ? ["/usr/local/share", "/usr/share"] : given
        var path: [String] = []
        let own = [home + "/.local/bin", home + "/bin"]
        for directory in Self.directories(variables["PATH"]) + own + Self.usualPrograms where !path.contains(directory)
        {
            path.append(directory)
        }
        searchPath = path
        locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { variables[$0] }.first { !$0.isEmpty } ?? "C"
        currentDesktops = (variables["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map(String.init)
    }

    private static func directories(_ list: String?) -> [String] {
        (list ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map { directory in
            var directory = directory
            while directory.count > 1, directory.last == "/" { directory.removeLast() }
            return String(directory)
        }
    }
}
