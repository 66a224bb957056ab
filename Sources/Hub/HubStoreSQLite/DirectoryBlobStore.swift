import Dispatch
import Glibc
import HubAPI
public import HubStore

/// The bytes of blobs as files: `HOUSEHOLD/BLOB` below a directory. Both names are 32 hexadecimal digits, so no name
/// leads outside it.
public final class DirectoryBlobStore: HubBlobStore {
    private let path: String
    /// A blob always uses the same queue; the work blocks, so none of it runs on Swift's cooperative threads.
    private let queues = (0..<4).map { DispatchQueue(label: "blobs \($0)") }

    /// Creates the directory if it is absent, accessible to this user alone.
    /// - Throws: `HubError` with code `unavailable`.
    public init(path: String) throws {
        self.path = path
        try Self.makeDirectory(path)
    }

    public func write(_ bytes: [UInt8], at offset: UInt64, of blob: StoredBlobID) async throws {
        try await perform(blob) { [self] in
            let (file, isNew) = try openForWriting(blob)
            defer { close(file) }
            let size = lseek(file, 0, SEEK_END)
            guard size >= 0 else { throw Self.failure() }
            guard offset <= UInt64(size) else { throw HubError.blobOffset(UInt64(size)) }
            do {
                try Self.write(bytes, at: off_t(offset), to: file)
                guard fdatasync(file) == 0 else { throw Self.failure() }
            } catch {
                // Frees the space of an incomplete write.
                ftruncate(file, size)
                throw error
            }
            if isNew { try Self.synchronise(directory(blob.household)) }
        }
    }

    public func read(_ blob: StoredBlobID, offset: UInt64, length: Int) async throws -> [UInt8] {
        try await perform(blob) { [self] in
            let file = open(path(blob), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard file >= 0 else { throw errno == ENOENT ? HubError.noSuchBlob : Self.failure() }
            defer { close(file) }
            let size = lseek(file, 0, SEEK_END)
            guard size >= 0 else { throw Self.failure() }
            guard offset < UInt64(size), length > 0 else { return [] }
            let wanted = Int(min(UInt64(length), UInt64(size) - offset))
            var count = 0
            var bytes = [UInt8](repeating: 0, count: wanted)
            while count < wanted {
                let got = bytes.withUnsafeMutableBytes {
                    pread(file, $0.baseAddress! + count, wanted - count, off_t(offset) + off_t(count))
                }
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw Self.failure() }
                if got == 0 { break }
                count += got
            }
            return Array(bytes.prefix(count))
        }
    }

    public func remove(_ blobs: [StoredBlobID]) async throws {
        for blob in blobs {
            try await perform(blob) { [self] in
                guard unlink(path(blob)) == 0 || errno == ENOENT else { throw Self.failure() }
                // Succeeds only if it is empty.
                rmdir(directory(blob.household))
            }
        }
    }

    // MARK: Pieces

    private func openForWriting(_ blob: StoredBlobID) throws -> (file: Int32, isNew: Bool) {
        let existing = open(path(blob), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        if existing >= 0 { return (existing, false) }
        guard errno == ENOENT else { throw Self.failure() }
        // Tried twice: the removal of the household's last blob may remove the directory meanwhile.
        for _ in 0..<2 {
            if try Self.makeDirectory(directory(blob.household)) { try Self.synchronise(path) }
            let file = open(path(blob), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if file >= 0 { return (file, true) }
            guard errno == ENOENT else { break }
        }
        throw Self.failure()
    }

    private func directory(_ household: HubID) -> String { "\(path)/\(household)" }
    private func path(_ blob: StoredBlobID) -> String { "\(directory(blob.household))/\(blob.blob)" }

    private static func write(_ bytes: [UInt8], at offset: off_t, to file: Int32) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress! + written, $0.count - written, offset + off_t(written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            written += count
        }
    }

    /// - Returns: whether this call created it.
    @discardableResult
    private static func makeDirectory(_ path: String) throws -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw failure() }
        return false
    }

    /// Makes the names in a directory durable.
    private static func synchronise(_ directory: String) throws {
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failure() }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure() }
    }

    private func perform<Value: Sendable>(
        _ blob: StoredBlobID, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let queue = queues[Int(UInt(bitPattern: blob.blob.hashValue) % UInt(queues.count))]
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    /// The error for the current errno.
    private static func failure() -> HubError {
        let code = errno
        return code == ENOSPC || code == EDQUOT
            ? HubError(.unavailable, "The hub's disk is full; its operator has to free some space.")
            : HubError(
                .unavailable, "The hub can't use its directory of blobs (\(String(cString: strerror(code)))).")
    }
}
