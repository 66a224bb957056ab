import BlockingThread
public import ControlAPI
public import FileLocking
import Foundation
public import LocalControl
public import SealedFormats

/// Seals one file and sends the sealed bytes to AppLocker, which never sees the content.
public struct VaultUpload: Sendable {
    /// - Parameter done: bytes of the content; twice its size where the original is removed, because it is compared too.
    public typealias Progress = @Sendable (_ done: UInt64) -> Void

    private let client: ControlClient
    private let vault: ItemID
    private let original: OriginalFile
    private let progress: Progress

    public init(client: ControlClient, vault: ItemID, original: OriginalFile, progress: @escaping Progress) {
        self.client = client
        self.vault = vault
        self.original = original
        self.progress = progress
    }

    /// - Parameter removesOriginal: once the sealed copy was read back and compared.
    /// - Throws: `ControlError`, `ControlClientError`, `FileLockingError`, `CancellationError`; the original is kept then.
    public func run(removesOriginal: Bool) async throws -> FileReport {
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
            // A failure doesn't matter: content without a record is removed later. A cancelled task sends no request.
            _ = await Task { [client] in try? await client.call(\.removeBlob, parameter: id.description) }.value
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
            progress(pieces.contentSize)
        }
        try await original.checkUnchanged()
        var request = AddFileRequest(
            id: id.description, name: original.name, size: pieces.contentSize, modified: original.modified,
            mode: original.mode, sealedSize: sealedSize, contentKey: key.withUnsafeBytes { Data($0) })
        defer { request.contentKey.withUnsafeMutableBytes { wipe($0) } }
        return try await client.call(\.addFile, body: request)
    }

    private func verify(_ id: ItemID) async throws {
        let content = try await client.call(\.readFile, parameter: id.description)
        let compared = ComparedContent(original)
        try await SealedDownload(client: client, content: content).run(
            { progress(original.size + min($0, content.file.size)) }, write: { try compared.add($0) })
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

    static func differs(_ original: OriginalFile) -> FileLockingError {
        FileLockingError(
            .notVerified, "The sealed copy of \(original.path) differs from what was written; the original was kept.")
    }
}
