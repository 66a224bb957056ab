import Foundation
public import HubAPI
public import SealedFormats

/// A record as it is stored: its name in clear, its body sealed.
public struct StoredRecord: Hashable, Sendable {
    public var name: RecordName
    /// The epoch of the vault key that seals it; for a box, of the inbox key.
    public var epoch: UInt32
    /// The device that wrote it.
    public var author: ItemID
    /// A record envelope, or a box in a collection that is written while the vault is locked. Nil: a tombstone.
    public var sealed: [UInt8]?
    /// The blobs that belong to it, in order, even if they are not stored here; a tombstone has none.
    public var blobs: [ItemID]

    public init(name: RecordName, epoch: UInt32, author: ItemID, sealed: [UInt8]?, blobs: [ItemID] = []) {
        self.name = name
        self.epoch = epoch
        self.author = author
        self.sealed = sealed
        self.blobs = blobs
    }

    /// `RecordVersion`, 8 bytes.
    public var version: [UInt8] { RecordVersion.digest(revision: name.revision, sealed: sealed) }

    /// Its next revision, as a tombstone.
    /// - Parameter newest: the epoch of the vault's newest key; nil: unknown. A former member, who had the key of an
    ///   earlier epoch, could replace a tombstone of that epoch.
    public func removed(by device: ItemID, epoch newest: UInt32? = nil) -> StoredRecord {
        var name = name
        name.revision += 1
        return StoredRecord(name: name, epoch: max(epoch, newest ?? epoch), author: device, sealed: nil)
    }
}

/// A device at whose request this one changes records.
public struct Requester: Hashable, Sendable {
    public var device: ItemID
    /// The time of the request, in seconds since 1970 by this device's clock.
    public var time: Double

    public init(device: ItemID, time: Double) {
        self.device = device
        self.time = time
    }
}

/// Changes that are written in one transaction.
public struct StateChange: Sendable {
    /// Nil removes a document.
    public var documents: [String: [UInt8]?]
    public var records: [StoredRecord]
    /// Unchanged content, sealed again by this device under other keys; each is the revision after the stored one.
    public var resealed: [StoredRecord] = []
    /// Records of the household, sealed and signed, for the hub; in their order.
    public var household: [HubRecord]
    /// The device that requested the change; nil: this one. What a requester replaces is kept as an
    /// earlier version.
    public var requester: Requester?
    /// Whether any revision is accepted, as from a backup; otherwise each has to be the one after the stored revision.
    public var acceptsAnyRevision = false
    /// Documents that must still have this content when the change is written; nil: absent.
    public var unchanged: [String: [UInt8]?] = [:]
    /// The stored versions that these records have to replace. For other records only the revision is compared.
    public var replaced: [RecordName: RecordStamp] = [:]

    public init(
        documents: [String: [UInt8]?] = [:], records: [StoredRecord] = [], household: [HubRecord] = []
    ) {
        self.documents = documents
        self.records = records
        self.household = household
    }
}

/// A document changed after a write that depends on it was prepared. Nothing was written.
public struct DocumentChanged: Error, Equatable, Sendable {
    public let name: String

    public init(name: String) { self.name = name }
}

/// A write named a revision, or replaces a version, that is not the current one. Nothing was written.
public struct RevisionConflict: Error, Equatable, Sendable {
    public let name: RecordName
    /// The stored revision; 0 if there is none.
    public let current: UInt64

    public init(name: RecordName, current: UInt64) {
        self.name = name
        self.current = current
    }
}

/// Identifies what is stored under a name. The revision alone does not: two devices can each write the same one.
public struct RecordStamp: Hashable, Sendable {
    public let revision: UInt64
    /// The last bytes of the sealed body: its authentication tag.
    private let tag: [UInt8]

    /// In bytes.
    public static let tagLength = 16

    public init(revision: UInt64, tag: [UInt8]) {
        self.revision = revision
        self.tag = tag
    }

    public init(of record: StoredRecord) {
        self.init(revision: record.name.revision, tag: (record.sealed ?? []).suffix(Self.tagLength))
    }

    /// The stamp as clients send it.
    public var text: String { "\(revision)-" + Data(tag).base64EncodedString() }
}

/// The local replica of the sealed records.
public protocol RecordStore: DocumentStore {
    /// By id, tombstones left out.
    func records(in collection: RecordCollection) async throws -> [StoredRecord]
    /// The existing records of these ids, tombstones left out.
    func records(in collection: RecordCollection, ids: [ItemID]) async throws -> [StoredRecord]
    /// The stamp of each record, tombstones left out.
    func stamps(in collection: RecordCollection) async throws -> [ItemID: RecordStamp]
    /// The content that a record names, or an earlier version that is kept.
    func blobsOfRecords() async throws -> Set<ItemID>
    /// Whether a record names this content, or an earlier version that is kept.
    func isOfRecord(blob: ItemID) async throws -> Bool
    /// Returns tombstones too.
    func record(_ collection: RecordCollection, _ id: ItemID) async throws -> StoredRecord?
    /// All of it or nothing; durable when it returns.
    /// - Throws: `RevisionConflict`, or the error of the disk.
    func write(_ change: StateChange) async throws
    /// Removes the earlier versions that are too old at this time, in seconds since 1970.
    func pruneEarlierVersions(at time: Double) async throws
    /// Removes every record, document and event, and overwrites their pages.
    func eraseAll() async throws
}

extension RecordStore {
    /// Removes content that neither a record nor a kept earlier version names.
    public func removeUnnamed(_ content: ItemID, from blobs: any BlobStore) async throws {
        if !(try await isOfRecord(blob: content)) { try await blobs.remove(content) }
    }
}

/// Sealed content beside the records. A kept blob belongs to a record; a passing one is temporary (an upload that is
/// not finished, a backup that is being fetched).
public protocol BlobStore: Sendable {
    /// Throws `BlobError` with `diskFull` unless a blob of this size, in bytes, leaves the disk some room for records.
    func checkRoom(for size: UInt64) async throws
    /// Appends to a passing blob. Offset 0 starts it again.
    /// - Throws: `BlobError`.
    func put(_ id: ItemID, offset: UInt64, bytes: [UInt8]) async throws
    /// In bytes; nil where there is none.
    func size(_ id: ItemID) async throws -> UInt64?
    /// Returns fewer bytes at the end, and none after it.
    /// - Throws: `BlobError`.
    func read(_ id: ItemID, offset: UInt64, length: Int) async throws -> [UInt8]
    /// Makes a passing blob a kept one; durable when it returns.
    /// - Throws: `BlobError`.
    func keep(_ id: ItemID) async throws
    /// Does nothing if there is no such blob.
    func remove(_ id: ItemID) async throws
    /// Removes a passing blob, of which there may be a part only; never a kept one.
    func removePassing(_ id: ItemID) async throws
    /// Ids of the kept ones.
    func kept() async throws -> [ItemID]
    /// Removes every passing blob, and the kept ones except these.
    func sweep(keeping: Set<ItemID>) async throws
    /// Removes the passing blobs that were neither written nor read for this long.
    func sweepPassing(idleFor time: Duration) async throws
}

/// What a blob store refuses or can't do.
public struct BlobError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case noSuchBlob, wrongOffset, diskFull, failed
    }

    public let code: Code
    /// What was wrong and what to do, as one sentence.
    public let sentence: String

    public init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    public var description: String { sentence }
}
