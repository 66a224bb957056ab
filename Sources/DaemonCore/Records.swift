import Foundation
public import SealedFormats
public import WireProtocol

/// A record as it is stored: its name in clear, its body sealed.
public struct StoredRecord: Hashable, Sendable {
    public var name: RecordName
    /// Of the vault key that seals it; for a box, of the inbox key.
    public var epoch: UInt32
    /// The device that wrote it.
    public var author: ItemID
    /// A record envelope, or a box in a collection that is written while the vault is locked. Nil: a tombstone.
    public var sealed: [UInt8]?
    /// Content that belongs to it, in its order, wherever it lies; a tombstone has none.
    public var blobs: [ItemID]

    public init(name: RecordName, epoch: UInt32, author: ItemID, sealed: [UInt8]?, blobs: [ItemID] = []) {
        self.name = name
        self.epoch = epoch
        self.author = author
        self.sealed = sealed
        self.blobs = blobs
    }

    /// What the next revision of it is, where it is removed.
    func removed(by device: ItemID) -> StoredRecord {
        var name = name
        name.revision += 1
        return StoredRecord(name: name, epoch: epoch, author: device, sealed: nil)
    }
}

/// A device on whose word this computer changes records.
public struct Requester: Hashable, Sendable {
    public var device: ItemID
    /// When, in seconds since 1970 by this computer's clock.
    public var time: Double

    public init(device: ItemID, time: Double) {
        self.device = device
        self.time = time
    }
}

/// Several changes that are made together.
public struct StateChange: Sendable {
    /// Nil removes a document.
    public var documents: [String: [UInt8]?]
    public var records: [StoredRecord]
    /// The same content as before, by this computer under other keys; each the revision after what is stored.
    public var resealed: [StoredRecord] = []
    /// Records of the household, sealed and signed, for the hub; in their order.
    public var household: [HubRecord] = []
    /// Nil: the change is this computer's own. What another device has it replace is kept as an `EarlierVersion`.
    public var requester: Requester?
    /// Revisions are taken as they come, as from a backup; otherwise each has to be the one after what is stored.
    public var acceptsAnyRevision = false
    /// Documents that have to be still what they were when the change was made; nil: absent.
    public var unchanged: [String: [UInt8]?] = [:]
    /// What has to be stored still where a record takes its place; of others the revision alone counts.
    public var replaced: [RecordName: RecordStamp] = [:]

    public init(documents: [String: [UInt8]?] = [:], records: [StoredRecord] = []) {
        self.documents = documents
        self.records = records
    }
}

/// A document was changed since a write that depends on it was made. Nothing was written.
public struct DocumentChanged: Error, Equatable, Sendable {
    public let name: String

    public init(name: String) { self.name = name }
}

/// A write named a revision, or replaces a version, that is not the current one. Nothing was written.
public struct RevisionConflict: Error, Equatable, Sendable {
    public let name: RecordName
    /// What is stored; 0 where there is nothing.
    public let current: UInt64

    public init(name: RecordName, current: UInt64) {
        self.name = name
        self.current = current
    }
}

/// Tells what is stored under a name from anything else. The revision alone does not: two devices can each write the
/// same one.
public struct RecordStamp: Hashable, Sendable {
    public let revision: UInt64
    /// The end of what is sealed: its authentication tag.
    private let tag: [UInt8]

    /// In bytes.
    public static let tagLength = 16

    public init(revision: UInt64, tag: [UInt8]) {
        self.revision = revision
        self.tag = tag
    }

    init(of record: StoredRecord) {
        self.init(revision: record.name.revision, tag: (record.sealed ?? []).suffix(Self.tagLength))
    }

    /// As clients name it.
    var text: String { "\(revision)-" + Data(tag).base64EncodedString() }
}

/// The local replica of the sealed records.
public protocol RecordStore: DocumentStore {
    /// By id, tombstones left out.
    func records(in collection: RecordCollection) async throws -> [StoredRecord]
    /// Those of these ids that are there, tombstones left out.
    func records(in collection: RecordCollection, ids: [ItemID]) async throws -> [StoredRecord]
    /// Of the newest by id, tombstones left out.
    func stamps(in collection: RecordCollection) async throws -> [ItemID: RecordStamp]
    /// The content that records name, and the earlier versions that are kept.
    func blobsOfRecords() async throws -> Set<ItemID>
    /// Whether a record names this content, or an earlier version that is kept.
    func isOfRecord(blob: ItemID) async throws -> Bool
    /// A tombstone too.
    func record(_ collection: RecordCollection, _ id: ItemID) async throws -> StoredRecord?
    /// All of it or nothing; durable when it returns.
    /// - Throws: `RevisionConflict`, or what the disk says.
    func write(_ change: StateChange) async throws
    /// Removes the earlier versions that are too old at this time, in seconds since 1970.
    func pruneEarlierVersions(at time: Double) async throws
    /// Forgets every record, document and event, and gives their pages back overwritten.
    func eraseAll() async throws
}

extension RecordStore {
    /// Removes content that no record names any more, and no earlier version that is kept.
    func removeUnnamed(_ content: ItemID, from blobs: any BlobStore) async throws {
        if !(try await isOfRecord(blob: content)) { try await blobs.remove(content) }
    }
}

/// Sealed content beside the records: kept with a record, or passing through (an upload that is not finished, a backup
/// that is being fetched).
public protocol BlobStore: Sendable {
    /// Appends to a passing blob; at offset 0 it begins anew.
    /// - Throws: `BlobError`.
    func put(_ id: ItemID, offset: UInt64, bytes: [UInt8]) async throws
    /// In bytes; nil where there is none.
    func size(_ id: ItemID) async throws -> UInt64?
    /// Fewer bytes at the end, none after it.
    /// - Throws: `BlobError`.
    func read(_ id: ItemID, offset: UInt64, length: Int) async throws -> [UInt8]
    /// Makes a passing blob a kept one; durable when it returns.
    /// - Throws: `BlobError`.
    func keep(_ id: ItemID) async throws
    /// No error where there is none.
    func remove(_ id: ItemID) async throws
    /// Ids of the kept ones.
    func kept() async throws -> [ItemID]
    /// Removes the kept ones but these, and every passing one.
    func sweep(keeping: Set<ItemID>) async throws
    /// Removes the passing ones that nobody has written or read for so long.
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
