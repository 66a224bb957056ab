public import Foundation

/// A sealed record as it travels: its name in clear, its body sealed, signed by its author (docs/formats.md).
public struct HubRecord: Codable, Hashable, Sendable {
    /// 1 to 32 characters of a-z and "-".
    public var collection: String
    public var id: HubID
    public var vault: HubID
    /// From 1; each write is the next.
    public var revision: UInt64
    public var epoch: UInt32
    /// The device that wrote it.
    public var author: HubID
    /// Absent: a tombstone.
    public var sealed: Data?
    /// Blobs that belong to it; they have to be complete before it is written. At most 8.
    public var blobs: [HubID]
    /// 64 bytes.
    public var signature: Data
    /// Given by the hub, from 1, without a gap in a household; absent in what a device sends.
    public var sequence: UInt64?
    /// Only in what a device sends to `POST /v1/records`, and not stored: the revision at the hub that this one replaces, 0
    /// for none. Absent: the one before. A device that was offline, or that had records before it had a hub, skips some.
    public var replaces: UInt64?
    /// Only in what a device sends, and not stored: `RecordVersion` of what this one replaces. Two devices may each have written the
    /// revision of that number, as at a hub that was restored. Absent: the number alone counts.
    public var replacedVersion: Data?
    /// `RecordVersion` of the revisions that this one replaced, the last 16, oldest first. The hub adds what it had; a device names
    /// what it knew, which a hub that was restored from a backup may have lost.
    public var ancestors: Data?

    public init(
        collection: String, id: HubID, vault: HubID, revision: UInt64, epoch: UInt32, author: HubID, sealed: Data?,
        blobs: [HubID] = [], signature: Data, sequence: UInt64? = nil, replaces: UInt64? = nil,
        ancestors: Data? = nil
    ) {
        self.ancestors = ancestors
        self.replaces = replaces
        self.collection = collection
        self.id = id
        self.vault = vault
        self.revision = revision
        self.epoch = epoch
        self.author = author
        self.sealed = sealed
        self.blobs = blobs
        self.signature = signature
        self.sequence = sequence
    }

    /// An absent list of blobs is an empty one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        collection = try container.decode(String.self, forKey: .collection)
        id = try container.decode(HubID.self, forKey: .id)
        vault = try container.decode(HubID.self, forKey: .vault)
        revision = try container.decode(UInt64.self, forKey: .revision)
        epoch = try container.decode(UInt32.self, forKey: .epoch)
        author = try container.decode(HubID.self, forKey: .author)
        sealed = try container.decodeIfPresent(Data.self, forKey: .sealed)
        blobs = try container.decodeIfPresent([HubID].self, forKey: .blobs) ?? []
        signature = try container.decode(Data.self, forKey: .signature)
        sequence = try container.decodeIfPresent(UInt64.self, forKey: .sequence)
        replaces = try container.decodeIfPresent(UInt64.self, forKey: .replaces)
        replacedVersion = try container.decodeIfPresent(Data.self, forKey: .replacedVersion)
        ancestors = try container.decodeIfPresent(Data.self, forKey: .ancestors)
    }

    /// The last revision and sequence number that devices take. JavaScript counts no further, and what is counted on from
    /// it fits into a database, whose numbers end at 2^63 - 1.
    public static let maximumNumber: UInt64 = (1 << 53) - 1
    /// How far a revision that a device replaces may be above its own: a hub that claims more could make it sign the last
    /// possible one, after which no device can change the record.
    public static let largestStep: UInt64 = 1 << 20
    /// Of the sealed bytes of one record, at most.
    public static let maximumSealedBytes = 16 << 20
    public static let maximumBlobs = 8
    /// In bytes.
    public static let maximumAncestors = 128
}

/// What became of one written record.
public struct HubWriteOutcome: Codable, Equatable, Sendable {
    /// Of the record as it is stored; the same when the same write comes again.
    public var sequence: UInt64?
    /// The write named a revision that is not the next one: what is stored, which may have no `sealed` and is then a
    /// tombstone. Nothing was written.
    public var conflict: HubRecord?
    /// Another reason why nothing was written.
    public var error: HubError?

    public init(sequence: UInt64? = nil, conflict: HubRecord? = nil, error: HubError? = nil) {
        self.sequence = sequence
        self.conflict = conflict
        self.error = error
    }
}

/// `POST /v1/records`: at most 256 records and 8 MiB; each stands for itself, in this order.
public struct HubWriteRequest: Codable, Sendable {
    public var records: [HubRecord]
    public init(records: [HubRecord]) { self.records = records }

    public static let maximumRecords = 256
}

/// One outcome for each record, in the same order.
public struct HubWriteAnswer: Codable, Sendable {
    public var outcomes: [HubWriteOutcome]
    public init(outcomes: [HubWriteOutcome]) { self.outcomes = outcomes }
}

/// `GET /v1/records?after=N`: what is stored with a sequence number above N, ascending; of each record its newest revision.
public struct HubRecordPage: Codable, Sendable {
    public var records: [HubRecord]
    /// Ask with this next time: the last record's here, or where nothing follows the household's newest number.
    public var next: UInt64
    /// Whether more follow at once.
    public var more: Bool
    public init(records: [HubRecord], next: UInt64, more: Bool) {
        self.records = records
        self.next = next
        self.more = more
    }
}
