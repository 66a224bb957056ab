import Foundation
import HubAPI
import HubStore
import Testing

/// The current time of these tests.
let now: Int64 = 1_800_000_000

extension HubID {
    static func random() -> HubID {
        let digits = (0..<32).map { _ in "0123456789abcdef".randomElement() ?? "0" }
        return HubID(String(digits)) ?? .random()
    }
}

extension Data {
    static func random(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8.random(in: 0...255) }) }
}

/// A household as its computer founds it.
struct SampleHousehold: Sendable {
    let id = HubID.random()
    let computer = HubID.random()
    let token = Data.random(32)
    let entry = Data.random(347)

    var request: NewHouseholdRequest {
        NewHouseholdRequest(household: id, device: computer, entry: entry, tokenHash: token)
    }

    static func founded(in store: any HubStore) async throws -> SampleHousehold {
        let household = SampleHousehold()
        #expect(try await store.foundHousehold(household.request))
        return household
    }

    func record(
        _ id: HubID = .random(), in collection: String = "notes", revision: UInt64 = 1, bytes: Int? = 100,
        blobs: [HubID] = []
    ) -> HubRecord {
        HubRecord(
            collection: collection, id: id, vault: self.id, revision: revision, epoch: 1, author: computer,
            sealed: bytes.map { Data.random($0) }, blobs: blobs, signature: .random(64))
    }

    /// Invites a device, and joins.
    func joined(
        to store: any HubStore, role: HubDeviceRole = .companion, device: HubID = .random(), at time: Int64 = now
    ) async throws -> (device: HubID, token: Data, invitation: HubID) {
        let (invitation, proof, token) = (HubID.random(), Data.random(32), Data.random(32))
        try await store.invite(
            NewInvitationRequest(id: invitation, proofHash: proof), household: id, by: computer, at: time)
        let request = JoinRequest(
            proof: Data(), device: device, role: role, tokenHash: token, sealed: .random(200))
        _ = try await store.join(request, invitation: invitation, proofHash: proof, at: time)
        return (device, token, invitation)
    }

    /// A device that is admitted.
    func admitted(
        to store: any HubStore, role: HubDeviceRole = .companion
    ) async throws -> (device: HubID, token: Data) {
        let (device, token, invitation) = try await joined(to: store, role: role)
        let number = try await store.household(id).rosterNumber + 1
        try await store.appendToRoster(
            RosterAppendRequest(
                number: number, entry: .random(347),
                change: .admit(device: device, role: role, invitation: invitation)), of: id)
        return (device, token)
    }
}

extension HubStore {
    /// Begins a blob in a household without a limit.
    func beginBlob(
        _ request: NewBlobRequest, by device: HubID, household: HubID, at time: Int64
    ) async throws -> BlobState {
        try await beginBlob(request, by: device, household: household, limit: .max, at: time)
    }
}

/// Two records and an upload in a store that is closed, migrated back to the previous version, and opened again.
struct UploadOfTheVersionBefore {
    private let household: SampleHousehold
    private let blob: NewBlobRequest

    /// Closes the store.
    static func begun(in store: any HubStore) async throws -> UploadOfTheVersionBefore {
        let household = try await SampleHousehold.founded(in: store)
        _ = try await store.write(
            [household.record(), household.record(bytes: nil)], household: household.id, at: now)
        let blob = NewBlobRequest(id: .random(), size: 5, hash: .random(32))
        _ = try await store.beginBlob(blob, by: household.computer, household: household.id, at: now)
        try await store.close()
        return UploadOfTheVersionBefore(household: household, blob: blob)
    }

    /// Checks that each record counts 512 bytes more, the blob its row and its block, and that the upload ends. Closes
    /// the store.
    func continues(in store: any HubStore) async throws {
        #expect(try await store.household(household.id).bytes == 100 + 4_608 + 2 * 512)
        #expect(try await store.collectGarbage(at: now + 1).isEmpty)
        try await store.advanceBlob(blob.id, of: household.id, from: 0, to: 5, isComplete: true, at: now)
        try await store.close()
    }
}

/// Expects a refusal with this code and a whole sentence.
func expectRefusal(
    _ code: HubError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("was not refused with \(code)", sourceLocation: sourceLocation)
    } catch let error as HubError {
        #expect(error.code == code, sourceLocation: sourceLocation)
        #expect(error.message.hasSuffix("."), sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error) is no HubError", sourceLocation: sourceLocation)
    }
}
