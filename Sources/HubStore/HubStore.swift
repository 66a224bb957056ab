public import Foundation
public import WireProtocol

/// Everything a hub keeps: households, their devices, invitations, rosters, sealed records, PIN shares, push subscriptions.
///
/// Nothing is acknowledged before it is durable, and every method is one transaction. Times are passed in, as seconds since
/// 1970. SQLite and PostgreSQL hold the same promises, which one conformance suite checks on both.
/// - Throws: every method throws `HubError` for what is refused; `unavailable` where the database can't be reached or is full.
public protocol HubStore: Sendable {
    // MARK: Households and devices

    /// - Returns: false where this very household was founded by this device and token before.
    /// - Throws: `conflict` where the household or the device exists otherwise.
    func foundHousehold(_ request: NewHouseholdRequest, at time: Int64) async throws -> Bool
    /// Whose token this is. Called for every request: cached where the store can be sure of it; `lastSeen` may then be older.
    /// - Parameter hash: SHA-256 of the token, 32 bytes.
    /// - Returns: nil for a token that was never given or is revoked.
    func device(tokenHash hash: Data) async throws -> StoredDevice?
    func household(_ household: HubID) async throws -> StoredHousehold
    func changeHousehold(_ household: HubID, eventDays: Int) async throws
    /// With everything that belongs to it; its blobs are garbage from then on.
    func removeHousehold(_ household: HubID) async throws
    func devices(of household: HubID) async throws -> [StoredDevice]
    /// To the minute, so that it is written rarely.
    func sawDevice(_ device: HubID, of household: HubID, at time: Int64) async throws
    /// The device leaves: its token, push subscription and PIN shares end, and `changes()` says `revoked`. The roster stays
    /// as it is, and an entry may still revoke the device. Unknown devices are passed over.
    func removeDevice(_ device: HubID, of household: HubID) async throws

    // MARK: Roster

    func roster(of household: HubID, after number: UInt64) async throws -> [Data]
    /// For a device that was revoked: the entries up to the one that revoked it, as long as the household is there.
    /// - Parameter tokenHash: SHA-256 of the token that it had, 32 bytes.
    /// - Returns: nil for a token that belonged to no such device.
    func roster(ofRevoked tokenHash: Data, after number: UInt64) async throws -> [Data]?
    /// Appends the entry and does what it says, in one transaction: `admit` makes the device that joined by the
    /// invitation active, `revoke` removes a device with its token, push subscription and PIN shares.
    /// The very same entry again, under the number it has, changes nothing.
    /// - Throws: `conflict` where the number is not the next; `notFound` where the invitation or the device is not there.
    func appendToRoster(_ request: RosterAppendRequest, of household: HubID) async throws

    // MARK: Invitations

    func invite(_ request: NewInvitationRequest, household: HubID, by device: HubID, at time: Int64) async throws
    /// One that was used in time stays readable for an hour, so that the owner may take a minute more to agree. The
    /// proof of its `join` is empty: it is not stored.
    /// - Throws: `notFound`, or `gone` after its time or its withdrawal.
    func invitation(_ id: HubID, household: HubID, at time: Int64) async throws -> StoredInvitation
    /// A device that joined by it and is not admitted yet goes too.
    /// - Throws: `notFound`.
    func withdrawInvitation(_ id: HubID, household: HubID) async throws
    /// Uses the invitation up and stores the device as pending. The same request again changes nothing.
    /// - Parameter proofHash: SHA-256 of the request's proof.
    /// - Returns: the household, and who invited.
    /// - Throws: `notFound` for an unknown id or a wrong proof, alike; `gone` where it has expired or another device joined;
    ///   `conflict` where a device of this id or token is in already.
    func join(
        _ request: JoinRequest, invitation: HubID, proofHash: Data, at time: Int64
    ) async throws -> StoredInvitation

    // MARK: Records

    /// Writes each record that is the next revision of what is stored (1 where there is nothing), in order, each with the
    /// household's next sequence number. The very same record again gets the number it has. What can't be written stands
    /// in its outcome and does not keep the others from being written: `conflict` has what is stored, and where nothing is
    /// stored a revision above 1 is an `error` with the code `conflict`.
    /// - Throws: `notFound` where there is no such household.
    func write(_ records: [HubRecord], household: HubID, at time: Int64) async throws -> [HubWriteOutcome]
    /// Ascending by sequence number, tombstones too; at most `limit` records and `maximumBytes` of sealed bytes, but at
    /// least one where there is one.
    func records(
        of household: HubID, after sequence: UInt64, collection: String?, limit: Int, maximumBytes: Int
    ) async throws -> HubRecordPage
    func record(_ collection: String, _ id: HubID, of household: HubID) async throws -> HubRecord?
    /// Forgets the records of these collections, tombstones too, that were written before the time. Sequence numbers stay used. In
    /// several transactions where there are many.
    /// - Returns: how many records were forgotten.
    func prune(_ collections: [String], of household: HubID, writtenBefore time: Int64) async throws -> Int
    func households() async throws -> [HubID]

    // MARK: Blobs

    /// What is known of a blob; its bytes are in a `HubBlobStore`.
    /// - Throws: `conflict` where a blob of this id has another size or hash; `unavailable` while its bytes are removed.
    func beginBlob(
        _ request: NewBlobRequest, by device: HubID, household: HubID, at time: Int64
    ) async throws -> BlobState
    func blob(_ id: HubID, of household: HubID) async throws -> StoredBlob?
    /// Back to 0 where the bytes turned out wrong.
    /// - Throws: `conflict` where `from` is not what is stored or it is complete; `badRequest` beyond its size.
    func advanceBlob(
        _ id: HubID, of household: HubID, from: UInt64, to: UInt64, isComplete: Bool, at time: Int64) async throws
    /// Removes what is known of blobs that no record names, of all households: a day after they got their last bytes, or at once where
    /// the device that began them was revoked; and where a record named them before, as long after it ceased to as the household keeps
    /// its events.
    /// - Returns: their ids and those of removed households, for their bytes to be removed. They are returned again until
    ///   `forgetGarbage`, so that nothing stays behind when the hub dies in between.
    func collectGarbage(at time: Int64) async throws -> [StoredBlobID]
    /// Their bytes are removed.
    func forgetGarbage(_ blobs: [StoredBlobID]) async throws

    // MARK: PIN shares

    /// - Throws: `conflict` where there is one and one of its PINs was right before.
    func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws
    /// Failures so far and when the next attempt is looked at; nil where there is no share.
    /// - Throws: `gone` where it was destroyed.
    func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter?
    /// Compares and counts in one step, which is durable before it is answered.
    /// - Throws: `gone` for a destroyed share, `tooMany` for one that has to wait; neither counts.
    func attemptPIN(_ verifier: Data, device: HubID, household: HubID, at time: Int64) async throws -> PINAttempt
    /// The entry whose change secret has this SHA-256 gives way to another one, as after a right PIN; the others stay.
    /// - Throws: `notFound` where no entry has it, `gone`.
    func replacePIN(
        changeHash: Data, verifier: Data, share: Data, device: HubID, household: HubID) async throws

    // MARK: Push

    func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws
    func pushSubscriptions(of household: HubID) async throws -> [StoredPushSubscription]
    /// Only where it is still this one.
    func removePushSubscription(endpoint: String, device: HubID, household: HubID) async throws

    // MARK: The hub's own

    /// Small secrets of the hub itself, such as its VAPID key. The first writer wins; everybody gets what is stored.
    func setting(_ name: String, orStore value: Data) async throws -> Data

    /// What happened in any hub of this database from now on, this one included, in an order that never shows a record
    /// before one with a smaller number of the same household. After a lost connection the stream says `.unknown`.
    func changes() async throws -> AsyncStream<HubChange>
    /// Ends the streams of `changes()` and closes the database.
    func close() async throws
}

/// What a hub tells the others that share its database.
public enum HubChange: Equatable, Sendable {
    /// The household has records up to this number.
    case records(household: HubID, through: UInt64)
    case roster(household: HubID, number: UInt64)
    case join(household: HubID, invitation: HubID)
    /// The device's streams have to end.
    case revoked(household: HubID, device: HubID)
    /// Something may have been missed: look at everything.
    case unknown
}

public struct StoredHousehold: Equatable, Sendable {
    public var household: HubID
    public var sequence: UInt64
    /// Without tombstones.
    public var records: Int
    /// Of records as `RecordDecision` counts them, and of complete or begun blobs.
    public var bytes: UInt64
    public var eventDays: Int
    /// Number of the newest roster entry.
    public var rosterNumber: UInt64
    /// The last is of this run of the store.
    public var generations: [HubGeneration]

    public init(
        household: HubID, sequence: UInt64, records: Int, bytes: UInt64, eventDays: Int, rosterNumber: UInt64,
        generations: [HubGeneration]
    ) {
        self.generations = generations
        self.household = household
        self.sequence = sequence
        self.records = records
        self.bytes = bytes
        self.eventDays = eventDays
        self.rosterNumber = rosterNumber
    }
}

public struct StoredDevice: Equatable, Sendable {
    public var household: HubID
    public var id: HubID
    public var role: HubDeviceRole
    public var state: HubDeviceState
    public var lastSeen: Int64?
    public var hasPush: Bool

    public init(
        household: HubID, id: HubID, role: HubDeviceRole, state: HubDeviceState, lastSeen: Int64?, hasPush: Bool
    ) {
        self.household = household
        self.id = id
        self.role = role
        self.state = state
        self.lastSeen = lastSeen
        self.hasPush = hasPush
    }
}

public struct StoredInvitation: Equatable, Sendable {
    public var id: HubID
    public var household: HubID
    public var inviter: HubID
    /// Seconds since 1970.
    public var expires: Int64
    public var join: JoinRequest?

    public init(id: HubID, household: HubID, inviter: HubID, expires: Int64, join: JoinRequest?) {
        self.id = id
        self.household = household
        self.inviter = inviter
        self.expires = expires
        self.join = join
    }
}

public struct StoredBlob: Equatable, Sendable {
    public var state: BlobState
    /// SHA-256 of all of it, 32 bytes.
    public var hash: Data

    public init(state: BlobState, hash: Data) {
        self.state = state
        self.hash = hash
    }
}

public struct StoredBlobID: Hashable, Sendable {
    public var household: HubID
    public var blob: HubID

    public init(household: HubID, blob: HubID) {
        self.household = household
        self.blob = blob
    }
}

public struct StoredPINCounter: Equatable, Sendable {
    public var failures: Int
    /// Seconds since 1970 from which on the next attempt is looked at.
    public var opensAt: Int64

    public init(failures: Int, opensAt: Int64) {
        self.failures = failures
        self.opensAt = opensAt
    }
}

public struct StoredPushSubscription: Equatable, Sendable {
    public var device: HubID
    public var subscription: PushSubscriptionRequest

    public init(device: HubID, subscription: PushSubscriptionRequest) {
        self.device = device
        self.subscription = subscription
    }
}

/// The bytes of blobs. What is known of them is in the `HubStore`.
public protocol HubBlobStore: Sendable {
    /// Durable when it returns. A piece at an offset below what is there overwrites it: an upload that was cut off is
    /// written again.
    func write(_ bytes: [UInt8], at offset: UInt64, of blob: StoredBlobID) async throws
    /// Fewer bytes at the end.
    func read(_ blob: StoredBlobID, offset: UInt64, length: Int) async throws -> [UInt8]
    func remove(_ blobs: [StoredBlobID]) async throws
}
