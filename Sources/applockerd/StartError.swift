/// Why the daemon can't start, in words for whoever started it.
enum StartError: Error, CustomStringConvertible {
    case usage(String)
    case noBootID
    case noSecret(path: String, cause: String)
    case unsafeFile(path: String, cause: String)
    case erasureUnfinished(path: String, cause: String)
    /// A part of the daemon that runs for as long as the daemon came to its end.
    case ended

    var description: String {
        switch self {
        case .usage(let what): "\(what) Usage: applockerd --state DIR [--gate-socket PATH] [--hub ADDRESS | --no-hub]"
        case .noBootID: "/proc/sys/kernel/random/boot_id can't be read, so lockouts could not be kept. Mount /proc."
        case .noSecret(let path, let cause):
            "The secret file \(path) can't be used (\(cause)). Restore it from a backup of the state; without it nothing opens."
        case .erasureUnfinished(let path, let cause):
            "Erasing everything in \(path) can't go on (\(cause)). Set that right and start AppLocker again, which finishes it."
        case .ended: "A part of the daemon ended by itself. Start it again, and report this with its log."
        case .unsafeFile(let path, let cause): "\(path) can't be trusted (\(cause)). Make it yours alone: chmod go= it."
        }
    }
}
