import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct Rosters {
        @Test(arguments: StoreKind.allCases)
        func detailsOfAnInvitationAreReadWithTheProofAndUseNothingUp(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (id, proof, details) = (HubID.random(), Data.random(32), Data.random(49))
            func invite(_ id: HubID, details: Data?) async throws {
                try await store.invite(
                    NewInvitationRequest(id: id, proofHash: proof, expiresInSeconds: 300, details: details),
                    household: household.id, by: household.computer, at: now)
            }
            try await invite(id, details: details)
            for _ in 0..<2 {
                #expect(try await store.invitationDetails(id, proofHash: proof, at: now + 299) == details)
            }
            await expectRefusal(.notFound) {
                _ = try await store.invitationDetails(id, proofHash: .random(32), at: now)
            }
            await expectRefusal(.notFound) {
                _ = try await store.invitationDetails(.random(), proofHash: proof, at: now)
            }
            await expectRefusal(.gone) { _ = try await store.invitationDetails(id, proofHash: proof, at: now + 300) }
            let plain = HubID.random()
            try await invite(plain, details: nil)
            await expectRefusal(.notFound) { _ = try await store.invitationDetails(plain, proofHash: proof, at: now) }
            let request = JoinRequest(
                proof: .random(32), device: .random(), role: .companion, tokenHash: .random(32), sealed: .random(300))
            _ = try await store.join(request, invitation: id, proofHash: proof, at: now)
            await expectRefusal(.gone) { _ = try await store.invitationDetails(id, proofHash: proof, at: now) }
            let withdrawn = HubID.random()
            try await invite(withdrawn, details: details)
            try await store.withdrawInvitation(withdrawn, household: household.id)
            await expectRefusal(.gone) {
                _ = try await store.invitationDetails(withdrawn, proofHash: proof, at: now)
            }
        }

        @Test(arguments: StoreKind.allCases)
        func theRosterGrowsOnlyByTheNextNumber(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let joined = try await household.joined(to: store)
            let entry = Data.random(347)
            let change = RosterChange.admit(device: joined.device, role: .companion, invitation: joined.invitation)
            for number: UInt64 in [0, 1, 3, .max] {
                await expectRefusal(.conflict) {
                    try await store.appendToRoster(
                        RosterAppendRequest(number: number, entry: entry, change: change), of: household.id)
                }
            }
            let request = RosterAppendRequest(number: 2, entry: entry, change: change)
            try await store.appendToRoster(request, of: household.id)
            try await store.appendToRoster(request, of: household.id)
            #expect(try await store.roster(of: household.id, after: 0) == [household.entry, entry])
            #expect(try await store.roster(of: household.id, after: 1) == [entry])
            #expect(try await store.roster(of: household.id, after: 2).isEmpty)
            #expect(try await store.roster(of: household.id, after: .max).isEmpty)
        }

        @Test(arguments: StoreKind.allCases)
        func aFullRosterAcceptsRevocationsOnly(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let phone = try await household.admitted(to: store).device
            var number = try await store.household(household.id).rosterNumber
            func append(_ change: RosterChange) async throws {
                let entry = Data(repeating: UInt8.random(in: 0...255), count: 4_096)
                try await store.appendToRoster(
                    RosterAppendRequest(number: number + 1, entry: entry, change: change), of: household.id)
                number += 1
            }
            while number < 505 { try await append(.restore(revoked: nil)) }
            let joined = try await household.joined(to: store)
            for change: RosterChange in [
                .restore(revoked: nil), .restore(revoked: .random()),
                .admit(device: joined.device, role: .companion, invitation: joined.invitation),
            ] {
                await expectRefusal(.quotaExceeded) { try await append(change) }
            }
            #expect(try await store.devices(of: household.id).first { $0.id == joined.device }?.state == .pending)
            try await append(.revoke(device: phone))
            #expect(try await store.devices(of: household.id).allSatisfy { $0.id != phone })
            // An answer of which clients accept 4 MiB.
            let answer = try JSONEncoder().encode(
                RosterPage(entries: try await store.roster(of: household.id, after: 0)))
            #expect(answer.count < 3 << 20)
        }

        @Test(arguments: StoreKind.allCases)
        func oneOfManyEntriesForOneNumberIsAccepted(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            var devices: [HubID] = []
            for _ in 0..<8 { devices.append(try await household.admitted(to: store).device) }
            let number = try await store.household(household.id).rosterNumber + 1
            let taken = await withTaskGroup(of: Bool.self) { group in
                for device in devices {
                    group.addTask {
                        do {
                            try await store.appendToRoster(
                                RosterAppendRequest(
                                    number: number, entry: .random(300), change: .revoke(device: device)),
                                of: household.id)
                            return true
                        } catch {
                            #expect((error as? HubError)?.code == .conflict)
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
            #expect(try await store.devices(of: household.id).count == 8)
            #expect(try await store.roster(of: household.id, after: number - 1).count == 1)
        }

        @Test(arguments: StoreKind.allCases)
        func theFounderAndAdmittedDevicesHaveTheirRoles(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = SampleHousehold()
            var request = household.request
            request.role = .administrator
            #expect(try await store.foundHousehold(request))
            for role in HubDeviceRole.allCases {
                let admitted = try await household.admitted(to: store, role: role)
                #expect(try await store.device(tokenHash: admitted.token)?.role == role)
            }
            #expect(try await store.device(tokenHash: household.token)?.role == .administrator)
            #expect(try await store.devices(of: household.id).filter { $0.role == .administrator }.count == 2)
        }

        @Test(arguments: StoreKind.allCases)
        func onlyADeviceThatJoinedIsAdmittedWithItsRole(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let other = try await SampleHousehold.founded(in: store)
            let joined = try await household.joined(to: store)
            let elsewhere = try await other.joined(to: store)
            func admit(_ device: HubID, _ role: HubDeviceRole, _ invitation: HubID) async throws {
                try await store.appendToRoster(
                    RosterAppendRequest(
                        number: 2, entry: .random(300),
                        change: .admit(device: device, role: role, invitation: invitation)), of: household.id)
            }
            await expectRefusal(.notFound) { try await admit(.random(), .companion, joined.invitation) }
            await expectRefusal(.notFound) { try await admit(joined.device, .companion, .random()) }
            await expectRefusal(.notFound) { try await admit(elsewhere.device, .companion, elsewhere.invitation) }
            for role in [HubDeviceRole.computer, .administrator] {
                await expectRefusal(.badRequest) { try await admit(joined.device, role, joined.invitation) }
            }
            #expect(try await store.household(household.id).rosterNumber == 1)
            #expect(try await store.device(tokenHash: joined.token)?.state == .pending)
            try await admit(joined.device, .companion, joined.invitation)
            #expect(try await store.device(tokenHash: joined.token)?.state == .active)
            #expect(try await store.device(tokenHash: elsewhere.token)?.state == .pending)
        }
    }

    @Suite struct Invitations {
        private func invited(
            _ household: SampleHousehold, in store: any HubStore
        ) async throws -> (invitation: HubID, proof: Data, request: JoinRequest) {
            let (invitation, proof) = (HubID.random(), Data.random(32))
            try await store.invite(
                NewInvitationRequest(id: invitation, proofHash: proof, expiresInSeconds: 300), household: household.id,
                by: household.computer, at: now)
            let request = JoinRequest(
                proof: .random(32), device: .random(), role: .companion, tokenHash: .random(32), sealed: .random(300))
            return (invitation, proof, request)
        }

        @Test(arguments: StoreKind.allCases)
        func anInvitationAdmitsOneDeviceAndIsIdempotent(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (invitation, proof, request) = try await invited(household, in: store)
            let empty = try await store.invitation(invitation, household: household.id, at: now)
            #expect(
                empty
                    == StoredInvitation(
                        id: invitation, household: household.id, inviter: household.computer, expires: now + 300,
                        join: nil))
            var joined = request
            joined.proof = Data()
            for time in [now + 299, now + 4_000] {
                let stored = try await store.join(request, invitation: invitation, proofHash: proof, at: time)
                #expect(stored.household == household.id && stored.inviter == household.computer)
                #expect(stored.join == joined)
            }
            #expect(try await store.invitation(invitation, household: household.id, at: now + 400).join == joined)
            var other = request
            other.device = .random()
            other.tokenHash = .random(32)
            await expectRefusal(.gone) {
                _ = try await store.join(other, invitation: invitation, proofHash: proof, at: now)
            }
            #expect(try await store.devices(of: household.id).count == 2)
        }

        @Test(arguments: StoreKind.allCases)
        func anUnknownInvitationAndAWrongProofAreRefusedTheSame(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (invitation, proof, request) = try await invited(household, in: store)
            var refusals: [HubError] = []
            for (id, hash) in [(invitation, Data.random(32)), (HubID.random(), proof)] {
                do {
                    _ = try await store.join(request, invitation: id, proofHash: hash, at: now)
                } catch let error as HubError {
                    refusals.append(error)
                }
            }
            #expect(refusals.count == 2 && refusals.first == refusals.last && refusals[0].code == .notFound)
            #expect(try await store.device(tokenHash: request.tokenHash) == nil)
        }

        @Test(arguments: StoreKind.allCases)
        func anExpiredOrWithdrawnInvitationIsGone(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            var (invitation, proof, request) = try await invited(household, in: store)
            await expectRefusal(.gone) {
                _ = try await store.join(request, invitation: invitation, proofHash: proof, at: now + 300)
            }
            await expectRefusal(.gone) {
                _ = try await store.invitation(invitation, household: household.id, at: now + 300)
            }
            (invitation, proof, request) = try await invited(household, in: store)
            try await store.withdrawInvitation(invitation, household: household.id)
            try await store.withdrawInvitation(invitation, household: household.id)
            await expectRefusal(.gone) {
                _ = try await store.join(request, invitation: invitation, proofHash: proof, at: now)
            }
            await expectRefusal(.gone) {
                _ = try await store.invitation(invitation, household: household.id, at: now)
            }
            await expectRefusal(.notFound) { try await store.withdrawInvitation(.random(), household: household.id) }
        }

        @Test(arguments: StoreKind.allCases)
        func withdrawalRemovesPendingDevicesAndKeepsAdmittedOnes(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let waiting = try await household.joined(to: store)
            try await store.withdrawInvitation(waiting.invitation, household: household.id)
            #expect(try await store.device(tokenHash: waiting.token) == nil)
            await expectRefusal(.notFound) {
                try await store.appendToRoster(
                    RosterAppendRequest(
                        number: 2, entry: .random(300),
                        change: .admit(device: waiting.device, role: .companion, invitation: waiting.invitation)),
                    of: household.id)
            }
            let joined = try await household.joined(to: store)
            try await store.appendToRoster(
                RosterAppendRequest(
                    number: 2, entry: .random(300),
                    change: .admit(device: joined.device, role: .companion, invitation: joined.invitation)),
                of: household.id)
            try await store.withdrawInvitation(joined.invitation, household: household.id)
            #expect(try await store.device(tokenHash: joined.token)?.state == .active)
        }

        @Test(arguments: StoreKind.allCases)
        func anInvitationIDIsUsedOnce(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (one, two) = (
                try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
            )
            let (invitation, proof, _) = try await invited(one, in: store)
            let request = NewInvitationRequest(id: invitation, proofHash: proof)
            try await store.invite(request, household: one.id, by: one.computer, at: now + 9)
            #expect(try await store.invitation(invitation, household: one.id, at: now).expires == now + 300)
            await expectRefusal(.conflict) {
                try await store.invite(request, household: two.id, by: two.computer, at: now)
            }
            await expectRefusal(.conflict) {
                try await store.invite(
                    NewInvitationRequest(id: invitation, proofHash: .random(32)), household: one.id, by: one.computer,
                    at: now)
            }
            await expectRefusal(.notFound) {
                _ = try await store.invitation(invitation, household: two.id, at: now)
            }
            await expectRefusal(.notFound) { try await store.withdrawInvitation(invitation, household: two.id) }
        }

        @Test(arguments: StoreKind.allCases)
        func noDeviceJoinsWithTheIDOrTokenOfAnAdmittedOne(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let other = try await SampleHousehold.founded(in: store)
            for (device, token) in [
                (household.computer, Data.random(32)), (other.computer, .random(32)), (.random(), household.token),
            ] {
                var (invitation, proof, request) = try await invited(household, in: store)
                (request.device, request.tokenHash) = (device, token)
                await expectRefusal(.conflict) { [request, invitation, proof] in
                    _ = try await store.join(request, invitation: invitation, proofHash: proof, at: now)
                }
                (request.device, request.tokenHash) = (.random(), .random(32))
                _ = try await store.join(request, invitation: invitation, proofHash: proof, at: now)
                (invitation, proof) = (.random(), Data())
            }
            #expect(try await store.device(tokenHash: household.token)?.id == household.computer)
        }

        @Test(arguments: StoreKind.allCases)
        func aPendingDeviceMayJoinByANewerInvitation(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let first = try await household.joined(to: store)
            let second = try await household.joined(to: store, device: first.device, at: now + 400)
            #expect(try await store.device(tokenHash: first.token) == nil)
            #expect(try await store.device(tokenHash: second.token)?.state == .pending)
            func admit(_ invitation: HubID) async throws {
                try await store.appendToRoster(
                    RosterAppendRequest(
                        number: 2, entry: .random(300),
                        change: .admit(device: first.device, role: .companion, invitation: invitation)),
                    of: household.id)
            }
            await expectRefusal(.notFound) { try await admit(first.invitation) }
            try await admit(second.invitation)
            #expect(try await store.device(tokenHash: second.token)?.state == .active)
        }

        @Test(arguments: StoreKind.allCases)
        func aDeviceThatWasNeverAdmittedIsRemovedWithItsInvitation(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let waiting = try await household.joined(to: store)
            let (_, token) = try await household.admitted(to: store)
            _ = try await household.joined(to: store, at: now + 86_400)
            #expect(try await store.device(tokenHash: waiting.token) == nil)
            #expect(try await store.device(tokenHash: token) != nil)
            #expect(try await store.devices(of: household.id).count == 3)
        }

        @Test(arguments: StoreKind.allCases)
        func onlyARevokedDeviceIsServedTheRosterUpToItsRevocation(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (device, token) = try await household.admitted(to: store)
            #expect(try await store.roster(ofRevoked: token, after: 0) == nil, "it belongs to the household")
            let before = try await store.roster(of: household.id, after: 0)
            let entry = Data.random(300)
            try await store.appendToRoster(
                RosterAppendRequest(number: 3, entry: entry, change: .revoke(device: device)), of: household.id)
            _ = try await household.admitted(to: store)
            #expect(try await store.roster(ofRevoked: token, after: 0) == before + [entry])
            #expect(try await store.roster(ofRevoked: token, after: 2) == [entry])
            #expect(try await store.roster(ofRevoked: token, after: 3) == [])
            #expect(try await store.roster(ofRevoked: .random(32), after: 0) == nil)
            #expect(try await store.roster(ofRevoked: household.token, after: 0) == nil)
            #expect(try await store.device(tokenHash: token) == nil)

            // An entry that the hub lost and receives again, as after a restore; then the household is removed.
            let (lost, lostToken) = try await household.admitted(to: store, role: .computer)
            try await store.appendToRoster(
                RosterAppendRequest(number: 6, entry: entry, change: .restore(revoked: lost)), of: household.id)
            #expect(try await store.roster(ofRevoked: lostToken, after: 5) == [entry])
            try await store.removeHousehold(household.id)
            #expect(try await store.roster(ofRevoked: token, after: 0) == nil)
        }
    }
}
