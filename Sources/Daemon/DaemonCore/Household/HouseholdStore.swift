public import HubAPI
public import SealedFormats
public import Sync

/// What a computer of a household stores besides its replica: other devices' records as they are, what they replaced,
/// and the commands that were performed.
public protocol HouseholdStore: SyncStore {
    /// The newest known record of the household with this name, this computer's own too.
    func householdRecord(_ collection: RecordCollection, _ id: ItemID) async throws -> HubRecord?
    func householdRecords(in collection: RecordCollection) async throws -> [HubRecord]
    /// Records of every collection, tombstones left out.
    func vaultRecords() async throws -> [StoredRecord]
    /// Tombstones of vaults.
    func tombstones(by authors: Set<ItemID>) async throws -> [StoredRecord]
    /// Counts records of vaults, tombstones too.
    func countRecords(by authors: Set<ItemID>, but collections: Set<RecordCollection>) async throws -> Int

    // MARK: What other devices replaced

    /// Those replaced at this time or later, in seconds since 1970, the oldest first.
    func earlierVersions(since time: Double) async throws -> [EarlierVersion]
    /// Nil where it is not kept any more.
    func record(of version: EarlierVersion) async throws -> StoredRecord?
    /// The device whose change a record is, even if this computer has sealed it again since; nil without such a record.
    func writer(of collection: RecordCollection, _ id: ItemID) async throws -> ItemID?

    // MARK: Commands and households

    /// Stores a command's id permanently; durable when it returns.
    /// - Returns: false if it is stored already.
    func handle(command id: ItemID) async throws -> Bool
    /// Removes a hub's state, and queues everything else for the next hub.
    func forgetHub(removing documents: [String]) async throws
}
