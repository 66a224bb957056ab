import BlockingThread
import Foundation
import Glibc
import SealedFormats

extension FileLocker {
    /// Seals a file as PATH.aplk in the same folder, reads all of it back, compares it with the original and only then
    /// removes the original.
    /// - Throws: `FileLockingError`; what sealing throws; `CancellationError`. The original is then untouched.
    public func lock(_ selected: SelectedFile) async throws -> Outcome {
        let (place, attributes, isLockedAlready) = try await runBlocking {
            let place = try Place(selected)
            try FileInspection.checkLockable(place.file, place.status)
            guard !place.name.hasSuffix(Self.suffix) else {
                throw FileLockingError(.alreadyExists, "\(place.path) is locked already.")
            }
            let isLockedAlready = try place.directory.status(of: place.name + Self.suffix) != nil
            return (place, try ExtendedAttributes.read(place.file), isLockedAlready)
        }
        if isLockedAlready { return try await finishLock(place) }

        let id = ItemID.random()
        let key = SecretBytes.random(count: ContentStream.keyLength)
        var body = LockedFileBody(place.status, name: place.name, attributes: attributes, contentKey: key)
        var encoded = try body.encoded(path: place.path)
        _ = body.takeContentKey()
        defer { encoded.withUnsafeMutableBytes { wipe($0) } }
        let header = try await sealing.seal(encoded, id: id)
        let (temporary, headerRead) = try await runBlocking { cancellation in
            let temporary = try TemporaryFile(in: place.directory)
            return (temporary, try writeAndVerify(place, header, key, temporary.file, cancellation))
        }
        do {
            guard try await sealing.open(headerRead) == encoded else { throw Self.notVerified(place.path) }
            return try await runBlocking { try name(temporary, place) }
        } catch {
            temporary.discard()
            throw error
        }
    }

    /// Gives the sealed copy its name, then removes the original.
    private func name(_ temporary: TemporaryFile, _ place: Place) throws -> Outcome {
        let locked = place.name + Self.suffix
        try FileInspection.checkUnused(place.file)
        try FileInspection.checkUnchanged(place.file, name: place.name, in: place.directory, since: place.status)
        try temporary.rename(to: locked)
        try place.directory.syncEntries()
        if !options.keepsOriginal { try place.remove() }
        return Outcome(path: place.directory.path(of: locked), size: place.status.size, notes: [])
    }

    /// Seals the file into another one, then opens all of that and compares it with the original, byte by byte, while
    /// it is written to the disk.
    /// - Returns: the header as it was read.
    private func writeAndVerify(
        _ place: Place, _ header: LockedFileHeader, _ key: SecretBytes, _ target: OpenFile,
        _ cancellation: Cancellation
    ) throws -> LockedFileHeader {
        // The sealed file keeps the owner; only root can change a file's owner.
        if place.status.owner != geteuid() { _ = fchown(target.descriptor, place.status.owner, place.status.group) }
        let layout = ContentStream.Layout(contentSize: place.status.size, chunkSize: options.chunkSize)
        let sealedSize = UInt64(header.bytes.count) + layout.sealedSize
        try checkRoom(for: sealedSize, target, path: place.path)
        try target.reserve(sealedSize)
        try write(place, header, key, into: target, cancellation)
        let disk = BackgroundWork { try target.sync() }
        let outcome = Result {
            let (headerRead, start) = try LockedFileHeader.read(from: target)
            let open = { @Sendable in try SealedContent(headerRead, start: start, of: target, key: key) }
            guard try isSame(open, as: place.file, step: .verifying, cancellation) else {
                throw Self.notVerified(place.path)
            }
            return headerRead
        }
        try disk.wait().get()
        return try outcome.get()
    }

    private func write(
        _ place: Place, _ header: LockedFileHeader, _ key: SecretBytes, into target: OpenFile,
        _ cancellation: Cancellation
    ) throws {
        let name = LockedFileHeader.streamName(vault: header.vault, id: header.id)
        let stream = ContentStream(sealing: name, key: key, chunkSize: options.chunkSize)
        var offset: UInt64 = 0
        let sealer = ContentSealer(stream) { buffer in
            defer { offset += UInt64(buffer.count) }
            return try place.file.read(into: buffer, at: offset)
        }
        let writer = SequentialWriter(target)
        try header.bytes.withUnsafeBytes { try writer.append($0) }
        while let sealed = try sealer.next() {
            try cancellation.check()
            try sealed.withUnsafeBytes { try writer.append($0) }
            progress(.sealing, sealer.contentSize, place.status.size)
        }
        try writer.finish()
        guard sealer.contentSize == place.status.size else { throw FileInspection.changedMeanwhile(place.path) }
    }

    /// Whether the file has exactly this content. Two threads compare half of a large file each.
    /// - Parameter open: creates a reader of the content; each thread has its own.
    func isSame(
        _ open: @escaping @Sendable () throws -> SealedContent, as file: OpenFile, step: Step,
        _ cancellation: Cancellation
    ) throws -> Bool {
        let content = try open()
        let count = content.layout.chunkCount
        guard try file.status().size == content.layout.contentSize else { return false }
        let done = ContentDone()
        guard count >= 8 else {
            return try isSame(content, 0..<count, as: file, done, step: step, cancellation)
        }
        let second = BackgroundWork {
            try isSame(open(), count / 2..<count, as: file, done, step: step, cancellation)
        }
        let first = Result { try isSame(content, 0..<count / 2, as: file, done, step: step, cancellation) }
        let isSecondSame = try second.wait().get()
        return try first.get() && isSecondSame
    }

    private func isSame(
        _ content: SealedContent, _ chunks: Range<UInt64>, as file: OpenFile, _ done: ContentDone, step: Step,
        _ cancellation: Cancellation
    ) throws -> Bool {
        let size = content.layout.chunkSize.bytes
        let buffer = ChunkBuffer(size)
        for index in chunks {
            try cancellation.check()
            let chunk = try content.chunk(index)
            try buffer.fill { try file.read(into: $0, at: index * UInt64(size)) }
            let isEqual = chunk.withUnsafeBytes { chunk in
                chunk.count == buffer.bytes.count
                    && (chunk.isEmpty || memcmp(chunk.baseAddress!, buffer.bytes.baseAddress!, chunk.count) == 0)
            }
            guard isEqual else { return false }
            progress(step, done.add(chunk.count), content.layout.contentSize)
        }
        return true
    }

    /// Both files exist. If they are the same, an earlier run was killed between naming and removing; only the removal
    /// is left to do.
    private func finishLock(_ place: Place) async throws -> Outcome {
        let locked = place.name + Self.suffix
        let path = place.directory.path(of: locked)
        let exists = FileLockingError(
            .alreadyExists, "\(path) exists already and is not the same file; move one of them away first.")
        let (file, header, start) = try await runBlocking {
            let (file, _) = try FileInspection.open(locked, in: place.directory)
            guard let (header, start) = try? LockedFileHeader.read(from: file) else { throw exists }
            return (file, header, start)
        }
        let opened: Data
        do {
            opened = try await sealing.open(header)
        } catch is FileLockingError {
            throw exists
        }
        return try await runBlocking { cancellation in
            var body = try LockedFileBody(decoding: opened, path: path)
            let key = body.takeContentKey()
            guard body.describes(place.status),
                try isSame(
                    { try SealedContent(header, start: start, of: file, key: key) }, as: place.file, step: .verifying,
                    cancellation)
            else { throw exists }
            if !options.keepsOriginal {
                try file.sync()
                try place.directory.syncEntries()
                try FileInspection.checkUnused(place.file)
                try place.remove()
            }
            return Outcome(path: path, size: place.status.size, notes: [])
        }
    }

    /// Checks the free space first and reports how much is needed. Without a reservation, a sparse file would fill the
    /// disk before it fails, also for other programs.
    private func checkRoom(for size: UInt64, _ target: OpenFile, path: String) throws {
        var disk = statvfs()
        guard fstatvfs(target.descriptor, &disk) == 0 else { return }
        let room = UInt64(geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * UInt64(disk.f_frsize)
        guard size > room, disk.f_blocks > 0 else { return }
        throw FileLockingError(
            .diskFull,
            "\(path) needs \(size) free bytes while it is being locked, and the disk has \(room); free some first."
        )
    }

    private static func notVerified(_ path: String) -> FileLockingError {
        FileLockingError(
            .failed,
            "The sealed copy of \(path) differs from what was written; the original was kept. Check the disk.")
    }
}

extension LockedFileBody {
    /// Whether the header was made from a file with this size, these permissions and this time.
    func describes(_ status: FileStatus) -> Bool {
        size == status.size && mode == UInt32(status.mode) && modified == status.modified.text
    }
}
