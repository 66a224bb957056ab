import Foundation
import HubAPI
import HubStore
import Synchronization

/// A store that lets a test act between two calls of the hub, and counts some of them.
final class ObservedStore: HubStore {
    private let base: any HubStore
    private let hook = Mutex<(@Sendable () async throws -> Void)?>(nil)

    private let counted = Mutex<[String: Int]>([:])

    private let listening: AsyncStream<Void>?

    /// - Parameter listening: nobody gets the store's changes before it ends.
    init(_ base: any HubStore, listening: AsyncStream<Void>? = nil) {
        self.base = base
        self.listening = listening
    }

    /// Runs once, after the next roster is read and before the hub gets it.
    func afterNextRoster(_ body: @escaping @Sendable () async throws -> Void) { hook.withLock { $0 = body } }

    func roster(of household: HubID, after number: UInt64) async throws -> [Data] {
        let entries = try await base.roster(of: household, after: number)
        let body = hook.withLock { hook in
            defer { hook = nil }
            return hook
        }
        try await body?()
        return entries
    }

    /// How often the method was called, and with how many blobs in all.
    func count(_ name: String) -> Int { counted.withLock { $0[name, default: 0] } }

    private func note(_ name: String, blobs: Int) {
        counted.withLock {
            $0[name, default: 0] += 1
            $0["blobs", default: 0] += blobs
        }
    }

    func blob(_ id: HubID, of household: HubID) async throws -> StoredBlob? {
        note("blob", blobs: 1)
        return try await base.blob(id, of: household)
    }

    func completeBlobs(_ ids: Set<HubID>, of household: HubID) async throws -> Set<HubID> {
        note("completeBlobs", blobs: ids.count)
        return try await base.completeBlobs(ids, of: household)
    }

    func changes() async throws -> AsyncStream<HubChange> {
        if let listening { for await _ in listening {} }
        return try await base.changes()
    }

    // MARK: Unchanged

    func foundHousehold(_ request: NewHouseholdRequest, _ terms: FoundingTerms) async throws -> Bool {
        try await base.foundHousehold(request, terms)
    }
    func device(tokenHash hash: Data) async throws -> StoredDevice? { try await base.device(tokenHash: hash) }
    func household(_ household: HubID) async throws -> StoredHousehold { try await base.household(household) }
    func changeHousehold(_ household: HubID, eventDays: Int) async throws {
        try await base.changeHousehold(household, eventDays: eventDays)
    }
    func removeHousehold(_ household: HubID) async throws { try await base.removeHousehold(household) }
    func devices(of household: HubID) async throws -> [StoredDevice] { try await base.devices(of: household) }
    func updateLastSeen(_ device: HubID, of household: HubID, at time: Int64) async throws {
        try await base.updateLastSeen(device, of: household, at: time)
    }
    func removeDevice(_ device: HubID, of household: HubID) async throws {
        try await base.removeDevice(device, of: household)
    }
    func rosterBytes(of household: HubID, after number: UInt64) async throws -> Int {
        try await base.rosterBytes(of: household, after: number)
    }
    func household(ofRevoked tokenHash: Data) async throws -> HubID? {
        try await base.household(ofRevoked: tokenHash)
    }
    func roster(ofRevoked tokenHash: Data, after number: UInt64) async throws -> [Data]? {
        try await base.roster(ofRevoked: tokenHash, after: number)
    }
    func appendToRoster(_ request: RosterAppendRequest, of household: HubID) async throws {
        try await base.appendToRoster(request, of: household)
    }
    func invite(_ request: NewInvitationRequest, household: HubID, by device: HubID, at time: Int64) async throws {
        try await base.invite(request, household: household, by: device, at: time)
    }
    func invitation(_ id: HubID, household: HubID, at time: Int64) async throws -> StoredInvitation {
        try await base.invitation(id, household: household, at: time)
    }
    func withdrawInvitation(_ id: HubID, household: HubID) async throws {
        try await base.withdrawInvitation(id, household: household)
    }
    func invitationDetails(_ id: HubID, proofHash: Data, at time: Int64) async throws -> Data {
        try await base.invitationDetails(id, proofHash: proofHash, at: time)
    }
    func join(
        _ request: JoinRequest, invitation: HubID, proofHash: Data, at time: Int64
    ) async throws -> StoredInvitation {
        try await base.join(request, invitation: invitation, proofHash: proofHash, at: time)
    }
    func write(_ records: [HubRecord], household: HubID, at time: Int64) async throws -> [HubWriteOutcome] {
        try await base.write(records, household: household, at: time)
    }
    func records(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> HubRecordPage {
        try await base.records(
            of: household, after: sequence, limit: limit, maximumBytes: maximumBytes)
    }
    func recordBytes(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> Int {
        try await base.recordBytes(
            of: household, after: sequence, limit: limit, maximumBytes: maximumBytes)
    }
    func record(_ collection: String, _ id: HubID, of household: HubID) async throws -> HubRecord? {
        try await base.record(collection, id, of: household)
    }
    func recordBytes(_ collection: String, _ id: HubID, of household: HubID) async throws -> Int {
        try await base.recordBytes(collection, id, of: household)
    }
    func prune(_ collection: String, of household: HubID, writtenBefore time: Int64, limit: Int) async throws -> Int {
        try await base.prune(collection, of: household, writtenBefore: time, limit: limit)
    }
    func households() async throws -> [HubID] { try await base.households() }
    func beginBlob(
        _ request: NewBlobRequest, by device: HubID, household: HubID, limit: UInt64, at time: Int64
    ) async throws -> BlobState {
        try await base.beginBlob(request, by: device, household: household, limit: limit, at: time)
    }
    func advanceBlob(
        _ id: HubID, of household: HubID, from: UInt64, to: UInt64, isComplete: Bool, at time: Int64
    ) async throws {
        try await base.advanceBlob(id, of: household, from: from, to: to, isComplete: isComplete, at: time)
    }
    func collectGarbage(at time: Int64) async throws -> [StoredBlobID] { try await base.collectGarbage(at: time) }
    func forgetGarbage(_ blobs: [StoredBlobID]) async throws { try await base.forgetGarbage(blobs) }
    func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws {
        try await base.setPINShare(request, device: device, household: household)
    }
    func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter? {
        try await base.pinShare(device: device, household: household)
    }
    func changePINShare<Result: Sendable>(
        of device: HubID, household: HubID, _ change: @Sendable @escaping (inout StoredPINShare) throws -> Result
    ) async throws -> Result {
        try await base.changePINShare(of: device, household: household, change)
    }
    func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws {
        try await base.setPushSubscription(subscription, device: device, household: household)
    }
    func pushSubscriptions(of household: HubID) async throws -> [StoredPushSubscription] {
        try await base.pushSubscriptions(of: household)
    }
    func removePushSubscription(endpoint: String, device: HubID, household: HubID) async throws {
        try await base.removePushSubscription(endpoint: endpoint, device: device, household: household)
    }
    func setReminders(
        _ request: PushRemindersRequest, device: HubID, household: HubID, at time: Int64
    ) async throws {
        try await base.setReminders(request, device: device, household: household, at: time)
    }
    func nextReminder() async throws -> Int64? { try await base.nextReminder() }
    func takeReminders(dueAt time: Int64, limit: Int) async throws -> [DueReminder] {
        try await base.takeReminders(dueAt: time, limit: limit)
    }
    func setting(_ name: String, orStore value: Data) async throws -> Data {
        try await base.setting(name, orStore: value)
    }
    func close() async throws { try await base.close() }
}
