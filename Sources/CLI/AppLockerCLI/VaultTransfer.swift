import BlockingThread
import ControlAPI
import FileLocking
import Foundation
import LocalControl
import SealedFormats

/// Seals one file and sends the sealed bytes to AppLocker, which never sees the content.
struct VaultUpload: Sendable {
    let client: ControlClient
    let vault: ItemID
    let original: OriginalFile
    let progress: FileProgress

    func run(removesOriginal: Bool) async throws -> FileReport {
        let id = ItemID.random()
        let key = SecretBytes.random(count: ContentStream.keyLength)
        do {
            let report = try await upload(id, key)
            if removesOriginal {
                try await verify(id)
                try await original.remove()
            }
            return report
        } catch {
            // A failure doesn't matter: content without a record is removed later.
            _ = try? await client.call(\.removeBlob, parameter: id.description)
            throw error
        }
    }

    private func upload(_ id: ItemID, _ key: SecretBytes) async throws -> FileReport {
        let stream = ContentStream(sealing: .init(vault: vault, collection: .files, id: id), key: key)
        let pieces = SealedPieces(original.sealer(stream), size: ControlRoute.maximumBlobPiece)
        var sealedSize: UInt64 = 0
        while let piece = try await pieces.next() {
            try await client.putBlob(id.description, offset: sealedSize, bytes: piece)
            sealedSize += UInt64(piece.count)
            progress.show(pieces.contentSize)
        }
        try await original.checkUnchanged()
        var request = AddFileRequest(
            id: id.description, name: original.name, size: pieces.contentSize, modified: original.modified,
            mode: original.mode, sealedSize: sealedSize, contentKey: key.withUnsafeBytes { Data($0) })
        defer { request.contentKey.withUnsafeMutableBytes { wipe($0) } }
        return try await client.call(\.addFile, body: request)
    }

    /// Reads the sealed copy back and compares it with the file.
    private func verify(_ id: ItemID) async throws {
        let content = try await client.call(\.readFile, parameter: id.description)
        let compared = ComparedContent(original)
        let progress = progress
        try await SealedDownload(client: client, content: content).run(
            { progress.show(original.size + min($0, content.file.size)) }, write: { try compared.add($0) })
        guard compared.offset == original.size else { throw ComparedContent.differs(original) }
    }
}

/// Content that must be equal to a file's.
///
/// `@unchecked Sendable`: pieces are added one by one.
private final class ComparedContent: @unchecked Sendable {
    private let original: OriginalFile
    private(set) var offset: UInt64 = 0

    init(_ original: OriginalFile) { self.original = original }

    func add(_ bytes: Data) throws {
        guard try original.holds(bytes, at: offset) else { throw Self.differs(original) }
        offset += UInt64(bytes.count)
    }

    static func differs(_ original: OriginalFile) -> CommandLineError {
        CommandLineError(
            .refused, code: "not_verified",
            "The sealed copy of \(original.path) differs from what was written; the original was kept.")
    }
}

/// Fetches the sealed bytes of a file or photo and opens them.
struct SealedDownload: Sendable {
    let client: ControlClient
    let blob: String
    let name: ContentStream.Name
    let key: Data
    let sealedSize: UInt64

    /// - Parameters:
    ///   - progress: called with the number of sealed bytes so far.
    ///   - write: called with each authenticated piece in order, on a thread of its own.
    func run(
        _ progress: (UInt64) -> Void = { _ in }, write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        var keyBytes = Array(key)
        let arriving = ArrivingContent(sealedSize: sealedSize, name: name, key: SecretBytes(wiping: &keyBytes))
        var offset: UInt64 = 0
        while offset < sealedSize {
            try Task.checkCancellation()
            let length = Int(min(UInt64(ControlRoute.maximumBlobPiece), sealedSize - offset))
            let bytes = try await client.readBlob(blob, offset: offset, length: length)
            guard !bytes.isEmpty else { break }
            try await runBlocking { try arriving.add(bytes, write: write) }
            offset += UInt64(bytes.count)
            progress(offset)
        }
        try await runBlocking { try arriving.finish() }
    }
}

extension SealedDownload {
    init(client: ControlClient, content: FileContent) throws {
        guard let vault = ItemID(content.vault), let id = ItemID(content.file.id) else {
            throw ControlClientError.notUnderstood(cause: "an invalid id")
        }
        self.init(
            client: client, blob: id.description, name: .init(vault: vault, collection: .files, id: id),
            key: content.contentKey, sealedSize: content.sealedSize)
    }
}

enum StandardOutput {
    /// Blocks.
    /// - Throws: `CommandLineError` if the reader has closed the pipe.
    static func write(_ bytes: Data) throws {
        guard Output.writeAll(bytes, to: STDOUT_FILENO) else {
            throw CommandLineError(
                .refused, code: "failed",
                "Standard output can't be written (\(String(cString: strerror(errno)))); not all was written.")
        }
    }
}
