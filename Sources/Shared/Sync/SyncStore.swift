public import HubAPI
public import SealedFormats

/// A record of the household by this device, sealed and signed, that the hub does not have yet.
public struct QueuedRecord: Sendable {
    /// In the order of writing.
    public let number: Int64
    public let record: HubRecord

    public init(number: Int64, record: HubRecord) {
        self.number = number
        self.record = record
    }
}

/// A record of a vault that was written here and that the hub does not have yet.
public struct OutboxLine: Sendable {
    public let number: Int64
    public let record: StoredRecord
    /// The revision that the hub has; 0 for none.
    public let replaces: UInt64
    /// The `RecordVersion`s that the hub has had of it, one after the other; the last is the current one.
    public let ancestors: [UInt8]
    /// The version at the hub that it replaces; nil if it replaces nothing.
    public var replacedVersion: [UInt8]? { replaces > 0 ? RecordVersion.versions(in: ancestors).last : nil }

    public init(number: Int64, record: StoredRecord, replaces: UInt64, ancestors: [UInt8] = []) {
        self.ancestors = ancestors
        self.number = number
        self.record = record
        self.replaces = replaces
    }
}

/// The hub's state of a record, as last received.
public struct KnownRevision: Equatable, Sendable {
    /// The highest revision that was ever received: nothing below it is accepted as newer.
    public var revision: UInt64
    public var sequence: UInt64
    /// The hub's current revision; 0 if it has none, or if that has to be compared again.
    public var atHub: UInt64

    public init(revision: UInt64, sequence: UInt64, atHub: UInt64? = nil) {
        self.revision = revision
        self.sequence = sequence
        self.atHub = atHub ?? revision
    }

    /// False while the hub's restored store has less than before. Its records are then compared with the local ones,
    /// also those that another device wrote under a revision that the hub had once before.
    public var isCompared: Bool { atHub >= revision }
}

/// A record of a vault as the hub served it.
public struct IncomingRecord: Sendable {
    public var record: StoredRecord
    public var sequence: UInt64
    /// `RecordVersion` of the revisions that it replaced, one after the other.
    public var ancestors: [UInt8]
    /// When it arrived, in seconds since 1970 by this device's clock.
    public var received: Double

    public init(record: StoredRecord, sequence: UInt64, ancestors: [UInt8] = [], received: Double) {
        self.received = received
        self.record = record
        self.sequence = sequence
        self.ancestors = ancestors
    }
}

/// Records from the hub that passed the checks, stored in one transaction.
public struct IncomingChange: Sendable {
    /// Records of vaults; each is above the known revision, or has to be compared with the local one.
    public var vaultRecords: [IncomingRecord] = []
    /// Records of the household; the newest of each is kept.
    public var householdRecords: [HubRecord] = []
    public var documents: [String: [UInt8]?] = [:]

    public init() {}
}

/// The local replica, with the changes to send to the hub and the hub's state as received.
///
/// If a note or a moment was changed here and at the hub, both versions are kept: the local one apart until the vault
/// is open (`conflicts`), unless it is a removal, which is dropped. Of other records a local removal is kept, and any
/// other local change is dropped.
public protocol SyncStore: RecordStore {
    // MARK: Out

    /// Queued records of the household, oldest first.
    func queued(limit: Int) async throws -> [QueuedRecord]
    /// Removes queued records that the hub has, or will never accept.
    func unqueue(_ numbers: [Int64]) async throws
    /// Removes queued records that the hub has.
    func unqueue(_ records: [HubRecord]) async throws
    /// Queued records of vaults, oldest first.
    /// - Parameter excluded: numbers of lines that are left out.
    func outbox(limit: Int, but excluded: Set<Int64>) async throws -> [OutboxLine]
    /// Makes `record` the line's record, to replace whatever the hub has. Does nothing if the line is no longer queued,
    /// because the record was changed since or another device's record replaced it.
    /// - Parameter version: the version that the hub has.
    func overwrite(
        _ line: OutboxLine, as record: StoredRecord, known: KnownRevision, version: [UInt8]
    ) async throws
    /// The hub has this line's record under this sequence number. Removes the line unless the record has changed since.
    /// - Parameter author: who signed it there; nil: this device.
    func acknowledge(_ line: OutboxLine, sequence: UInt64, author: ItemID?) async throws
    /// Forgets the hub's state of a vault's record that the hub no longer has.
    func forgetKnown(_ collection: RecordCollection, _ id: ItemID) async throws
    /// The hub's store was replaced: what it has is read from the beginning and compared with what is here. The
    /// household's keys and names that this device wrote are sent again.
    func beginComparing(of device: ItemID, documents: [String: [UInt8]?]) async throws
    /// Ends the comparison, and queues what the hub does not have, removals too.
    /// - Returns: how many records were queued.
    func endComparing(documents: [String: [UInt8]?]) async throws -> Int
    /// The highest sequence number of any record.
    func newestSequence() async throws -> UInt64
    /// The number of queued records and outbox lines.
    func waitingCount() async throws -> Int

    // MARK: In

    /// Nil: nothing was received from the hub.
    func known(_ collection: RecordCollection, _ id: ItemID) async throws -> KnownRevision?
    /// What a record of a vault replaces is kept as an earlier version, in the same transaction.
    func ingest(_ incoming: IncomingChange) async throws
    /// Signals that records of vaults were written. For one reader.
    var outboxChanges: AsyncStream<Void> { get }
    /// Local versions of records that another device changed at the same time.
    func conflicts() async throws -> [StoredRecord]
    /// Writes a change and removes these conflicts with it.
    func write(_ change: StateChange, resolving conflicts: [StoredRecord]) async throws
}

extension SyncStore {
    public func acknowledge(_ line: OutboxLine, sequence: UInt64) async throws {
        try await acknowledge(line, sequence: sequence, author: nil)
    }
}
