public import ControlAPI
import Foundation
import SealedFormats
import Sync

/// Files in the vault. Clients seal the content, which this service only stores; the record holds its key.
public actor FileService {
    /// The sealed body of a file's record.
    struct Content: Codable {
        var name: String
        var size: UInt64
        var modified: Double
        var added: Double
        var mode: UInt32
        var sealedSize: UInt64
        var contentKey: Data
    }

    private let records: any RecordStore
    private let blobs: any BlobStore
    private let vault: VaultService
    private let time: any TimeSource

    init(records: any RecordStore, blobs: any BlobStore, vault: VaultService, time: any TimeSource) {
        self.records = records
        self.blobs = blobs
        self.vault = vault
        self.time = time
    }

    /// Newest first.
    public func list(peer: ControlPeer) async throws -> FileList {
        let keys = try await vault.keys(for: peer)
        let stored = try await records.records(in: .files)
        let files = stored.compactMap { record in
            (try? Self.content(of: record, keys)).map { Self.report(record, $0) }
        }
        return FileList(
            files: files.sorted { ($0.added, $0.id) > ($1.added, $1.id) }, unreadable: stored.count - files.count)
    }

    public func add(_ request: AddFileRequest, peer: ControlPeer) async throws -> FileReport {
        let keys = try await vault.keys(for: peer)
        guard let id = ItemID(request.id), request.contentKey.count == ContentStream.keyLength,
            Self.isFileName(request.name)
        else {
            throw ControlError(.badRequest, "A file needs an id, a name without slashes and a content key of 32 bytes.")
        }
        guard try await records.record(.files, id) == nil else {
            throw ControlError(.badRequest, "There is a file with this id already; choose a fresh one.")
        }
        guard let size = try await blobs.size(id), size == request.sealedSize else {
            throw ControlError(.badRequest, "The file's content is incomplete. Upload it as a blob first.")
        }
        let content = Content(
            name: request.name, size: request.size, modified: request.modified, added: time.wallClock(),
            mode: request.mode & 0o7777, sealedSize: request.sealedSize, contentKey: request.contentKey)
        var record = try keys.seal(JSONEncoder().encode(content), .files, id, revision: 1)
        record.blobs = [id]
        // Content is kept first: without a record it is swept, but a record without content stays incomplete.
        try await blobs.keep(id)
        try await records.write(StateChange(records: [record]))
        return Self.report(record, content)
    }

    public func read(_ reference: String, peer: ControlPeer) async throws -> FileContent {
        let keys = try await vault.keys(for: peer)
        let record = try await find(reference, keys)
        let content = try Self.content(of: record, keys)
        return FileContent(
            file: Self.report(record, content), vault: record.name.vault.description, mode: content.mode,
            sealedSize: content.sealedSize, contentKey: content.contentKey)
    }

    public func remove(_ reference: String, peer: ControlPeer) async throws {
        let keys = try await vault.keys(for: peer)
        let record = try await find(reference, keys)
        try await records.write(StateChange(records: [keys.removed(record)]))
        try await records.removeUnnamed(record.name.id, from: blobs)
    }

    /// Removes what an interrupted addition or removal left behind, and earlier versions that are too old.
    func sweep() async throws {
        try await records.pruneEarlierVersions(at: time.wallClock())
        try await blobs.sweep(keeping: records.blobsOfRecords())
    }

    /// Removes what a client began to send or fetch and abandoned for an hour, and earlier versions that are too old.
    /// Runs until the task is cancelled.
    func followAbandoned() async {
        while (try? await time.sleep(until: time.elapsed() + .seconds(3_600))) != nil {
            // What can't be removed now is tried again.
            try? await blobs.sweepPassing(idleFor: .seconds(3_600))
            try? await records.pruneEarlierVersions(at: time.wallClock())
        }
    }

    // MARK: Pieces

    private func find(_ reference: String, _ keys: VaultKeys) async throws -> StoredRecord {
        try await ItemReference(text: reference, kind: .file).find(in: records, .files) { all in
            all.filter { (try? Self.content(of: $0, keys))?.name == reference }
        }
    }

    /// Nil if the body is not a file's.
    static func name(in body: Data) -> String? { (try? JSONDecoder().decode(Content.self, from: body))?.name }

    /// Other devices write records too: a client makes a path of the name, so it names a file in one folder.
    private static func content(of record: StoredRecord, _ keys: VaultKeys) throws -> Content {
        let content = try JSONDecoder().decode(Content.self, from: keys.open(record))
        guard isFileName(content.name) else {
            throw ControlError(.notReadable, "The file's name is not one: another device wrote it wrongly.")
        }
        return content
    }

    private static func isFileName(_ name: String) -> Bool {
        1...4_096 ~= name.utf8.count && name != "." && name != ".."
            && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }

    private static func report(_ record: StoredRecord, _ content: Content) -> FileReport {
        FileReport(
            id: record.name.id.description, name: content.name, size: content.size, added: content.added,
            modified: content.modified)
    }
}
