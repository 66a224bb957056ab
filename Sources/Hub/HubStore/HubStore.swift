public import Foundation
public import HubAPI

/// Everything that a hub stores: households, devices, invitations, rosters, sealed records, PIN shares, push
/// subscriptions.
///
/// Nothing is acknowledged before it is durable, and every method is one transaction. Times are parameters, in seconds
/// since 1970. SQLite and PostgreSQL give the same guarantees; one conformance suite checks both.
/// - Throws: every method throws `HubError` for a refusal; `unavailable` if the database is unreachable or full.
public protocol HubStore: Sendable {
    // MARK: Households and devices

    /// Founds a household, and uses up the invitation in the same transaction.
    /// - Returns: false if the same device founded this household with this token before.
    /// - Throws: `conflict` if the household or the device exists otherwise; `gone` for an invitation that has expired or
    ///   was used; `notFound` for an unknown one; `forbidden` beyond the limit of households.
    func foundHousehold(_ request: NewHouseholdRequest, _ terms: FoundingTerms) async throws -> Bool
    /// The device with this token. Called for every request, and cached if the store is sure of it; `lastSeen` may then
    /// be older.
    /// - Parameter hash: SHA-256 of the token, 32 bytes.
    /// - Returns: nil for a token that never existed or is revoked.
    func device(tokenHash hash: Data) async throws -> StoredDevice?
    func household(_ household: HubID) async throws -> StoredHousehold
    /// - Throws: `forbidden` for fewer days than before: what is kept for them could be needed to revert a change.
    func changeHousehold(_ household: HubID, eventDays: Int) async throws
    /// Removes the household with everything that belongs to it; its blobs are garbage from then on.
    func removeHousehold(_ household: HubID) async throws
    func devices(of household: HubID) async throws -> [StoredDevice]
    /// Stored to the minute, so that it is written rarely.
    func updateLastSeen(_ device: HubID, of household: HubID, at time: Int64) async throws
    /// The device leaves: its token, push subscription and PIN shares are removed, and `changes()` reports `revoked`.
    /// The roster is unchanged, and an entry may still revoke the device. Unknown devices are ignored.
    func removeDevice(_ device: HubID, of household: HubID) async throws

    // MARK: Roster

    func roster(of household: HubID, after number: UInt64) async throws -> [Data]
    /// An upper bound of the bytes of what both `roster` methods return, so that memory can be reserved first.
    func rosterBytes(of household: HubID, after number: UInt64) async throws -> Int
    /// - Parameter tokenHash: SHA-256 of a token that a revoked device had, 32 bytes.
    /// - Returns: nil for a token of no such device.
    func household(ofRevoked tokenHash: Data) async throws -> HubID?
    /// For a revoked device: the entries up to the one that revoked it, as long as the household exists.
    /// - Parameter tokenHash: SHA-256 of the token that it had, 32 bytes.
    /// - Returns: nil for a token of no such device.
    func roster(ofRevoked tokenHash: Data, after number: UInt64) async throws -> [Data]?
    /// Appends the entry and applies it in one transaction: `admit` makes the device that joined by the invitation
    /// active, `revoke` removes a device with its token, push subscription and PIN shares. Repeating the same entry
    /// under its number changes nothing.
    /// - Throws: `conflict` if the number is not the next; `notFound` if the invitation or the device doesn't exist;
    ///   `quotaExceeded` beyond `RosterSize`.
    func appendToRoster(_ request: RosterAppendRequest, of household: HubID) async throws

    // MARK: Invitations

    /// - Throws: `conflict` for a known id; `tooMany` beyond `StoredInvitation.maximumUnused`.
    func invite(_ request: NewInvitationRequest, household: HubID, by device: HubID, at time: Int64) async throws
    /// One that was used in time remains readable for an hour, so that the owner may take longer to agree. The proof of
    /// its `join` is empty: it isn't stored.
    /// - Throws: `notFound`, or `gone` after it expired or was withdrawn.
    func invitation(_ id: HubID, household: HubID, at time: Int64) async throws -> StoredInvitation
    /// Also removes a device that joined by it and isn't admitted yet.
    /// - Throws: `notFound`.
    func withdrawInvitation(_ id: HubID, household: HubID) async throws
    /// - Parameter proofHash: SHA-256 of the request's proof.
    /// - Throws: `notFound` for an unknown id as for a wrong proof, and for an invitation without details; `gone` if it
    ///   has expired, was withdrawn, or a device joined.
    func invitationDetails(_ id: HubID, proofHash: Data, at time: Int64) async throws -> Data

    /// Uses the invitation up and stores the device as pending. Repeating the same request changes nothing.
    /// - Parameter proofHash: SHA-256 of the request's proof.
    /// - Returns: the household, and the device that invited.
    /// - Throws: `notFound` for an unknown id as for a wrong proof; `gone` if it has expired or another device joined;
    ///   `conflict` if a device with this id or token has joined already.
    func join(
        _ request: JoinRequest, invitation: HubID, proofHash: Data, at time: Int64
    ) async throws -> StoredInvitation

    // MARK: Records

    /// Writes each record that is the next revision of the stored one (1 if there is none), in order, each with the
    /// household's next sequence number. Repeating a stored record returns its number. A record that can't be written
    /// is reported in its outcome and doesn't affect the others: `conflict` has the stored record; without a stored
    /// record, a revision above 1 is an `error` with the code `conflict`.
    /// - Throws: `notFound` if the household doesn't exist.
    func write(_ records: [HubRecord], household: HubID, at time: Int64) async throws -> [HubWriteOutcome]
    /// Ascending by sequence number, with tombstones; at most `limit` records and `maximumBytes` of sealed bytes, but
    /// at least one record if there is one.
    func records(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> HubRecordPage
    /// The bytes of what `records` returns for the same parameters, each record as `RecordDecision` counts it. Reads no
    /// sealed bytes, so that memory can be reserved before they are read.
    func recordBytes(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> Int
    func record(_ collection: String, _ id: HubID, of household: HubID) async throws -> HubRecord?
    /// The bytes of what `record` returns.
    func recordBytes(_ collection: String, _ id: HubID, of household: HubID) async throws -> Int
    /// Removes records of a collection that were written before the time, also tombstones, in one transaction. Their
    /// sequence numbers aren't used again. Only records of `commands`, `events` and `requests` are removed.
    /// - Parameter limit: the most records to remove.
    /// - Returns: how many were removed, fewer than `limit` if they are large; 0 if none is left.
    func prune(_ collection: String, of household: HubID, writtenBefore time: Int64, limit: Int) async throws -> Int
    func households() async throws -> [HubID]

    // MARK: Blobs

    /// The stored description of a blob; its bytes are in a `HubBlobStore`.
    /// - Parameter limit: the bytes that the household may have with the blob; a blob that is known already is not
    ///   compared.
    /// - Throws: `conflict` if a blob of this id has another size or hash; `unavailable` while its bytes are being
    ///   removed; `quotaExceeded`.
    func beginBlob(
        _ request: NewBlobRequest, by device: HubID, household: HubID, limit: UInt64, at time: Int64
    ) async throws -> BlobState
    func blob(_ id: HubID, of household: HubID) async throws -> StoredBlob?
    /// - Returns: those of these blobs whose bytes are complete.
    func completeBlobs(_ ids: Set<HubID>, of household: HubID) async throws -> Set<HubID>
    /// Sets how many bytes are received; back to 0 if the bytes were wrong.
    /// - Throws: `conflict` if `from` isn't the stored value or the blob is complete; `badRequest` beyond its size.
    func advanceBlob(
        _ id: HubID, of household: HubID, from: UInt64, to: UInt64, isComplete: Bool, at time: Int64) async throws
    /// Removes the descriptions of blobs that no record names, in all households: a day after their last bytes, or at
    /// once if the device that began them was revoked; if a record named them before, after as long as the household
    /// keeps events.
    /// - Returns: their ids and those of removed households, for the caller to remove the bytes. They are returned
    ///   again until `forgetGarbage`, so that nothing remains if the hub dies in between.
    func collectGarbage(at time: Int64) async throws -> [StoredBlobID]
    /// The bytes of these blobs are removed.
    func forgetGarbage(_ blobs: [StoredBlobID]) async throws

    // MARK: PIN shares

    /// - Throws: `conflict` if there is one and one of its PINs was right before.
    func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws
    /// The failures so far and when the next attempt is accepted; nil if there is no share.
    /// - Throws: `gone` if it was destroyed.
    func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter?
    /// Changes the share in one step, which is durable before the result is returned.
    /// - Throws: `notFound` if there is none; what the change throws, and then nothing is stored.
    func changePINShare<Result: Sendable>(
        of device: HubID, household: HubID, _ change: @Sendable @escaping (inout StoredPINShare) throws -> Result
    ) async throws -> Result

    // MARK: Push

    /// Nil removes it, and the device's reminders with it; another subscription keeps them.
    func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws
    func pushSubscriptions(of household: HubID) async throws -> [StoredPushSubscription]
    /// Removes the subscription, and the device's reminders, only if it still has this endpoint.
    func removePushSubscription(endpoint: String, device: HubID, household: HubID) async throws
    /// Replaces the device's list of this id; beyond `maximumLists`, the one that was set first.
    /// - Throws: `conflict` without a push subscription.
    func setReminders(
        _ request: PushRemindersRequest, device: HubID, household: HubID, at time: Int64) async throws
    /// The time of the earliest reminder of all devices; nil without reminders.
    func nextReminder() async throws -> Int64?
    /// Removes and returns the reminders of this time and before, the earliest first.
    func takeReminders(dueAt time: Int64, limit: Int) async throws -> [DueReminder]

    // MARK: The hub itself

    /// Small secrets of the hub itself, such as its VAPID key. The first write wins; every caller gets the stored
    /// value.
    func setting(_ name: String, orStore value: Data) async throws -> Data

    /// The changes in any hub of this database from now on, including this one. A household's records are reported in
    /// the order of their numbers. After a lost connection the stream yields `.unknown`.
    func changes() async throws -> AsyncStream<HubChange>
    /// Ends the streams of `changes()` and closes the database.
    func close() async throws
}

extension HubStore {
    /// Removes all records of these collections that were written before the time. Many are removed in several
    /// transactions, so that others don't wait for all of it.
    /// - Returns: how many records were removed.
    public func prune(
        _ collections: [String], of household: HubID, writtenBefore time: Int64
    ) async throws -> Int {
        let limit = 1_000
        var total = 0
        for collection in collections {
            // A store may remove fewer at once.
            var last = 1
            while last > 0 {
                last = try await prune(collection, of: household, writtenBefore: time, limit: limit)
                total += last
            }
        }
        return total
    }

    /// Compares and counts in one step, which is durable before the result is returned.
    /// - Throws: `gone` for a destroyed share, `tooMany` for one that has to wait; neither counts.
    public func attemptPIN(
        _ verifier: Data, device: HubID, household: HubID, at time: Int64
    ) async throws -> PINAttempt {
        try await changePINShare(of: device, household: household) { try $0.attempt(verifier, at: time) }
    }

    /// Replaces the entry whose change secret has this SHA-256, as after a right PIN; the others are unchanged.
    /// - Throws: `notFound` if no entry has it, `gone`.
    public func replacePIN(
        changeHash: Data, verifier: Data, share: Data, device: HubID, household: HubID
    ) async throws {
        try await changePINShare(of: device, household: household) {
            try $0.replace(changeHash: changeHash, verifier: verifier, share: share)
        }
    }
}

/// A change that a hub reports to the others that share its database.
public enum HubChange: Equatable, Sendable {
    /// The household has records up to this number.
    case records(household: HubID, through: UInt64)
    case roster(household: HubID, number: UInt64)
    case join(household: HubID, invitation: HubID)
    /// The device's streams must end.
    case revoked(household: HubID, device: HubID)
    /// Changes may have been missed: read everything again.
    case unknown
}

public struct StoredHousehold: Equatable, Sendable {
    public var household: HubID
    public var sequence: UInt64
    /// Without tombstones.
    public var records: Int
    /// Records as `RecordDecision` counts them, and complete or begun blobs as `BlobUsage` does.
    public var bytes: UInt64
    public var eventDays: Int
    public var rosterNumber: UInt64
    /// The last one is of the store's current run.
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

extension StoredInvitation {
    /// Seconds after its expiry in which a used invitation remains readable, and an unused one is reported as expired.
    package static let afterTime: Int64 = 3_600
    /// The most unused invitations of a household. One that has expired counts for another minute, so that short ones
    /// don't fill the hub either.
    package static let maximumUnused = 32
    package static let countedAfterTime: Int64 = 60

    /// - Throws: `gone` after it expired or was withdrawn.
    package func requireReadable(isWithdrawn: Bool, at time: Int64) throws {
        let last = expires + (join == nil ? 0 : Self.afterTime)
        if isWithdrawn || last <= time { throw HubError.invitationIsOver }
    }

    /// - Throws: `gone` after it expired, was withdrawn or used.
    package func requireUnused(isWithdrawn: Bool, at time: Int64) throws {
        guard join == nil, !isWithdrawn, expires > time else { throw HubError.invitationIsOver }
    }

    /// The invitation after this request; nil if the same request was stored before.
    /// - Throws: `gone` if it has expired or was withdrawn, or another device joined.
    package func joined(by request: JoinRequest, isWithdrawn: Bool, at time: Int64) throws -> StoredInvitation? {
        var joined = self
        joined.join = request
        joined.join?.proof = Data()
        let isAllowed = join == nil ? expires > time : self == joined
        guard isAllowed, !isWithdrawn else { throw HubError.invitationIsOver }
        return join == nil ? joined : nil
    }
}

public struct StoredBlob: Equatable, Sendable {
    public var state: BlobState
    /// SHA-256 of the whole blob, 32 bytes.
    public var hash: Data

    public init(state: BlobState, hash: Data) {
        self.state = state
        self.hash = hash
    }
}

extension StoredBlob {
    /// - Throws: as `advanceBlob`.
    package func requireAdvance(from: UInt64, to: UInt64, isComplete: Bool) throws {
        guard state.received == from, !state.isComplete else { throw HubError.blobOffset(state.received) }
        guard to <= state.size, to >= from || to == 0, !isComplete || to == state.size else {
            throw HubError.blobBounds
        }
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
    /// The time, in seconds since 1970, from which the next attempt is accepted.
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

/// The bytes of blobs. Their descriptions are in the `HubStore`.
public protocol HubBlobStore: Sendable {
    /// Durable when it returns. A piece at an offset below the stored length overwrites it: an interrupted upload is
    /// written again.
    func write(_ bytes: [UInt8], at offset: UInt64, of blob: StoredBlobID) async throws
    /// Returns fewer bytes at the end of the blob.
    func read(_ blob: StoredBlobID, offset: UInt64, length: Int) async throws -> [UInt8]
    func remove(_ blobs: [StoredBlobID]) async throws
}
