import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct Changes {
        @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
        func everyReaderSeesEachChangeInOrder(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let readers = [try await store.changes(), try await store.changes()]
            let household = try await SampleHousehold.founded(in: store)
            let joined = try await household.joined(to: store)
            try await store.appendToRoster(
                RosterAppendRequest(
                    number: 2, entry: .random(300),
                    change: .admit(device: joined.device, role: .companion, invitation: joined.invitation)),
                of: household.id)
            _ = try await store.write([household.record(), household.record()], household: household.id, at: now)
            try await store.appendToRoster(
                RosterAppendRequest(number: 3, entry: .random(300), change: .revoke(device: joined.device)),
                of: household.id)
            try await store.removeHousehold(household.id)
            let id = household.id
            let expected: [HubChange] = [
                .join(household: id, invitation: joined.invitation), .roster(household: id, number: 2),
                .records(household: id, through: 2), .roster(household: id, number: 3),
                .revoked(household: id, device: joined.device), .revoked(household: id, device: household.computer),
            ]
            for reader in readers {
                var seen: [HubChange] = []
                for await change in reader {
                    seen.append(change)
                    if seen.count == expected.count { break }
                }
                #expect(seen == expected)
            }
        }

        @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
        func aRecordIsReadableWhenItsChangeIsReported(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let changes = try await store.changes()
            let writing = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            for _ in 0..<10 {
                                _ = try await store.write([household.record()], household: household.id, at: now)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var last: UInt64 = 0
            for await change in changes {
                guard case .records(household.id, let through) = change else {
                    Issue.record("\(change)")
                    break
                }
                #expect(through > last)
                let page = try await store.records(
                    of: household.id, after: last, limit: 1_000, maximumBytes: 1 << 20)
                let numbers = page.records.compactMap(\.sequence)
                #expect(numbers == Array(last + 1...(numbers.last ?? 0)) && numbers.last ?? 0 >= through)
                last = through
                if last == 200 { break }
            }
            try await writing.value
            #expect(last == 200)
        }

        @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
        func closingEndsTheStreamsAndRefusesLaterCalls(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let household = try await SampleHousehold.founded(in: store)
            let changes = try await store.changes()
            try await store.close()
            for await change in changes { Issue.record("\(change)") }
            await expectRefusal(.unavailable) {
                _ = try await store.write([household.record()], household: household.id, at: now)
            }
            await expectRefusal(.unavailable) { _ = try await store.household(household.id) }
            for await change in try await store.changes() { Issue.record("\(change)") }
        }
    }

    @Suite struct Feed {
        @Test func aSlowReaderLosesTheOldestChangesAndIsNotified() async throws {
            let feed = HubChangeFeed(capacity: 4)
            let stream = feed.stream()
            let household = HubID.random()
            for number in 1...100 { feed.publish([.records(household: household, through: UInt64(number))]) }
            feed.close()
            let seen = await stream.reduce(into: [HubChange]()) { $0.append($1) }
            #expect(seen.last == .unknown && seen.count == 4)
        }

        @Test func announcementsOfOneHouseholdAreMergedIntoTheLast() async throws {
            let feed = HubChangeFeed()
            let stream = feed.stream()
            let (one, two) = (HubID.random(), HubID.random())
            feed.publish([
                .records(household: one, through: 1), .records(household: two, through: 7),
                .roster(household: one, number: 2), .records(household: one, through: 2), .unknown,
            ])
            feed.close()
            let seen = await stream.reduce(into: [HubChange]()) { $0.append($1) }
            #expect(
                seen == [
                    .records(household: two, through: 7), .roster(household: one, number: 2),
                    .records(household: one, through: 2), .unknown,
                ])
        }
    }
}
