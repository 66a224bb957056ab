import Crypto
import Foundation
import HTTPTypes
import HubAPI
import HubStore
import Synchronization

/// Blobs with a write in progress. This hub refuses other writes to them until the piece is stored and checked.
final class BusyBlobs: Sendable {
    private let blobs = Mutex<Set<StoredBlobID>>([])

    func enter(_ blob: StoredBlobID) -> Bool { blobs.withLock { $0.insert(blob).inserted } }
    func leave(_ blob: StoredBlobID) { blobs.withLock { _ = $0.remove(blob) } }
}

/// A blob, and the bytes of it that a reader requested.
struct BlobReading: Sendable {
    let blob: StoredBlobID
    let size: UInt64
    /// Nil: the whole blob, with status 200 instead of 206.
    let range: Range<UInt64>?
}

extension HubService {
    /// The size limit of one blob, whatever the quota: 1 TiB.
    static let maximumBlobBytes: UInt64 = 1 << 40

    /// Bytes read of a blob at a time.
    static let blobStep = 256 << 10

    func beginBlob(_ request: HubRequest) async throws -> HubReply {
        let message = try request.message(NewBlobRequest.self)
        try Check.number(message.size, upTo: Self.maximumBlobBytes, "size")
        try Check.bytes(message.hash, 32, "hash")
        let device = try request.knownDevice()
        let state = try await store.beginBlob(
            message, by: device.id, household: device.household, limit: configuration.limits.quotaBytes,
            at: time.seconds())
        quotas.forget(device.household)
        return try .json(state)
    }

    func storedBlob(_ request: HubRequest) async throws -> StoredBlob {
        guard let stored = try await store.blob(request.id(), of: request.knownDevice().household) else {
            throw HubError(.notFound, "There is no such blob; begin it first.")
        }
        return stored
    }

    func writeBlob(_ request: HubRequest) async throws -> HubReply {
        let offset = try request.number("offset")
        let id = StoredBlobID(household: try request.knownDevice().household, blob: try request.id())
        guard busyBlobs.enter(id) else {
            throw HubError(
                .conflict, "Another piece of this blob is being written. Request its state, and continue there.")
        }
        defer { busyBlobs.leave(id) }
        let stored = try await storedBlob(request)
        let (received, size) = (stored.state.received, stored.state.size)
        let end = offset + UInt64(request.body.count)
        guard end <= size else {
            throw HubError(.badRequest, "The piece ends at \(end), after the blob's end at \(size).")
        }
        // The piece is already stored: its response was lost, and the client sent it again.
        if stored.state.isComplete || end <= received { return try .json(stored.state) }
        guard offset == received else {
            throw HubError(.conflict, "The next piece of this blob begins at \(received).")
        }
        try await metrics.timing("blob") { try await blobs.write([UInt8](request.body), at: offset, of: id) }
        let isComplete = end == size
        if isComplete, try await hash(of: id, size: size) != stored.hash {
            try await store.advanceBlob(
                id.blob, of: id.household, from: received, to: 0, isComplete: false, at: time.seconds())
            throw HubError(
                .badRequest, "The blob's bytes don't match its declared hash. Send them again from offset 0.")
        }
        try await store.advanceBlob(
            id.blob, of: id.household, from: received, to: end, isComplete: isComplete, at: time.seconds())
        return try .json(BlobState(size: size, received: end, isComplete: isComplete))
    }

    private func hash(of blob: StoredBlobID, size: UInt64) async throws -> Data {
        var hash = SHA256()
        var offset: UInt64 = 0
        while offset < size {
            let bytes = try await blobs.read(blob, offset: offset, length: 1 << 20)
            guard !bytes.isEmpty else { throw HubError(.failed, "The hub lost bytes of this blob.") }
            hash.update(data: bytes)
            offset += UInt64(bytes.count)
        }
        return Data(hash.finalize())
    }

    func readBlob(_ request: HubRequest) async throws -> HubReply {
        let stored = try await storedBlob(request)
        guard stored.state.isComplete else {
            throw HubError(
                .conflict, "The blob is not complete yet: \(stored.state.received) of \(stored.state.size) bytes.")
        }
        let range = try request.headers[.range].flatMap { try Self.range($0, of: stored.state.size) }
        let blob = StoredBlobID(household: try request.knownDevice().household, blob: try request.id())
        return .blob(BlobReading(blob: blob, size: stored.state.size, range: range))
    }

    /// The next bytes of a complete blob: at most `blobStep`.
    /// - Throws: `HubError` with `notFound` where the hub does not have them any more.
    func bytes(of blob: StoredBlobID, from offset: UInt64, to end: UInt64) async throws -> [UInt8] {
        let length = Int(min(UInt64(Self.blobStep), end - offset))
        let bytes = try await blobs.read(blob, offset: offset, length: length)
        guard bytes.count == length else { throw HubError(.notFound, "The hub lost bytes of this blob.") }
        return bytes
    }

    /// One range of bytes (RFC 9110 section 14.1). Any other header is ignored, and the response is the whole blob.
    /// - Throws: `HubError` for a range that begins after the end.
    static func range(_ text: String, of size: UInt64) throws -> Range<UInt64>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let parts = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }) else { return nil }
        switch (UInt64(parts[0]), UInt64(parts[1])) {
        case (let first?, let last):
            guard parts[1].isEmpty || last != nil, last.map({ $0 >= first }) ?? true else { return nil }
            guard first < size else {
                throw HubError(.badRequest, "The range begins at \(first), and the blob has \(size) bytes.")
            }
            return first..<min(size, last.map { $0 == .max ? .max : $0 + 1 } ?? size)
        case (nil, let count?) where parts[0].isEmpty && count > 0: return size - min(size, count)..<size
        default: return nil
        }
    }
}
