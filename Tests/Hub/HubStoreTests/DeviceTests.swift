import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct Devices {
        @Test(arguments: StoreKind.allCases)
        func aTokenIdentifiesItsDeviceImmediatelyAfterEveryChange(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            #expect(try await store.device(tokenHash: .random(32)) == nil)
            #expect(
                try await store.device(tokenHash: household.token)
                    == StoredDevice(
                        household: household.id, id: household.computer, role: .computer, state: .active, lastSeen: nil,
                        hasPush: false))
            let joined = try await household.joined(to: store)
            #expect(try await store.device(tokenHash: joined.token)?.state == .pending)
            try await store.appendToRoster(
                RosterAppendRequest(
                    number: 2, entry: .random(300),
                    change: .admit(device: joined.device, role: .companion, invitation: joined.invitation)),
                of: household.id)
            #expect(try await store.device(tokenHash: joined.token)?.state == .active)
            try await store.setPushSubscription(.sample, device: joined.device, household: household.id)
            #expect(try await store.device(tokenHash: joined.token)?.hasPush == true)
            #expect(
                try await store.devices(of: household.id).map(\.id).sorted()
                    == [household.computer, joined.device].sorted())
            try await store.appendToRoster(
                RosterAppendRequest(number: 3, entry: .random(300), change: .revoke(device: joined.device)),
                of: household.id)
            #expect(try await store.device(tokenHash: joined.token) == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func aRevocationThatTheStoreLostStillRevokesItsDevice(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (device, token) = try await household.admitted(to: store)
            let count = UInt64(try await store.roster(of: household.id, after: 0).count)
            let (entry, other, another) = (Data.random(300), HubID.random(), Data.random(300))
            // The store does not have the second device; the third entry admitted one.
            let lost: [(UInt64, Data, HubID?)] = [
                (count + 1, entry, device), (count + 2, another, other), (count + 3, entry, nil),
            ]
            for (number, entry, revoked) in lost {
                try await store.appendToRoster(
                    RosterAppendRequest(number: number, entry: entry, change: .restore(revoked: revoked)),
                    of: household.id)
            }
            #expect(try await store.device(tokenHash: token) == nil)
            #expect(try await store.device(tokenHash: household.token) != nil)
            #expect(try await store.roster(of: household.id, after: count) == [entry, another, entry])
            await expectRefusal(.notFound) {
                try await store.appendToRoster(
                    RosterAppendRequest(number: count + 4, entry: .random(300), change: .revoke(device: other)),
                    of: household.id)
            }
        }

        /// Look-ups run continuously while a token is revoked: no look-up that starts afterwards finds it.
        @Test(arguments: StoreKind.allCases)
        func aRevokedTokenIsNeverFoundDuringConcurrentLookups(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            for _ in 0..<10 {
                let (device, token) = try await household.admitted(to: store)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask { while try await store.device(tokenHash: token) != nil {} }
                    }
                    try await store.removeDevice(device, of: household.id)
                    #expect(try await store.device(tokenHash: token) == nil)
                    try await group.waitForAll()
                }
                #expect(try await store.device(tokenHash: token) == nil)
            }
        }

        @Test(arguments: StoreKind.allCases)
        func theLastSeenTimeIsRoundedToMinutesAndNeverDecreases(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let start = now - now % 60
            for (time, seen) in [(start + 59, start), (start - 100, start), (start + 61, start + 60)] {
                try await store.updateLastSeen(household.computer, of: household.id, at: time)
                #expect(try await store.devices(of: household.id)[0].lastSeen == seen)
            }
            try await store.updateLastSeen(household.computer, of: .random(), at: start + 999)
            #expect(try await store.devices(of: household.id)[0].lastSeen == start + 60)
        }

        @Test(arguments: StoreKind.allCases)
        func revocationDeletesTokenPushAndPINShareTogether(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (device, token) = try await household.admitted(to: store)
            try await store.setPushSubscription(.sample, device: device, household: household.id)
            try await store.setPINShare(.sample, device: device, household: household.id)
            let revocation = RosterAppendRequest(number: 3, entry: .random(300), change: .revoke(device: device))
            try await store.appendToRoster(revocation, of: household.id)
            #expect(try await store.device(tokenHash: token) == nil)
            #expect(try await store.devices(of: household.id).map(\.id) == [household.computer])
            #expect(try await store.pushSubscriptions(of: household.id).isEmpty)
            await expectRefusal(.notFound) {
                _ = try await store.attemptPIN(wrongVerifier, device: device, household: household.id, at: now)
            }
            // The same again changes nothing; for another device it fails.
            try await store.appendToRoster(revocation, of: household.id)
            await expectRefusal(.notFound) {
                try await store.appendToRoster(
                    RosterAppendRequest(number: 4, entry: .random(300), change: .revoke(device: device)),
                    of: household.id)
            }
            #expect(try await store.household(household.id).rosterNumber == 3)
        }

        @Test(arguments: StoreKind.allCases)
        func aDeviceThatLeftHasNoDataAndIsStillRevokedByTheRoster(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (device, token) = try await household.admitted(to: store)
            try await store.setPushSubscription(.sample, device: device, household: household.id)
            try await store.setPINShare(.sample, device: device, household: household.id)
            try await store.removeDevice(device, of: household.id)
            #expect(try await store.device(tokenHash: token) == nil)
            #expect(try await store.devices(of: household.id).count == 1)
            #expect(try await store.pushSubscriptions(of: household.id).isEmpty)
            await expectRefusal(.notFound) {
                _ = try await store.pinShare(device: device, household: household.id)
            }
            try await store.removeDevice(device, of: household.id)
            try await store.removeDevice(.random(), of: household.id)
            try await store.appendToRoster(
                RosterAppendRequest(number: 3, entry: .random(300), change: .revoke(device: device)), of: household.id)
            #expect(try await store.household(household.id).rosterNumber == 3)
        }

        @Test(arguments: StoreKind.allCases)
        func aDeviceOfAnotherHouseholdIsInaccessible(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (one, two) = (
                try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
            )
            let (device, token) = try await one.admitted(to: store)
            try await store.setPINShare(.sample, device: device, household: one.id)
            try await store.setPushSubscription(.sample, device: device, household: one.id)
            try await store.removeDevice(device, of: two.id)
            #expect(try await store.pushSubscriptions(of: two.id).isEmpty)
            let calls: [() async throws -> Void] = [
                { _ = try await store.pinShare(device: device, household: two.id) },
                { _ = try await store.attemptPIN(wrongVerifier, device: device, household: two.id, at: now) },
                {
                    try await store.replacePIN(
                        changeHash: wrongVerifier, verifier: wrongVerifier, share: wrongVerifier, device: device,
                        household: two.id)
                },
                { try await store.setPINShare(.sample, device: device, household: two.id) },
                { try await store.setPushSubscription(nil, device: device, household: two.id) },
                { try await store.setPushSubscription(.sample, device: device, household: two.id) },
                {
                    try await store.removePushSubscription(
                        endpoint: PushSubscriptionRequest.sample.endpoint, device: device, household: two.id)
                },
                {
                    try await store.appendToRoster(
                        RosterAppendRequest(number: 2, entry: .random(9), change: .revoke(device: device)), of: two.id)
                },
            ]
            for call in calls { await expectRefusal(.notFound) { try await call() } }
            #expect(try await store.device(tokenHash: token)?.hasPush == true)
            #expect(try await store.pinShare(device: device, household: one.id)?.failures == 0)
        }

        @Test(arguments: StoreKind.allCases)
        func aPushSubscriptionIsRemovedOnlyIfItIsStillTheSame(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let (store, household) = (open.store, try await SampleHousehold.founded(in: open.store))
            let device = household.computer
            try await store.setPushSubscription(.sample, device: device, household: household.id)
            var newer = PushSubscriptionRequest.sample
            newer.endpoint += "/newer"
            try await store.setPushSubscription(newer, device: device, household: household.id)
            let stored = [StoredPushSubscription(device: device, subscription: newer)]
            #expect(try await store.pushSubscriptions(of: household.id) == stored)
            try await store.removePushSubscription(
                endpoint: PushSubscriptionRequest.sample.endpoint, device: device, household: household.id)
            #expect(try await store.pushSubscriptions(of: household.id) == stored)
            try await store.removePushSubscription(endpoint: newer.endpoint, device: device, household: household.id)
            #expect(try await store.pushSubscriptions(of: household.id).isEmpty)
            try await store.setPushSubscription(newer, device: device, household: household.id)
            try await store.setPushSubscription(nil, device: device, household: household.id)
            #expect(try await store.pushSubscriptions(of: household.id).isEmpty)
        }
    }
}
