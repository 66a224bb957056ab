import BlockingThread
public import ControlAPI
import FileLocking
public import Foundation
public import LocalControl
public import SealedFormats

/// Fetches the sealed bytes of a file or photo and opens them.
public struct SealedDownload: Sendable {
    private let client: ControlClient
    private let blob: String
    private let name: ContentStream.Name
    private let key: Data
    private let sealedSize: UInt64

    public init(client: ControlClient, blob: String, name: ContentStream.Name, key: Data, sealedSize: UInt64) {
        self.client = client
        self.blob = blob
        self.name = name
        self.key = key
        self.sealedSize = sealedSize
    }

    /// - Parameters:
    ///   - progress: called with the number of sealed bytes so far.
    ///   - write: called with each authenticated piece in order, on a thread of its own.
    /// - Throws: what `write` throws, `ControlError`, `ControlClientError`, `CancellationError`, and for content that was
    ///   changed or is incomplete.
    public func run(
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
    /// - Throws: `ControlClientError` for a reply without valid ids.
    public init(client: ControlClient, content: FileContent) throws {
        guard let vault = ItemID(content.vault), let id = ItemID(content.file.id) else {
            throw ControlClientError.notUnderstood(cause: "an invalid id")
        }
        self.init(
            client: client, blob: id.description, name: .init(vault: vault, collection: .files, id: id),
            key: content.contentKey, sealedSize: content.sealedSize)
    }
}
