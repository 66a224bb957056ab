import CLinux
import Glibc

/// The directory with all state of one running AppLocker: `applocker up --state DIR`. Several can run at once.
public struct StateDirectory: Sendable, Equatable {
    /// Absolute, without a slash at the end.
    public let path: String

    /// The daemon's control socket. Other users of the machine can connect to it; it distinguishes them by their
    /// credentials.
    public var controlSocket: String { path + "/control.sock" }
    /// The socket on which the gate listens for the daemon.
    public var gateSocket: String { path + "/gate.sock" }
    /// The socket to which the gate sends its descriptors and its state, for the process that started it.
    public var notifySocket: String { path + "/notify.sock" }
    public var database: String { path + "/applocker.sqlite" }
    public var machineSecret: String { path + "/machine-secret" }
    /// The hub's directory, if one runs beside the daemon.
    public var hub: String { path + "/hub" }
    public var lockFile: String { path + "/supervisor.lock" }

    /// A relative path is resolved against the current directory.
    public init(path: String) {
        var absolute = path
        if !path.hasPrefix("/"), let current = getcwd(nil, 0) {
            absolute = String(cString: current) + "/" + path
            free(current)
        }
        while absolute.count > 1, absolute.hasSuffix("/") { absolute.removeLast() }
        self.path = absolute
    }

    /// `/var/lib/applocker` for root; otherwise `applocker` in `XDG_STATE_HOME`, or in `~/.local/state`.
    public static func standard() -> StateDirectory {
        if geteuid() == 0 { return StateDirectory(path: "/var/lib/applocker") }
        if let named = getenv("XDG_STATE_HOME"), named.pointee == UInt8(ascii: "/") {
            return StateDirectory(path: String(cString: named) + "/applocker")
        }
        let home = getenv("HOME").map { String(cString: $0) } ?? "."
        return StateDirectory(path: home + "/.local/state/applocker")
    }

    /// Creates the directory and its missing parents. Everybody may enter root's, for the control socket, but not list
    /// it; a user's is private to that user. Secret files inside have their own mode 0600.
    ///
    /// - Throws: `SupervisorError.Code.stateDirectory` if another user owns it or may write to it, or if its path is
    ///   too long for a socket.
    func prepare() throws(SupervisorError) {
        guard controlSocket.utf8.count <= Int(CLINUX_SOCKET_PATH_MAX) else {
            throw SupervisorError(
                .stateDirectory,
                "The state directory \(path) has too long a path: at most "
                    + "\(Int(CLINUX_SOCKET_PATH_MAX) - 13) bytes; choose a shorter one with --state.")
        }
        try makeWithParents(path)
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw SupervisorError(.stateDirectory, "Cannot use the state directory \(path).", cause: errno)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw SupervisorError(.stateDirectory, "The state directory \(path) is not a directory; choose another.")
        }
        guard status.st_uid == geteuid() else {
            throw SupervisorError(
                .stateDirectory,
                "The state directory \(path) belongs to user \(status.st_uid), not to user \(geteuid()), who starts "
                    + "AppLocker; choose another with --state.")
        }
        guard chmod(path, geteuid() == 0 ? 0o711 : 0o700) == 0 else {
            throw SupervisorError(.stateDirectory, "Cannot protect the state directory \(path).", cause: errno)
        }
    }

    private func makeWithParents(_ path: String) throws(SupervisorError) {
        var existing = stat()
        if path.isEmpty || stat(path, &existing) == 0 { return }
        if let slash = path.lastIndex(of: "/") { try makeWithParents(String(path[..<slash])) }
        let mode: mode_t = path == self.path ? 0o700 : 0o755
        guard mkdir(path, mode) == 0 || errno == EEXIST else {
            throw SupervisorError(.stateDirectory, "Cannot create the directory \(path).", cause: errno)
        }
    }
}

/// Held as long as this process runs AppLocker in a state directory. The kernel releases it when the process ends in
/// any way, so a lock can't be stale.
final class StateLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `SupervisorError.Code.alreadyRunning`, naming the process, if another one holds it.
    init(_ directory: StateDirectory) throws(SupervisorError) {
        descriptor = open(directory.lockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw SupervisorError(.stateDirectory, "Cannot open \(directory.lockFile).", cause: errno)
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let refusal = errno
            var digits = [UInt8](repeating: 0, count: 16)
            let count = max(0, pread(descriptor, &digits, digits.count, 0))
            let owner = String(decoding: digits[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            // deinit closes the descriptor: it also runs if an initializer throws after all properties are set.
            guard refusal == EWOULDBLOCK else {
                throw SupervisorError(.stateDirectory, "Cannot lock \(directory.lockFile).", cause: refusal)
            }
            throw SupervisorError(
                .alreadyRunning,
                "AppLocker already runs with the state directory \(directory.path)"
                    + (owner.isEmpty ? "" : " (process \(owner))")
                    + "; stop it first, or choose another directory with --state.")
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)  // only for the words above: a full disk must not stop the start
    }

    deinit { close(descriptor) }
}
