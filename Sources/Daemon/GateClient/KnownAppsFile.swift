import Dispatch
import GateProtocol
import Glibc
import Synchronization

/// The file by which a gate guards the apps of the list before the daemon is there (`KnownApps`). Written on a queue of its
/// own: who changes the list does not wait for the disk. Sendable because what changes is inside one `Mutex`.
public final class KnownAppsFile: Sendable {
    private let path: String
    private let queue = DispatchQueue(label: "known-apps")
    /// The newest content, until it is written.
    private let newest = Mutex<[UInt8]?>(nil)
    private let failed: @Sendable (Int32) -> Void

    /// - Parameter failed: called with an errno where the file could not be written; what it held stays.
    public init(_ path: String, failed: @escaping @Sendable (Int32) -> Void) {
        self.path = path
        self.failed = failed
    }

    /// Has this written, in place of what it holds.
    func keep(_ bytes: [UInt8]) {
        newest.withLock { $0 = bytes }
        queue.async { [self] in
            let bytes = newest.withLock { newest in
                defer { newest = nil }
                return newest
            }
            guard let bytes else { return }
            let cause = write(bytes)
            if cause != 0 { failed(cause) }
        }
    }

    /// Under another name first, so that a crash leaves the old content or the new one.
    /// - Returns: 0 or an errno.
    private func write(_ bytes: [UInt8]) -> Int32 {
        // Opened before the file exists: its reader may remove the directory.
        let directory = open(
            String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return errno }
        defer { close(directory) }
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return errno }
        defer { close(file) }
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + count, $0.count - count) }
            guard result > 0 else { return discard(temporary) }
            count += result
        }
        guard fsync(file) == 0, rename(temporary, path) == 0 else { return discard(temporary) }
        return fsync(directory) == 0 ? 0 : errno
    }

    private func discard(_ temporary: String) -> Int32 {
        let cause = errno
        unlink(temporary)
        return cause
    }
}
