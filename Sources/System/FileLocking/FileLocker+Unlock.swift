import BlockingThread
import Foundation
import Glibc
import SealedFormats

extension FileLocker {
    /// Opens PATH.aplk into PATH: all of it is authenticated before PATH appears, and only then is PATH.aplk removed.
    /// - Throws: `FileLockingError`; what opening throws; `CancellationError`. The locked file is then untouched.
    public func unlock(_ selected: SelectedFile) async throws -> Outcome {
        let (place, kind) = try await runBlocking {
            let place = try Place(selected)
            guard place.name.hasSuffix(Self.suffix), place.name.count > Self.suffix.count else {
                throw FileLockingError(
                    .notLocked, "\(place.path) is not a locked file: their names end in \(Self.suffix).")
            }
            return (place, try Kind(place.file))
        }
        switch kind {
        case .current(let header, let start):
            let opened = try await opened(header, place.path)
            return try await runBlocking { cancellation in
                var body = try LockedFileBody(decoding: opened, path: place.path)
                let key = body.takeContentKey()
                return try unlock(place, header, start: start, body, key, cancellation)
            }
        case .earlier:
            return try await unlockEarlier(place)
        }
    }

    private func opened(_ header: LockedFileHeader, _ path: String) async throws -> Data {
        do {
            return try await sealing.open(header)
        } catch let error as FileLockingError {
            throw FileLockingError(
                error.code, "\(path) can't be unlocked and was left as it is: \(error.sentence)", cause: error)
        }
    }

    private enum Kind {
        case current(LockedFileHeader, start: UInt64)
        case earlier

        init(_ file: OpenFile) throws {
            if EarlierContainer.isOne(try file.bytes(5)) {
                self = .earlier
                return
            }
            do {
                let (header, start) = try LockedFileHeader.read(from: file)
                self = .current(header, start: start)
            } catch let error as SealedFormatsError {
                throw FileLocker.damaged(file.path, error)
            }
        }
    }

    private func unlock(
        _ place: Place, _ header: LockedFileHeader, start: UInt64, _ body: LockedFileBody, _ key: SecretBytes,
        _ cancellation: Cancellation
    ) throws -> Outcome {
        do {
            let open = { @Sendable in try SealedContent(header, start: start, of: place.file, key: key) }
            let content = try open()
            guard content.layout.contentSize == body.size else {
                throw FileLockingError(
                    .damaged, "\(place.path) is truncated or was assembled from other files; restore it from a backup.")
            }
            if let finished = try finishUnlock(place, open, body, cancellation) { return finished }
            let temporary = try TemporaryFile(in: place.directory)
            try write(content, to: temporary.file, cancellation)
            var traits = FileTraits(mode: mode_t(body.mode), owner: place.status.owner, group: place.status.group)
            traits.attributes = body.attributes
            traits.modified = FileStatus.Time(text: body.modified)
            let notes = try traits.restore(on: temporary.file, path: originalPath(place))
            return try finish(place, temporary, size: body.size, notes: notes)
        } catch let error as SealedFormatsError {
            throw Self.damaged(place.path, error)
        }
    }

    /// Gives the new file its name and removes the one that it was made from.
    func finish(_ place: Place, _ temporary: TemporaryFile, size: UInt64, notes: [String]) throws -> Outcome {
        try temporary.file.sync()
        try FileInspection.checkUnchanged(place.file, name: place.name, in: place.directory, since: place.status)
        try temporary.rename(to: originalName(place))
        try place.directory.syncEntries()
        if !options.keepsOriginal { try place.remove() }
        return Outcome(path: originalPath(place), size: size, notes: notes)
    }

    private func write(_ content: SealedContent, to target: OpenFile, _ cancellation: Cancellation) throws {
        let writer = SequentialWriter(target, leavesHoles: true)
        var done: UInt64 = 0
        for index in 0..<content.layout.chunkCount {
            try cancellation.check()
            let chunk = try content.chunk(index)
            try chunk.withUnsafeBytes { try writer.append($0) }
            done += UInt64(chunk.count)
            progress(.opening, done, content.layout.contentSize)
        }
        try writer.finish()
    }

    /// Both files exist. If they are the same, an earlier run was killed between naming and removing; only the removal
    /// is left to do.
    /// - Returns: nil if there is no other file.
    private func finishUnlock(
        _ place: Place, _ open: @escaping @Sendable () throws -> SealedContent, _ body: LockedFileBody,
        _ cancellation: Cancellation
    ) throws -> Outcome? {
        guard let status = try place.directory.status(of: originalName(place)) else { return nil }
        let path = originalPath(place)
        let exists = FileLockingError(
            .alreadyExists, "\(path) exists already and is not the same file; move one of them away first.")
        guard status.isFile, body.describes(status) else { throw exists }
        let file = try place.directory.open(originalName(place))
        guard try isSame(open, as: file, step: .opening, cancellation) else { throw exists }
        try file.sync()
        try place.directory.syncEntries()
        if !options.keepsOriginal { try place.remove() }
        return Outcome(path: path, size: body.size, notes: [])
    }

    func originalName(_ place: Place) -> String { String(place.name.dropLast(Self.suffix.count)) }

    func originalPath(_ place: Place) -> String { place.directory.path(of: originalName(place)) }

    static func damaged(_ path: String, _ error: SealedFormatsError) -> FileLockingError {
        FileLockingError(.damaged, "\(path) can't be unlocked and was left as it is: \(error.sentence)", cause: error)
    }
}

/// A file's properties besides its content.
struct FileTraits {
    var mode: mode_t
    var owner: uid_t
    var group: gid_t
    var attributes: [String: Data] = [:]
    var modified: FileStatus.Time?

    /// - Parameter path: of the new file, for the sentences.
    /// - Returns: a sentence for each property that this user or this file system did not allow.
    func restore(on file: OpenFile, path: String) throws -> [String] {
        var notes: [String] = []
        let status = try file.status()
        var mode = mode
        if (status.owner, status.group) != (owner, group), fchown(file.descriptor, owner, group) != 0 {
            // A set-user or set-group program must not run with another owner's or group's rights.
            mode &= 0o1777
            notes.append("\(path) belongs to you now: only root can restore its owner.")
        }
        guard fchmod(file.descriptor, mode) == 0 else {
            throw FileLockingError.system("set its permissions", path, errno)
        }
        let refused = try ExtendedAttributes.write(attributes, to: file)
        if !refused.isEmpty {
            notes.append("These attributes of \(path) could not be restored here: \(refused.joined(separator: ", ")).")
        }
        if let modified {
            // UTIME_OMIT of utimensat(2): the access time is not changed.
            let omitted = (1 << 30) - 2
            let times = [
                timespec(tv_sec: 0, tv_nsec: omitted),
                timespec(tv_sec: modified.seconds, tv_nsec: modified.nanoseconds),
            ]
            guard futimens(file.descriptor, times) == 0 else {
                throw FileLockingError.system("set its time", path, errno)
            }
        }
        return notes
    }
}
