import Foundation
import Household
import HubAPI
public import SealedFormats

// The content of records: uploaded with them, and downloaded when it is first read.
extension SyncEngine {
    /// A restored record names content that the hub may have removed since. If this device has it, it is sent, and
    /// then the record again.
    func resendWithContent(
        _ batch: [(line: OutboxLine, record: HubRecord)], to hub: any HubConnection, _ outcomes: inout [HubWriteOutcome]
    ) async throws {
        for (index, entry) in batch.enumerated()
        where entry.line.replaces > 0 && !entry.record.blobs.isEmpty && outcomes[index].error?.code == .badRequest {
            do {
                guard try await upload(entry.line.record, to: hub) != nil,
                    let outcome = try await hub.write([entry.record]).first
                else { continue }
                outcomes[index] = outcome
            } catch {
                try park(entry.line, error)
            }
        }
    }

    /// Uploads the record's content, from where an earlier attempt ended.
    /// - Returns: its size in bytes; nil if neither this device nor the hub has it.
    func upload(_ record: StoredRecord, to hub: any HubConnection) async throws -> UInt64? {
        guard record.sealed != nil, !record.blobs.isEmpty else { return 0 }
        var bytes: UInt64 = 0
        for id in record.blobs {
            if let size = try await blobs.size(id), size > 0 {
                try await upload(id, size: size, to: hub)
                bytes += size
            } else if !(try await isComplete(id, at: hub)) {
                return nil
            }
        }
        return bytes
    }

    private func isComplete(_ id: ItemID, at hub: any HubConnection) async throws -> Bool {
        do {
            return try await hub.blobState(HubID(id)).isComplete
        } catch let error as HubError where error.code == .notFound {
            return false
        }
    }

    private func upload(_ id: ItemID, size: UInt64, to hub: any HubConnection) async throws {
        let piece = 1 << 20
        var hash = ContentHash()
        for offset in stride(from: UInt64(0), to: size, by: piece) {
            hash.update(try await blobs.read(id, offset: offset, length: piece))
        }
        var state = try await hub.beginBlob(NewBlobRequest(id: HubID(id), size: size, hash: hash.finished))
        while !state.isComplete {
            guard state.received < size else {
                throw HubUnreachable(.notUnderstood, "The hub lost part of the content.")
            }
            // A vault that was locked continues after it is opened.
            guard await delegate.session != nil else { throw CancellationError() }
            let bytes = try await blobs.read(id, offset: state.received, length: piece)
            state = try await hub.writeBlob(HubID(id), offset: state.received, bytes: bytes)
        }
    }

    /// How long, without a connection, content is not asked for after an attempt failed. An export asks for all that is
    /// missing here, and each attempt may wait for its time limit.
    private static let contentPause = Duration.seconds(10)

    /// Downloads content that was added on another device, in pieces. Opening it detects any modification.
    ///
    /// - Throws: `IncompleteContent`, and what the delegate, the connection and the blob store throw.
    public func fetch(_ id: ItemID) async throws {
        if let contentOutage, !isConnected, time.elapsed() < contentOutage.end { throw contentOutage.error }
        do {
            try await fetchAll(of: id)
        } catch {
            // A part of it would be mistaken for all of it.
            try? await blobs.removePassing(id)
            if let error = error as? HubUnreachable, error.code != .notUnderstood {
                contentOutage = (error, time.elapsed() + Self.contentPause)
            }
            throw error
        }
    }

    private func fetchAll(of id: ItemID) async throws {
        let hub = try await delegate.requireSession().hub
        let state = try await hub.blobState(HubID(id))
        guard state.isComplete else {
            throw IncompleteContent()
        }
        // The hub chooses this number, and only the whole content can be opened.
        try await blobs.checkRoom(for: state.size)
        var offset: UInt64 = 0
        while offset < state.size {
            let length = Int(min(1 << 20, state.size - offset))
            let bytes = try await hub.readBlob(HubID(id), offset: offset, length: length)
            guard bytes.count == length else {
                throw HubUnreachable(.notUnderstood, "The hub returned less content than announced.")
            }
            try await blobs.put(id, offset: offset, bytes: bytes)
            offset += UInt64(length)
        }
        try await blobs.keep(id)
    }
}

/// The device that added a content has not uploaded all of it yet.
public struct IncompleteContent: Error, Sendable, CustomStringConvertible {
    public var description: String { "The content at the hub is incomplete. Try again later." }
}
