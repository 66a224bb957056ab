public import Household
public import HubAPI
public import SealedFormats

/// A household that this device is in.
public struct SyncSession: Sendable {
    public let hub: any HubConnection
    public let secrets: HouseholdSecrets
    public let roster: Roster

    public init(hub: any HubConnection, secrets: HouseholdSecrets, roster: Roster) {
        self.hub = hub
        self.secrets = secrets
        self.roster = roster
    }

    /// This device's id at the hub.
    var device: HubID { HubID(secrets.device) }
}

/// What a device does with a record of the household that passed the checks.
public enum RecordUse: Sendable {
    /// The newest is stored.
    case keep
    /// It is not stored, but passed to `SyncDelegate.received`.
    case pass
    case ignore
}

/// What differs between computers and companions.
public protocol SyncDelegate: Sendable {
    // MARK: The household

    /// Nil: this device is in no household.
    var session: SyncSession? { get async }
    /// - Throws: why there is none.
    func requireSession() async throws -> SyncSession
    /// There is no session. If this device can make one by itself, it does.
    /// - Returns: whether to try again soon.
    func connect() async -> Bool
    /// Reads new entries of the roster from the hub.
    /// - Throws: `RosterViolation`, or what the connection throws.
    @discardableResult func followRoster() async throws -> Roster
    /// Reports a revocation to the hub that has not reached it yet.
    /// - Throws: `HubError` if it is to be tried again at the next connection, any other error if there is none.
    func finishRevocation() async throws
    /// Everything was read that the hub had when the roster had this entry as its newest.
    func answerOthers(upTo number: UInt64) async throws
    /// A device asks to join.
    func deviceJoined() async
    /// The hub rejects this device's token.
    /// - Returns: whether it was revoked, and has left the household now.
    func leaveIfRevoked() async throws -> Bool
    /// Revoked devices whose records were not all read yet.
    func departing() async -> Set<ItemID>

    // MARK: Records

    /// Whether records of a vault are stored here.
    func keepsRecords() async throws -> @Sendable (_ vault: ItemID) -> Bool
    /// - Parameter record: of the household; not of `keys`, which are all stored.
    func use(of record: CheckedRecord) -> RecordUse
    /// Stores the keys, if they are for this device.
    /// - Throws: if they do not open.
    func ingestKeys(_ record: CheckedRecord) async throws
    /// Records to pass; those received with them are stored.
    func received(_ records: [CheckedRecord])
    /// Records of vaults were stored.
    func vaultRecordsReceived()
    /// The hub has a record of a vault that this device wrote.
    /// - Parameter record: as it was sent: with what it `replaces`.
    func sent(_ record: HubRecord) async
    /// The same content under another revision.
    /// - Throws: if its key is not here now; it is tried again later.
    func resealed(_ record: StoredRecord, revision: UInt64) async throws -> StoredRecord

    /// A change is sealed under keys that a device has which left since. It is sent once it is sealed under the newest ones.
    /// - Returns: what that waits for, as a sentence.
    func waitsForNewestKeys() -> String

    // MARK: Reports

    func connectionChanged(isConnected: Bool)
    /// Everything that the hub has was read, and its stream is open.
    func caughtUp()
    /// Reports about the hub to the owner; each sentence once.
    func report(_ sentence: String) async
    /// Records for other devices that these will never receive.
    func reportLoss(_ sentence: String) async
    /// An error of the connection for people.
    func sentence(for error: any Error) -> String
    /// The hub's store was replaced, and everything was compared with it.
    /// - Parameter count: how many records the hub receives again.
    func sentence(afterSendingAgain count: Int) -> String
}
