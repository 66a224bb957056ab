import Foundation
import HubAPI
import HubStore
import Testing

/// The behaviour of every store, tested with each one.
@Suite enum Conformance {}

extension Conformance {
    @Suite struct Households {
        @Test(arguments: StoreKind.allCases)
        func foundingAHouseholdIsIdempotent(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            #expect(try await store.foundHousehold(household.request) == false)
            let stored = try await store.household(household.id)
            #expect(
                stored
                    == StoredHousehold(
                        household: household.id, sequence: 0, records: 0, bytes: 0, eventDays: 30, rosterNumber: 1,
                        generations: stored.generations))
            #expect(stored.generations.map(\.after) == [0])
            #expect(try await store.households() == [household.id])
            #expect(try await store.roster(of: household.id, after: 0) == [household.entry])
        }

        @Test(arguments: StoreKind.allCases)
        func aHouseholdThatExistsWithOtherValuesIsRefused(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            var other = household.request
            other.tokenHash = .random(32)
            await expectRefusal(.conflict) { _ = try await store.foundHousehold(other) }
            other = household.request
            other.entry = .random(347)
            await expectRefusal(.conflict) { _ = try await store.foundHousehold(other) }
            other = household.request
            other.household = .random()
            await expectRefusal(.conflict) { _ = try await store.foundHousehold(other) }
            other.device = .random()
            await expectRefusal(.conflict) { _ = try await store.foundHousehold(other) }  // its token
            #expect(try await store.households() == [household.id])
        }

        @Test(arguments: StoreKind.allCases)
        func retentionIsRaisedAndNeverLowered(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let (store, household) = (open.store, SampleHousehold())
            _ = try await store.foundHousehold(household.request, FoundingTerms(eventDays: 7))
            #expect(try await store.household(household.id).eventDays == 7)
            for _ in 0..<2 { try await store.changeHousehold(household.id, eventDays: 60) }
            await expectRefusal(.forbidden) { try await store.changeHousehold(household.id, eventDays: 59) }
            #expect(try await store.household(household.id).eventDays == 60)
        }

        @Test(arguments: StoreKind.allCases)
        func anUnknownHouseholdIsNotFoundByAnyCall(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let (store, sample, id) = (open.store, SampleHousehold(), HubID.random())
            let calls: [() async throws -> Void] = [
                { _ = try await store.household(sample.id) },
                { try await store.changeHousehold(sample.id, eventDays: 3) },
                { try await store.removeHousehold(sample.id) },
                { _ = try await store.roster(of: sample.id, after: 0) },
                {
                    try await store.appendToRoster(
                        RosterAppendRequest(number: 1, entry: Data([1]), change: .revoke(device: id)), of: sample.id)
                },
                {
                    try await store.invite(
                        NewInvitationRequest(id: id, proofHash: .random(32)), household: sample.id, by: id, at: now)
                },
                { _ = try await store.invitation(id, household: sample.id, at: now) },
                { try await store.withdrawInvitation(id, household: sample.id) },
                { _ = try await store.write([sample.record()], household: sample.id, at: now) },
                {
                    _ = try await store.records(
                        of: sample.id, after: 0, limit: 9, maximumBytes: 9)
                },
                { _ = try await store.record("notes", id, of: sample.id) },
                { _ = try await store.prune(["notes"], of: sample.id, writtenBefore: now) },
                {
                    _ = try await store.beginBlob(
                        NewBlobRequest(id: id, size: 9, hash: .random(32)), by: sample.computer, household: sample.id,
                        at: now)
                },
                { _ = try await store.blob(id, of: sample.id) },
                { _ = try await store.completeBlobs([id], of: sample.id) },
                { try await store.advanceBlob(id, of: sample.id, from: 0, to: 1, isComplete: false, at: now) },
                { _ = try await store.pinShare(device: id, household: sample.id) },
                { _ = try await store.attemptPIN(wrongVerifier, device: id, household: sample.id, at: now) },
                {
                    try await store.replacePIN(
                        changeHash: wrongVerifier, verifier: wrongVerifier, share: wrongVerifier, device: id,
                        household: sample.id)
                },
                { try await store.setPushSubscription(nil, device: id, household: sample.id) },
            ]
            for call in calls { await expectRefusal(.notFound) { try await call() } }
            #expect(try await store.devices(of: sample.id).isEmpty)
            #expect(try await store.pushSubscriptions(of: sample.id).isEmpty)
        }

        @Test(arguments: StoreKind.allCases)
        func aRemovedHouseholdLeavesOnlyTheIDsOfItsBlobs(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let other = try await SampleHousehold.founded(in: store)
            let companion = try await household.admitted(to: store)
            let blob = HubID.random()
            _ = try await store.beginBlob(
                NewBlobRequest(id: blob, size: 5, hash: .random(32)), by: household.computer, household: household.id,
                at: now)
            _ = try await store.write([household.record()], household: household.id, at: now)
            _ = try await store.write([other.record()], household: other.id, at: now)
            #expect(try await store.device(tokenHash: household.token) != nil)

            try await store.removeHousehold(household.id)
            #expect(try await store.device(tokenHash: household.token) == nil)
            #expect(try await store.device(tokenHash: companion.token) == nil)
            #expect(try await store.households() == [other.id])
            await expectRefusal(.notFound) { _ = try await store.household(household.id) }
            let garbage = [StoredBlobID(household: household.id, blob: blob)]
            #expect(try await store.collectGarbage(at: 0) == garbage)
            #expect(try await store.household(other.id).records == 1)
            // A household that is founded again is empty.
            #expect(try await store.foundHousehold(household.request))
            #expect(try await store.household(household.id).sequence == 0)
            #expect(try await store.record("notes", .random(), of: household.id) == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func theFirstWriterOfASettingWins(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let values = try await withThrowingTaskGroup(of: Data.self) { group in
                for number in 0..<16 {
                    group.addTask { try await store.setting("key", orStore: Data([UInt8(number)])) }
                }
                return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
            }
            #expect(values.count == 1)
            #expect(try await store.setting("key", orStore: Data()) == values.first)
            #expect(try await store.setting("other", orStore: Data([7])) == Data([7]))
        }
    }
}
