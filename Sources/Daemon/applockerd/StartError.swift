/// Why the daemon can't start, as a sentence for the person who started it.
enum StartError: Error, CustomStringConvertible {
    case usage(String)
    case noBootID
    case noSecret(path: String, cause: String)
    case unsafeFile(path: String, cause: String)
    case erasureUnfinished(path: String, cause: String)
    /// A service of the daemon ended unexpectedly.
    case ended

    var description: String {
        switch self {
        case .usage(let what): "\(what) Usage: applockerd --state DIR [--gate-socket PATH] [--hub ADDRESS | --no-hub]"
        case .noBootID: "/proc/sys/kernel/random/boot_id can't be read, so lockouts could not be kept. Mount /proc."
        case .noSecret(let path, let cause):
            "The secret file \(path) can't be used (\(cause)). Restore it from a backup of the state; without it nothing can be unlocked."
        case .erasureUnfinished(let path, let cause):
            "Erasing everything in \(path) failed (\(cause)). Correct this and start AppLocker again to finish."
        case .ended: "A part of the daemon stopped unexpectedly. Start it again, and report this with its log."
        case .unsafeFile(let path, let cause):
            "\(path) can't be trusted (\(cause)). Remove other users' rights: chmod go= on it."
        }
    }
}
