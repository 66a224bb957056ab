import Foundation

/// Held by the one prompter of a session, for the life of its process.
///
/// A file lock (flock(2)), which the kernel releases with the process: no stale lock can block a new prompter.
struct SessionLock {
    enum Failure: Error, Equatable {
        case taken
        /// The file could not be opened or locked; the errno.
        case refused(path: String, code: Int32)
    }

    let path: String
    private let descriptor: Int32

    /// - Parameters:
    ///   - directory: created, for this user alone, if it is missing.
    ///   - session: identifies the session: the display and the daemon.
    init(directory: String, session: String) throws(Failure) {
        // FNV-1a: paths may be longer than a file name, and only the few sessions of one user must differ.
        let digest = session.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        path = "\(directory)/applocker-prompt-\(String(digest, radix: 16)).lock"
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .refused(path: path, code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            throw code == EWOULDBLOCK ? .taken : .refused(path: path, code: code)
        }
    }

    /// $XDG_RUNTIME_DIR, which exists as long as the session; without one, a directory of the user's own.
    static func directory(_ environment: [String: String]) -> String {
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") { return runtime }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/applocker"
    }
}
