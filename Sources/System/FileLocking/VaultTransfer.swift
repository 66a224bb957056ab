import BlockingThread
public import Foundation
import Glibc
public import SealedFormats

/// A file to be put into the vault: opened once, checked as for locking, and removed only if it is unchanged.
public struct OriginalFile: Sendable {
    private let place: FileLocker.Place

    public var path: String { place.path }
    public var name: String { place.name }
    /// Size in bytes.
    public var size: UInt64 { place.status.size }
    /// Permission bits.
    public var mode: UInt32 { UInt32(place.status.mode) }
    /// Seconds since 1970.
    public var modified: Double {
        Double(place.status.modified.seconds) + Double(place.status.modified.nanoseconds) / 1e9
    }

    /// - Parameter willBeRemoved: refuse a file with other names, or that is being written.
    /// - Throws: `FileLockingError`.
    public init(_ path: String, willBeRemoved: Bool) async throws {
        place = try await runBlocking {
            let name = (path as NSString).lastPathComponent
            let folder = (path as NSString).deletingLastPathComponent
            let directory = try OpenFile.directory(folder.isEmpty ? "." : folder)
            let selected = SelectedFile(
                path: path, size: 0, directory: directory.path, name: name,
                directoryIdentity: try directory.status().identity)
            let place = try FileLocker.Place(selected)
            if willBeRemoved { try FileInspection.checkLockable(place.file, place.status) }
            return place
        }
    }

    /// Seals the content from its beginning.
    public func sealer(_ stream: ContentStream) -> ContentSealer {
        let file = place.file
        var offset: UInt64 = 0
        return ContentSealer(stream) { buffer in
            defer { offset += UInt64(buffer.count) }
            return try file.read(into: buffer, at: offset)
        }
    }

    /// - Throws: `FileLockingError` with code `changedMeanwhile`.
    public func checkUnchanged() async throws {
        try await runBlocking {
            try FileInspection.checkUnchanged(place.file, name: place.name, in: place.directory, since: place.status)
        }
    }

    /// Whether the file has these bytes at an offset. Blocks.
    public func holds(_ bytes: Data, at offset: UInt64) throws -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 4096)
        defer {
            wipe(buffer)
            buffer.deallocate()
        }
        let count = try place.file.read(into: buffer, at: offset)
        return count == bytes.count && bytes.elementsEqual(UnsafeRawBufferPointer(buffer))
    }

    /// Removes the file whose content is safe elsewhere, and returns when that is durable.
    /// - Throws: `FileLockingError`, with code `changedMeanwhile` if the file has changed.
    public func remove() async throws {
        try await runBlocking {
            try FileInspection.checkUnused(place.file)
            try place.remove()
        }
    }
}

/// A file exported from the vault: it gets its name only when it is complete and on the disk, and replaces nothing.
///
/// `@unchecked Sendable`: may move between threads, but is used by one at a time. Its calls block.
public final class ReceivedFile: @unchecked Sendable {
    public let path: String
    private let directory: OpenFile
    private let name: String
    private let temporary: TemporaryFile
    private let writer: SequentialWriter

    /// - Throws: `FileLockingError`, with code `alreadyExists` if the name is in use.
    public init(_ path: String) throws {
        self.path = path
        name = (path as NSString).lastPathComponent
        let folder = (path as NSString).deletingLastPathComponent
        directory = try OpenFile.directory(folder.isEmpty ? "." : folder)
        guard try directory.status(of: name) == nil else { throw FileLockingError.system("write it", path, EEXIST) }
        TemporaryFile.sweep(directory)
        temporary = try TemporaryFile(in: directory)
        writer = SequentialWriter(temporary.file, leavesHoles: true)
    }

    /// Removes an unfinished file.
    public func discard() { temporary.discard() }

    /// Appends bytes.
    public func write(_ bytes: Data) throws {
        try bytes.withUnsafeBytes { try writer.append($0) }
    }

    /// - Parameters:
    ///   - mode: permission bits; set-user and set-group are ignored.
    ///   - modified: seconds since 1970.
    public func finish(mode: UInt32, modified: Double) throws {
        try writer.finish()
        let status = try temporary.file.status()
        var traits = FileTraits(mode: mode_t(mode & 0o777), owner: status.owner, group: status.group)
        if modified.isFinite, abs(modified) < 1e11 {
            let seconds = modified.rounded(.down)
            traits.modified = FileStatus.Time(
                seconds: Int(seconds), nanoseconds: min(999_999_999, Int((modified - seconds) * 1e9)))
        }
        _ = try traits.restore(on: temporary.file, path: path)
        try temporary.file.sync()
        try temporary.rename(to: name)
        try directory.syncEntries()
    }
}
