import CLinux
import Glibc

/// Where one running AppLocker keeps everything: `applocker up --state DIR`. Several can run side by side.
public struct StateDirectory: Sendable, Equatable {
    /// Absolute, without a slash at the end.
    public let path: String

    /// The daemon's control socket. Other users of the machine reach it; it tells them apart by their credentials.
    public var controlSocket: String { path + "/control.sock" }
    /// Where the gate listens for the daemon.
    public var gateSocket: String { path + "/gate.sock" }
    /// Where the gate leaves its descriptors and its state with the process that started it.
    public var notifySocket: String { path + "/notify.sock" }
    public var database: String { path + "/applocker.sqlite" }
    public var machineSecret: String { path + "/machine-secret" }
    /// The hub's, where one runs beside the daemon.
    public var hub: String { path + "/hub" }
    public var lockFile: String { path + "/supervisor.lock" }

    /// A relative path counts from the current directory.
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

    /// Makes the directory and those above it where they are missing. Root's may be entered by everybody, for the
    /// control socket, but not listed; a user's is that user's alone. Secret files inside have their own mode 0600.
    ///
    /// Throws `SupervisorError.Code.stateDirectory` when it belongs to somebody else, when others may write to it, or
    /// when its path is too long for a socket.
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
            throw SupervisorError(.stateDirectory, "Cannot make the directory \(path).", cause: errno)
        }
    }
}

/// Held as long as this process runs AppLocker in a state directory. The kernel drops it when the process ends in
/// whatever way, so a stale lock does not exist.
final class StateLock: Sendable {
    private let descriptor: Int32

    /// Throws `SupervisorError.Code.alreadyRunning`, naming the process, when another holds it.
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
            // deinit closes the descriptor: it runs for an initializer that throws once everything is set.
            guard refusal == EWOULDBLOCK else {
                throw SupervisorError(.stateDirectory, "Cannot lock \(directory.lockFile).", cause: refusal)
            }
            throw SupervisorError(
                .alreadyRunning,
                "AppLocker already runs with the state directory \(directory.path)"
                    + (owner.isEmpty ? "" : " (process \(owner))")
                    + "; end it first, or choose another directory with --state.")
        }
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)  // only for the words above: a full disk must not stop the start
    }

    deinit { close(descriptor) }
}
