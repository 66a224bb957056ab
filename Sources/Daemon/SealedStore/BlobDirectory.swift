import Dispatch
import Foundation
import Glibc
public import SealedFormats
public import Sync

/// Blobs as files: `kept/ID` for those that belong to a record, `passing/ID` for the others.
///
/// `@unchecked Sendable`: the paths never change, and all work on the files is done on one queue, on a thread of its own.
public final class BlobDirectory: BlobStore, @unchecked Sendable {
    private let keptPath: String
    private let passingPath: String
    private let queue = DispatchQueue(label: "blobs")
    /// What has to stay free for records and logs, in bytes.
    private static let reserve: UInt64 = 64 << 20

    /// Makes the directories, for this user alone.
    /// - Throws: `BlobError`.
    public init(path: String) throws {
        keptPath = path + "/kept"
        passingPath = path + "/passing"
        for directory in [path, keptPath, passingPath] where mkdir(directory, 0o700) != 0 && errno != EEXIST {
            throw Self.failure("make the folder for sealed content")
        }
    }

    public func checkRoom(for size: UInt64) async throws {
        try await perform { [self] in
            var disk = statvfs()
            guard statvfs(passingPath, &disk) == 0 else { throw Self.failure("read the free space of the disk") }
            let room = UInt64(geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * UInt64(disk.f_frsize)
            guard room > Self.reserve, size <= room - Self.reserve else { throw Self.full }
        }
    }

    public func put(_ id: ItemID, offset: UInt64, bytes: [UInt8]) async throws {
        try await perform { [self] in
            let flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (offset == 0 ? O_CREAT | O_TRUNC : 0)
            let file = open(path(passing: id), flags, 0o600)
            guard file >= 0 else {
                throw errno == ENOENT ? Self.wrongOffset(0) : Self.failure("write sealed content")
            }
            defer { close(file) }
            let size = lseek(file, 0, SEEK_END)
            guard size == offset else { throw Self.wrongOffset(size) }
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + written, $0.count - written) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    let error = Self.failure("write sealed content")
                    ftruncate(file, off_t(offset))
                    throw error
                }
                written += count
            }
        }
    }

    public func size(_ id: ItemID) async throws -> UInt64? {
        try await perform { [self] in
            for path in [path(kept: id), path(passing: id)] {
                var status = stat()
                if lstat(path, &status) == 0 { return UInt64(status.st_size) }
            }
            return nil
        }
    }

    public func read(_ id: ItemID, offset: UInt64, length: Int) async throws -> [UInt8] {
        try await perform { [self] in
            var file = open(path(kept: id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            let isPassing = file < 0
            if isPassing { file = open(path(passing: id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
            guard file >= 0 else { throw Self.noSuchBlob }
            defer { close(file) }
            // For `sweepPassing`.
            if isPassing { futimens(file, nil) }
            var count = 0
            var bytes = [UInt8](repeating: 0, count: length)
            while count < length {
                let got = bytes.withUnsafeMutableBytes {
                    pread(file, $0.baseAddress! + count, length - count, off_t(offset) + off_t(count))
                }
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw Self.failure("read sealed content") }
                if got == 0 { break }
                count += got
            }
            return Array(bytes.prefix(count))
        }
    }

    public func keep(_ id: ItemID) async throws {
        try await perform { [self] in
            let file = open(path(passing: id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard file >= 0 else { throw Self.noSuchBlob }
            defer { close(file) }
            guard fsync(file) == 0, rename(path(passing: id), path(kept: id)) == 0 else {
                throw Self.failure("keep sealed content")
            }
            try synchronise(keptPath)
        }
    }

    public func remove(_ id: ItemID) async throws {
        try await perform { [self] in
            for path in [path(kept: id), path(passing: id)] where unlink(path) != 0 && errno != ENOENT {
                throw Self.failure("remove sealed content")
            }
            try synchronise(keptPath)
        }
    }

    public func removePassing(_ id: ItemID) async throws {
        try await perform { [self] in
            guard unlink(path(passing: id)) == 0 || errno == ENOENT else {
                throw Self.failure("remove sealed content")
            }
        }
    }

    public func kept() async throws -> [ItemID] {
        try await perform { [self] in try names(in: keptPath).compactMap { ItemID($0) } }
    }

    public func sweep(keeping: Set<ItemID>) async throws {
        try await perform { [self] in
            for name in try names(in: passingPath) { unlink(passingPath + "/" + name) }
            for name in try names(in: keptPath) where ItemID(name).map({ !keeping.contains($0) }) ?? true {
                unlink(keptPath + "/" + name)
            }
            try synchronise(keptPath)
        }
    }

    public func sweepPassing(idleFor time: Duration) async throws {
        try await perform { [self] in
            let limit = Date().timeIntervalSince1970 - Double(time.components.seconds)
            for name in try names(in: passingPath) {
                var status = stat()
                let path = passingPath + "/" + name
                guard lstat(path, &status) == 0, Double(status.st_mtim.tv_sec) < limit else { continue }
                unlink(path)
            }
        }
    }

    // MARK: Pieces

    private func path(kept id: ItemID) -> String { "\(keptPath)/\(id)" }
    private func path(passing id: ItemID) -> String { "\(passingPath)/\(id)" }

    private func names(in directory: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw BlobError(.failed, "The folder for sealed content can't be read (\(error)).")
        }
    }

    /// Makes the names in a directory durable.
    private func synchronise(_ directory: String) throws {
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw Self.failure("write sealed content") }
        defer { close(file) }
        guard fsync(file) == 0 else { throw Self.failure("write sealed content") }
    }

    private func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: work)) }
        }
    }

    private static var full: BlobError { BlobError(.diskFull, "The disk is full; free some space and try again.") }

    private static var noSuchBlob: BlobError { BlobError(.noSuchBlob, "There is no such sealed content.") }

    private static func wrongOffset(_ size: Int) -> BlobError {
        BlobError(.wrongOffset, "The sealed content continues at offset \(size); send that piece.")
    }

    /// The errno of the last call.
    private static func failure(_ what: String) -> BlobError {
        let code = errno
        return code == ENOSPC || code == EDQUOT
            ? full
            : BlobError(.failed, "AppLocker could not \(what) (\(String(cString: strerror(code)))).")
    }
}
