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
        try await VaultDownload(client: client, content: content).run(
            { progress.show(original.size + $0) }, write: { try compared.add($0) })
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

/// Fetches the sealed bytes of one file and opens them.
struct VaultDownload: Sendable {
    private let client: ControlClient
    private let content: FileContent
    private let vault: ItemID
    private let id: ItemID

    init(client: ControlClient, content: FileContent) throws {
        guard let vault = ItemID(content.vault), let id = ItemID(content.file.id) else {
            throw ControlClientError.notUnderstood(cause: "an invalid id")
        }
        self.client = client
        self.content = content
        self.vault = vault
        self.id = id
    }

    func run(_ progress: FileProgress, write: @escaping @Sendable (Data) throws -> Void) async throws {
        try await run({ progress.show($0) }, write: write)
    }

    /// - Parameter write: called with each authenticated piece in order, on a thread of its own.
    func run(_ progress: (UInt64) -> Void, write: @escaping @Sendable (Data) throws -> Void) async throws {
        var keyBytes = Array(content.contentKey)
        let arriving = ArrivingContent(
            sealedSize: content.sealedSize, name: .init(vault: vault, collection: .files, id: id),
            key: SecretBytes(wiping: &keyBytes))
        var offset: UInt64 = 0
        while offset < content.sealedSize {
            try Task.checkCancellation()
            let length = Int(min(UInt64(ControlRoute.maximumBlobPiece), content.sealedSize - offset))
            let bytes = try await client.readBlob(id.description, offset: offset, length: length)
            guard !bytes.isEmpty else { break }
            try await runBlocking { try arriving.add(bytes, write: write) }
            offset += UInt64(bytes.count)
            progress(min(offset, content.file.size))
        }
        try await runBlocking { try arriving.finish() }
    }
}

enum StandardOutput {
    /// Blocks.
    /// - Throws: `CommandLineError` if the reader has closed the pipe.
    static func write(_ bytes: Data) throws {
        try bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Foundation.write(STDOUT_FILENO, bytes.baseAddress! + offset, bytes.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw CommandLineError(
                        .refused, code: "failed",
                        "Standard output can't be written (\(String(cString: strerror(errno)))); not all was written.")
                }
                offset += count
            }
        }
    }
}
