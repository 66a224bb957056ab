public import SealedFormats
public import WireProtocol

/// A record of the household by this computer, sealed and signed, that the hub does not have yet.
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
    /// `RecordVersion` of what the hub ever had of it, one after the other; what it has is the last.
    public let ancestors: [UInt8]
    /// The version that it replaces there; nil where it replaces nothing.
    public var replacedVersion: [UInt8]? { replaces > 0 ? RecordVersion.versions(in: ancestors).last : nil }

    public init(number: Int64, record: StoredRecord, replaces: UInt64, ancestors: [UInt8] = []) {
        self.ancestors = ancestors
        self.number = number
        self.record = record
        self.replaces = replaces
    }
}

/// What is known of a record from the hub.
public struct KnownRevision: Equatable, Sendable {
    /// The highest that was ever seen there: nothing below it is accepted as newer.
    public var revision: UInt64
    public var sequence: UInt64
    /// What the hub has; 0 where it has nothing, or where that has to be compared once more.
    public var atHub: UInt64

    public init(revision: UInt64, sequence: UInt64, atHub: UInt64? = nil) {
        self.revision = revision
        self.sequence = sequence
        self.atHub = atHub ?? revision
    }

    /// False while the hub, whose store was restored, has less than it had: what it serves then is compared with what is
    /// here, also what another device wrote there meanwhile under a revision that the hub had once before.
    public var isCompared: Bool { atHub >= revision }
}

/// A record of a vault as the hub served it.
public struct IncomingRecord: Sendable {
    public var record: StoredRecord
    public var sequence: UInt64
    /// `RecordVersion` of the revisions that it replaced, one after the other.
    public var ancestors: [UInt8]
    /// When it arrived, in seconds since 1970 by this computer's clock.
    public var received: Double

    public init(record: StoredRecord, sequence: UInt64, ancestors: [UInt8] = [], received: Double) {
        self.received = received
        self.record = record
        self.sequence = sequence
        self.ancestors = ancestors
    }
}

/// What came from the hub and was found right, taken over in one transaction.
public struct IncomingChange: Sendable {
    /// Of vaults; each above the revision that is known, or to be compared with what is here.
    public var vaultRecords: [IncomingRecord] = []
    /// Of the household: kept, the newest of each.
    public var householdRecords: [HubRecord] = []
    public var documents: [String: [UInt8]?] = [:]

    public init() {}
}

/// The local replica, with what is still to be told to the hub and what was learned from it.
///
/// A record that was changed here and at the hub: of a note and of a moment both are kept, the one from here apart until the
/// vault is open (`conflicts`), unless it is a removal, which gives way. Elsewhere a removal from here stays one, and any other change from
/// here gives way.
public protocol SyncStore: RecordStore {
    // MARK: Out

    /// Records of the household that wait, oldest first.
    func queued(limit: Int) async throws -> [QueuedRecord]
    /// The hub has them, or will never take them.
    func unqueue(_ numbers: [Int64]) async throws
    /// The hub has records that were queued.
    func unqueue(_ records: [HubRecord]) async throws
    /// Records of vaults that wait, oldest first.
    /// - Parameter excluded: numbers of lines that are left out.
    func outbox(limit: Int, but excluded: Set<Int64>) async throws -> [OutboxLine]
    /// What the hub has of a line's record is replaced, whatever it is: the line's record is this one from now on, unless the
    /// line waits no more, because it was changed since or another device's record took its place.
    /// - Parameter version: that the hub has.
    func overwrite(
        _ line: OutboxLine, as record: StoredRecord, known: KnownRevision, version: [UInt8]
    ) async throws
    /// The hub has this line's record under this sequence number; the line goes unless the record has changed since.
    /// - Parameter author: who signed it there; nil: this computer.
    func acknowledge(_ line: OutboxLine, sequence: UInt64, author: ItemID?) async throws
    /// The hub has nothing of this record of a vault any more.
    func forgetKnown(_ collection: RecordCollection, _ id: ItemID) async throws
    /// The hub's store is another one than before: what it has is read from the beginning and compared with what is here. Of the
    /// household the keys and names that this device wrote are sent once more.
    func beginComparing(of device: ItemID, documents: [String: [UInt8]?]) async throws
    /// Everything that the hub has was compared: what it does not have is sent, removals too.
    /// - Returns: how many records wait because of it.
    func endComparing(documents: [String: [UInt8]?]) async throws -> Int
    /// The highest sequence number of any record.
    func newestSequence() async throws -> UInt64
    /// Queued records and outbox lines.
    func waitingCount() async throws -> Int

    // MARK: In

    /// Nil: nothing is known from the hub.
    func known(_ collection: RecordCollection, _ id: ItemID) async throws -> KnownRevision?
    /// What a record of a vault replaces is kept as an `EarlierVersion`, in the same transaction.
    func take(_ incoming: IncomingChange) async throws
    /// The newest record of the household that is known under this name, own ones too.
    func householdRecord(_ collection: RecordCollection, _ id: ItemID) async throws -> HubRecord?
    func householdRecords(in collection: RecordCollection) async throws -> [HubRecord]
    /// Of every collection, tombstones left out.
    func vaultRecords() async throws -> [StoredRecord]
    /// Of vaults.
    func tombstones(by authors: Set<ItemID>) async throws -> [StoredRecord]
    /// Of vaults, tombstones too.
    func countRecords(by authors: Set<ItemID>) async throws -> Int
    /// Says that records of vaults were written. For one reader.
    var outboxChanges: AsyncStream<Void> { get }
    /// Versions from here of records that were changed elsewhere at the same time.
    func conflicts() async throws -> [StoredRecord]
    /// Writes a change and forgets these versions with it.
    func write(_ change: StateChange, resolving conflicts: [StoredRecord]) async throws

    // MARK: What other devices replaced

    /// Those replaced at this time or later, in seconds since 1970, the oldest first.
    func earlierVersions(since time: Double) async throws -> [EarlierVersion]
    /// Nil where it is not kept any more.
    func record(of version: EarlierVersion) async throws -> StoredRecord?
    /// The device whose change a record is, also where this computer sealed it anew since; nil where there is no such record.
    func writer(of collection: RecordCollection, _ id: ItemID) async throws -> ItemID?

    // MARK: Commands and households

    /// Remembers a command's id for ever; durable when it returns.
    /// - Returns: false where it is known already.
    func handle(command id: ItemID) async throws -> Bool
    /// Forgets what belongs to a hub, and has everything else told to the next one.
    func forgetHub(removing documents: [String]) async throws
}

extension SyncStore {
    func acknowledge(_ line: OutboxLine, sequence: UInt64) async throws {
        try await acknowledge(line, sequence: sequence, author: nil)
    }
}
