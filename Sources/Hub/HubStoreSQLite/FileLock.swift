import Glibc
import Synchronization

/// Locks a database against other processes: flock(2) on a file beside it, which the kernel releases with the process.
final class FileLock: Sendable {
    private let descriptor: Mutex<Int32>

    init(of path: String) throws {
        let file = open(path + "-owner", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            throw SQLiteHubStoreError(.unavailable, path: path, cause: String(cString: strerror(errno)))
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw SQLiteHubStoreError(.inUse, path: path)
        }
        descriptor = Mutex(file)
    }

    func release() {
        descriptor.withLock { file in
            if file >= 0 { close(file) }
            file = -1
        }
    }

    deinit { release() }
}
