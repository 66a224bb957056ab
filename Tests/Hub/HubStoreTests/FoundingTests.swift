import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    /// What a founder's invitation permits, and that it does so once.
    @Suite struct Foundings {
        private func start(_ id: HubID = .random(), expires: Int64 = now + 3_600) -> FoundingTerms {
            FoundingTerms(invitation: .start(id: id, expires: expires), time: now)
        }

        @Test(arguments: StoreKind.allCases)
        func aStartLinkFoundsOneHousehold(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (terms, first) = (start(), SampleHousehold())
            #expect(try await store.foundHousehold(first.request, terms))
            // The same request again, as after a lost answer, uses nothing.
            #expect(try await store.foundHousehold(first.request, terms) == false)
            await expectRefusal(.gone) { _ = try await store.foundHousehold(SampleHousehold().request, terms) }
            #expect(try await store.households() == [first.id])
            #expect(try await store.foundHousehold(SampleHousehold().request, start()))
        }

        @Test(arguments: StoreKind.allCases)
        func aStartLinkIsNotUsedByARefusedFounding(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let known = try await SampleHousehold.founded(in: store)
            var other = SampleHousehold().request
            other.device = known.computer
            let terms = start()
            await expectRefusal(.conflict) { [other] in _ = try await store.foundHousehold(other, terms) }
            #expect(try await store.foundHousehold(SampleHousehold().request, terms))
        }

        @Test(arguments: StoreKind.allCases)
        func anExpiredStartLinkFoundsNothing(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let terms = start(expires: now)
            await expectRefusal(.gone) { _ = try await store.foundHousehold(SampleHousehold().request, terms) }
            #expect(try await store.households().isEmpty)
            // A used one is remembered until it expires, however many are used in between.
            let used = start(expires: now + 10)
            #expect(try await store.foundHousehold(SampleHousehold().request, used))
            var later = start()
            later.time = now + 9
            #expect(try await store.foundHousehold(SampleHousehold().request, later))
            var again = used
            again.time = now + 9
            await expectRefusal(.gone) { [again] in
                _ = try await store.foundHousehold(SampleHousehold().request, again)
            }
            again.time = now + 10
            await expectRefusal(.gone) { [again] in
                _ = try await store.foundHousehold(SampleHousehold().request, again)
            }
        }

        @Test(arguments: StoreKind.allCases)
        func aUsedStartLinkIsRefusedByAClockThatIsBehind(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            var used = start(expires: now + 10)
            used.time = now + 5
            #expect(try await store.foundHousehold(SampleHousehold().request, used))
            var later = start()
            later.time = now + 40
            #expect(try await store.foundHousehold(SampleHousehold().request, later))
            used.time = now + 6
            await expectRefusal(.gone) { [used] in
                _ = try await store.foundHousehold(SampleHousehold().request, used)
            }
            #expect(try await store.households().count == 2)
        }

        @Test(arguments: StoreKind.allCases)
        func twoFoundingsAtOnceUseAStartLinkOnce(_ kind: StoreKind) async throws {
            let stores = try await kind.instances(kind == .postgres ? 2 : 1)
            for _ in 0..<8 {
                let terms = start()
                let founded = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<4 {
                        let store = stores[number % stores.count].store
                        group.addTask {
                            do {
                                return try await store.foundHousehold(SampleHousehold().request, terms)
                            } catch {
                                #expect((error as? HubError)?.code == .gone, "\(error)")
                                return false
                            }
                        }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(founded == 1)
            }
            #expect(try await stores[0].store.households().count == 8)
        }

        @Test(arguments: StoreKind.allCases)
        func anInvitationOfAHouseholdAdmitsOneFounderAndCanStillBeJoined(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (id, proof) = (HubID.random(), Data.random(32))
            try await store.invite(
                NewInvitationRequest(id: id, proofHash: proof, expiresInSeconds: 300), household: household.id,
                by: household.computer, at: now)
            func terms(_ id: HubID, _ proof: Data, at time: Int64 = now) -> FoundingTerms {
                FoundingTerms(invitation: .household(id: id, proofHash: proof), time: time)
            }
            func found(_ terms: FoundingTerms) async throws {
                #expect(try await store.foundHousehold(SampleHousehold().request, terms))
            }
            await expectRefusal(.notFound) { try await found(terms(.random(), proof)) }
            await expectRefusal(.notFound) { try await found(terms(id, .random(32))) }
            await expectRefusal(.gone) { try await found(terms(id, proof, at: now + 300)) }
            try await found(terms(id, proof))
            await expectRefusal(.gone) { try await found(terms(id, proof)) }
            let request = JoinRequest(
                proof: .random(32), device: .random(), role: .computer, tokenHash: .random(32), sealed: .random(300))
            _ = try await store.join(request, invitation: id, proofHash: proof, at: now)
            let second = try await household.joined(to: store)
            #expect(try await store.households().count == 2)
            // One by which a device joined, and one that was withdrawn, admit no founder.
            let (withdrawn, secret) = (HubID.random(), Data.random(32))
            try await store.invite(
                NewInvitationRequest(id: withdrawn, proofHash: secret, expiresInSeconds: 300), household: household.id,
                by: household.computer, at: now)
            try await store.withdrawInvitation(withdrawn, household: household.id)
            await expectRefusal(.gone) { try await found(terms(withdrawn, secret)) }
            try await store.withdrawInvitation(second.invitation, household: household.id)
            #expect(try await store.households().count == 2)
        }

        @Test(arguments: StoreKind.allCases)
        func twoFoundingsAtOnceUseAHouseholdsInvitationOnce(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let (id, proof) = (HubID.random(), Data.random(32))
            try await store.invite(
                NewInvitationRequest(id: id, proofHash: proof, expiresInSeconds: 300), household: household.id,
                by: household.computer, at: now)
            let terms = FoundingTerms(invitation: .household(id: id, proofHash: proof), time: now)
            let founded = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        (try? await store.foundHousehold(SampleHousehold().request, terms)) ?? false
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(founded == 1)
            #expect(try await store.households().count == 2)
        }

        @Test(arguments: StoreKind.allCases)
        func theLimitCountsHouseholdsButNotSharedVaults(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            func found(isMain: Bool) async throws {
                _ = try await store.foundHousehold(
                    SampleHousehold().request, FoundingTerms(isMain: isMain, maximumMain: 2, time: now))
            }
            try await found(isMain: true)
            try await found(isMain: false)
            let founded = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let terms = FoundingTerms(maximumMain: 2, time: now)
                        return (try? await store.foundHousehold(SampleHousehold().request, terms)) ?? false
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(founded == 1)
            await expectRefusal(.forbidden) { try await found(isMain: true) }
            try await found(isMain: false)
            #expect(try await store.households().count == 4)
        }
    }
}
