import CLinux
import Glibc

/// Something a machine must offer before a behaviour can be shown on it.
public enum Requirement: Sendable, Hashable, CustomStringConvertible {
    /// Runs as root.
    case root
    /// The kernel allows this process to hold launches (fanotify permission events).
    case fanotify
    /// The kernel allows this process to create a user namespace and a mount namespace.
    case userNamespaces
    /// A program of this name, found on PATH, or an absolute path.
    case program(String)
    /// An X display can be started (Xvfb).
    case display
    /// The programs of a PostgreSQL server.
    case postgresql
    /// A file or directory exists at this absolute path.
    case path(String)
    /// Tests can write this much to /tmp.
    case freeSpace(gibibytes: UInt64)

    public var description: String {
        switch self {
        case .root: "root"
        case .fanotify: "fanotify permission events"
        case .userNamespaces: "user namespaces"
        case .program(let name): "the program \(name)"
        case .display: "an X display (Xvfb)"
        case .postgresql: "a PostgreSQL server (initdb, postgres)"
        case .path(let path): "\(path)"
        case .freeSpace(let gibibytes): "\(gibibytes) GiB of free space in /tmp"
        }
    }

    /// Whether this run excludes it: by `APPLOCKER_LEAVES_OUT`, of "root fanotify display", as `make check` does.
    var isLeftOut: Bool {
        guard let list = getenv("APPLOCKER_LEAVES_OUT") else { return false }
        let words = String(cString: list).split(separator: " ")
        return switch self {
        case .root: words.contains("root")
        case .fanotify, .userNamespaces: words.contains("fanotify")
        case .display: words.contains("display")
        case .program(let name):
            words.contains("display") && ["Xvfb", "weston", "sway", "mutter", "gnome-shell"].contains(name)
        case .postgresql, .path, .freeSpace: false
        }
    }

    /// Whether the machine offers it, determined by trying.
    public var isMet: Bool {
        switch self {
        case .root: geteuid() == 0
        case .fanotify: clinux_try_launch_hold("/bin/true") == 0
        case .userNamespaces: clinux_try_user_namespace() == 0
        case .program(let name): Self.findProgram(name) != nil
        case .display: Self.findProgram("Xvfb") != nil
        case .postgresql: PostgresServer.programs != nil
        case .path(let path): access(path, F_OK) == 0
        case .freeSpace(let gibibytes): Self.freeBytes(in: "/tmp") >= gibibytes << 30
        }
    }

    private static func freeBytes(in directory: String) -> UInt64 {
        var disk = statvfs()
        return statvfs(directory, &disk) == 0 ? UInt64(disk.f_bavail) * UInt64(disk.f_frsize) : 0
    }

    /// The absolute path of a program: `name` itself if it is absolute, otherwise the first executable of that name on
    /// PATH or in the system's usual directories.
    public static func findProgram(_ name: String) -> String? {
        if name.hasPrefix("/") { return access(name, X_OK) == 0 ? name : nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        let directories = path.split(separator: ":").map(String.init)
        return (directories + ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
            .map { $0 + "/" + name }
            .first { access($0, X_OK) == 0 }
    }
}
