import ControlAPI
import SealedFormats
import Sync

/// The sealed content of files and photos. Clients seal and open it; this service only stores and fetches it.
public actor ContentService {
    private let records: any RecordStore
    private let blobs: any BlobStore
    /// Refuses a user for whom the vault is not open.
    private let requireKeys: @Sendable (ControlPeer) async throws -> Void
    /// Fetches content that was added on another device.
    private let fetch: @Sendable (ItemID) async throws -> Void
    private var fetching: [ItemID: Task<Void, any Error>] = [:]

    init(
        records: any RecordStore, blobs: any BlobStore,
        requireKeys: @escaping @Sendable (ControlPeer) async throws -> Void,
        fetch: @escaping @Sendable (ItemID) async throws -> Void
    ) {
        self.records = records
        self.blobs = blobs
        self.requireKeys = requireKeys
        self.fetch = fetch
    }

    /// Fetches content of a record that is not on this computer yet. Concurrent callers wait for the same download.
    func fetchWhereMissing(_ id: ItemID) async throws {
        if let task = fetching[id] { return try await task.value }
        let isMissing = try await blobs.size(id) == nil
        guard isMissing, try await records.isOfRecord(blob: id) else { return }
        if let task = fetching[id] { return try await task.value }
        let task = Task { try await fetch(id) }
        fetching[id] = task
        defer { fetching[id] = nil }
        try await task.value
    }

    /// Ends downloads, which hold the token of the hub.
    func endFetching() {
        for task in fetching.values { task.cancel() }
    }

    func read(_ text: String, offset: UInt64, length: Int, peer: ControlPeer) async throws -> [UInt8] {
        try await requireKeys(peer)
        let id = try ItemID(requested: text)
        // Only content that a record names is fetched; anything else is reported as missing.
        do {
            try await fetchWhereMissing(id)
        } catch {
            throw ControlError(hub: error)
        }
        return try await blobs.read(id, offset: offset, length: length)
    }

    func put(_ text: String, offset: UInt64, bytes: [UInt8], peer: ControlPeer) async throws {
        try await requireKeys(peer)
        let id = try ItemID(requested: text)
        guard !(try await records.isOfRecord(blob: id)), try await records.record(.files, id) == nil else {
            throw ControlError(.badRequest, "This content belongs to a record already; choose a fresh id.")
        }
        try await blobs.put(id, offset: offset, bytes: bytes)
    }

    /// Removes a blob, unless a record needs it.
    func remove(_ text: String, peer: ControlPeer) async throws {
        try await requireKeys(peer)
        let id = try ItemID(requested: text)
        guard !(try await records.isOfRecord(blob: id)) else {
            throw ControlError(.badRequest, "This content belongs to a record; remove the record instead.")
        }
        try await blobs.remove(id)
    }
}
