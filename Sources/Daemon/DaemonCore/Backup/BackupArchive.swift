import ControlAPI
import Foundation
import SealedFormats
import Sync

/// Writes a backup's entries into a sealed stream, with one chunk in memory at a time.
struct BackupWriter {
    private let blobs: any BlobStore
    private let blob: ItemID
    private let stream: ContentStream
    private var pending: [UInt8] = []
    private var index: UInt32 = 0
    private(set) var size: UInt64 = 0

    init(to blob: ItemID, in blobs: any BlobStore, slots: KeySlots, rootKey: SecretBytes) async throws {
        self.blobs = blobs
        self.blob = blob
        stream = ContentStream(sealing: BackupHeader.streamName, key: rootKey)
        try await put(BackupHeader(slots: slots).bytes + stream.header)
    }

    mutating func add(_ kind: BackupEntry.Kind, _ bytes: [UInt8]) async throws {
        try await begin(kind, length: UInt64(bytes.count))
        try await append(bytes)
    }

    /// Exactly `length` bytes follow with `append`.
    mutating func begin(_ kind: BackupEntry.Kind, length: UInt64) async throws {
        try await append(BackupEntry(kind: kind, length: length).header)
    }

    mutating func append(_ bytes: some Sequence<UInt8>) async throws {
        pending += bytes
        // The last chunk is sealed differently, so a full one waits until more bytes follow.
        while pending.count > stream.chunkSize.bytes { try await seal(stream.chunkSize.bytes, isLast: false) }
    }

    mutating func finish() async throws {
        try await add(.end, [])
        try await seal(pending.count, isLast: true)
    }

    private mutating func seal(_ count: Int, isLast: Bool) async throws {
        try await put(Array(stream.seal(pending.prefix(count), index: index, isLast: isLast)))
        pending.withUnsafeMutableBytes { wipe(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
        pending.removeFirst(count)
        index += 1
    }

    private mutating func put(_ bytes: [UInt8]) async throws {
        try await blobs.put(blob, offset: size, bytes: bytes)
        size += UInt64(bytes.count)
    }
}

/// Reads a backup's entries; each byte is authenticated before it is returned.
struct BackupReader {
    private let blobs: any BlobStore
    private let blob: ItemID
    private let stream: ContentStream
    private let layout: ContentStream.Layout
    private var chunk: UInt64 = 0
    private var pending: Data.SubSequence = Data()

    /// - Parameter rootKey: the key that the passphrase opened.
    init(_ blob: ItemID, in blobs: any BlobStore, size: UInt64, rootKey: SecretBytes) async throws {
        self.blobs = blobs
        self.blob = blob
        let header = try await blobs.read(
            blob, offset: UInt64(BackupHeader.length), length: ContentStream.headerLength)
        stream = try ContentStream(opening: header, name: BackupHeader.streamName, key: rootKey)
        layout = try ContentStream.Layout(
            sealedSize: size - UInt64(BackupHeader.length), chunkSize: stream.chunkSize)
    }

    mutating func entry() async throws -> BackupEntry {
        try BackupEntry(header: Array(try await read(BackupEntry.headerLength)))
    }

    /// Returns exactly this many bytes.
    mutating func read(_ count: Int) async throws -> Data {
        while pending.count < count {
            guard chunk < layout.chunkCount else { throw Self.tooShort }
            let range = layout.range(ofChunk: chunk)
            let sealed = try await blobs.read(
                blob, offset: UInt64(BackupHeader.length) + range.lowerBound, length: range.count)
            do {
                pending += try stream.open(sealed, index: UInt32(chunk), isLast: chunk == layout.chunkCount - 1)
            } catch {
                throw Self.damaged
            }
            chunk += 1
        }
        defer { pending = pending.dropFirst(count) }
        return Data(pending.prefix(count))
    }

    /// - Throws: if bytes are left.
    func end() throws {
        guard pending.isEmpty, chunk == layout.chunkCount else { throw Self.tooShort }
    }

    private static let damaged = ControlError(
        .notReadable, "The backup is damaged: a part of it was changed or is missing. Use another copy of it.")

    static let tooShort = ControlError(
        .notReadable, "The backup's content has an unexpected end; it was not made by AppLocker.")
}
