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

    public init(number: Int64, record: StoredRecord, replaces: UInt64) {
        self.number = number
        self.record = record
        self.replaces = replaces
    }
}

/// What is known of a record from the hub.
public struct KnownRevision: Equatable, Sendable {
    public var revision: UInt64
    public var sequence: UInt64

    public init(revision: UInt64, sequence: UInt64) {
        self.revision = revision
        self.sequence = sequence
    }
}

/// What came from the hub and was found right, taken over in one transaction.
public struct IncomingChange: Sendable {
    /// Of vaults; each above the revision that is known.
    public var vaultRecords: [(record: StoredRecord, sequence: UInt64)] = []
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
    /// What the hub has of a line's record is replaced, whatever it is: the line's record is this one from now on, unless it
    /// has changed since.
    func overwrite(_ line: OutboxLine, as record: StoredRecord, known: KnownRevision) async throws
    /// The hub has this line's record under this sequence number; the line goes unless the record has changed since.
    func acknowledge(_ line: OutboxLine, sequence: UInt64) async throws
    /// The hub has nothing of this record of a vault any more.
    func forgetKnown(_ collection: RecordCollection, _ id: ItemID) async throws
    /// The hub has lost what it had: everything is sent once more, of the household the keys and names that this device wrote.
    func tellEverything(of device: ItemID) async throws
    /// Queued records and outbox lines.
    func waitingCount() async throws -> Int

    // MARK: In

    /// Nil: nothing is known from the hub.
    func known(_ collection: RecordCollection, _ id: ItemID) async throws -> KnownRevision?
    func take(_ incoming: IncomingChange) async throws
    /// The newest record of the household that is known under this name, own ones too.
    func householdRecord(_ collection: RecordCollection, _ id: ItemID) async throws -> HubRecord?
    func householdRecords(in collection: RecordCollection) async throws -> [HubRecord]
    /// Of every collection, tombstones left out.
    func vaultRecords() async throws -> [StoredRecord]
    /// Of vaults, tombstones too.
    func records(by authors: Set<ItemID>) async throws -> [StoredRecord]
    /// Says that records of vaults were written. For one reader.
    var outboxChanges: AsyncStream<Void> { get }
    /// Versions from here of records that were changed elsewhere at the same time.
    func conflicts() async throws -> [StoredRecord]
    /// Writes a change and forgets these versions with it.
    func write(_ change: StateChange, resolving conflicts: [StoredRecord]) async throws

    // MARK: Commands and households

    /// Remembers a command's id for ever; durable when it returns.
    /// - Returns: false where it is known already.
    func handle(command id: ItemID) async throws -> Bool
    /// Forgets what belongs to a hub, and has everything else told to the next one.
    func forgetHub(removing documents: [String]) async throws
}
