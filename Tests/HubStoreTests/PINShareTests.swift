import Foundation
import HubStore
import Testing
import WireProtocol

extension PINShareRequest {
    static let sample = PINShareRequest(
        entries: (0..<count).map { index in
            Entry(
                verifier: Data(repeating: UInt8(0xA0 + index), count: 32),
                share: Data(repeating: UInt8(0xC0 + index), count: 32))
        })
}

extension PINShareRequest.Entry {
    static func new(_ number: UInt8) -> Self {
        Self(verifier: Data(repeating: number, count: 32), share: Data(repeating: 0x40 + number, count: 32))
    }
}

extension PushSubscriptionRequest {
    static let sample = PushSubscriptionRequest(
        endpoint: "https://push.example/abc", keys: Keys(p256dh: "BPd…", auth: "a'\"; --"))
}

extension Conformance {
    @Suite struct PINShares {
        private func shared(
            _ kind: StoreKind
        ) async throws -> (open: OpenStore, household: HubID, device: HubID) {
            let open = try await kind.open()
            let household = try await SampleHousehold.founded(in: open.store)
            let (device, _) = try await household.admitted(to: open.store)
            #expect(try await open.store.pinShare(device: device, household: household.id) == nil)
            await expectRefusal(.notFound) {
                _ = try await open.store.attemptPIN(device: device, household: household.id, at: now)
            }
            try await open.store.setPINShare(.sample, device: device, household: household.id)
            return (open, household.id, device)
        }

        @Test(arguments: StoreKind.allCases)
        func anAttemptIsCountedBeforeAnythingIsHandedOut(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            for failures in 1...3 {
                let attempt = try await store.attemptPIN(device: device, household: household, at: now)
                #expect(attempt.failures == failures)
                #expect(attempt.entries.map(\.verifier) == PINShareRequest.sample.entries.map(\.verifier))
                #expect(attempt.entries.map(\.share) == PINShareRequest.sample.entries.map(\.share))
                #expect(
                    try await store.pinShare(device: device, household: household)
                        == StoredPINCounter(failures: failures, opensAt: 0))
            }
            try await store.succeedPIN(device: device, household: household)
            #expect(
                try await store.pinShare(device: device, household: household)
                    == StoredPINCounter(failures: 0, opensAt: 0))
        }

        @Test(arguments: StoreKind.allCases)
        func fromTheFifthFailureOnEachOneWaitsAndTheTenthDestroys(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            var time = now
            for failures in 1...10 {
                let attempt = try await store.attemptPIN(device: device, household: household, at: time)
                #expect(attempt.failures == failures)
                try await store.failPIN(device: device, household: household)
                if failures == 10 { break }
                let opensAt = failures < 5 ? 0 : time + 60
                #expect(
                    try await store.pinShare(device: device, household: household)
                        == StoredPINCounter(failures: failures, opensAt: opensAt))
                guard failures >= 5 else { continue }
                for early in [time, time + 59] {
                    do {
                        _ = try await store.attemptPIN(device: device, household: household, at: early)
                        Issue.record("it did not have to wait")
                    } catch let error as HubError {
                        #expect(error.code == .tooMany && error.retryAfterSeconds == Int(time + 60 - early))
                    }
                }
                // What is refused is not counted.
                #expect(try await store.pinShare(device: device, household: household)?.failures == failures)
                time += 60
            }
            let calls: [() async throws -> Void] = [
                { _ = try await store.attemptPIN(device: device, household: household, at: time + 9_999) },
                { _ = try await store.pinShare(device: device, household: household) },
                { try await store.succeedPIN(device: device, household: household) },
            ]
            for call in calls { await expectRefusal(.gone) { try await call() } }
            try await store.failPIN(device: device, household: household)
            await expectRefusal(.gone) { try await calls[0]() }
            // Until there is a new one.
            try await store.setPINShare(.sample, device: device, household: household)
            #expect(try await store.attemptPIN(device: device, household: household, at: time).failures == 1)
        }

        @Test(arguments: StoreKind.allCases)
        func aRightTenthPINSavesTheShareAndAnAnswerThatNeverCameDestroysIt(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            for round in 0..<2 {
                for number in 0..<10 {
                    _ = try await store.attemptPIN(device: device, household: household, at: now + Int64(number * 60))
                }
                if round == 0 { try await store.succeedPIN(device: device, household: household) }
            }
            await expectRefusal(.tooMany) {
                _ = try await store.attemptPIN(device: device, household: household, at: now + 599)
            }
            await expectRefusal(.gone) {
                _ = try await store.attemptPIN(device: device, household: household, at: now + 600)
            }
            await expectRefusal(.gone) { try await store.succeedPIN(device: device, household: household) }
        }

        @Test(arguments: StoreKind.allCases)
        func oneEntryGivesWayAndTheOthersStay(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            let (sample, new) = (PINShareRequest.sample.entries, PINShareRequest.Entry.new(1))
            _ = try await store.attemptPIN(device: device, household: household, at: now)
            try await store.succeedPIN(
                device: device, household: household, replacing: sample[1].verifier, by: new)
            let attempt = try await store.attemptPIN(device: device, household: household, at: now)
            // It begins anew, and the new one is the last.
            #expect(attempt.failures == 1)
            let expected = [sample[0], sample[2], sample[3], new]
            #expect(attempt.entries.map(\.verifier) == expected.map(\.verifier))
            #expect(attempt.entries.map(\.share) == expected.map(\.share))
            // One that is gone can't be replaced, and nothing is changed then.
            await expectRefusal(.conflict) {
                try await store.succeedPIN(
                    device: device, household: household, replacing: sample[1].verifier, by: .new(2))
            }
            let after = try await store.attemptPIN(device: device, household: household, at: now)
            #expect(after.failures == 2 && after.entries.map(\.share) == expected.map(\.share))
            var short = PINShareRequest.Entry.new(3)
            short.share.removeLast()
            await expectRefusal(.badRequest) {
                try await store.succeedPIN(
                    device: device, household: household, replacing: sample[0].verifier, by: short)
            }
        }

        @Test(arguments: StoreKind.allCases)
        func aDestroyedShareHasNothingToReplace(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            for number in 0..<10 {
                _ = try await store.attemptPIN(device: device, household: household, at: now + Int64(number * 60))
            }
            try await store.failPIN(device: device, household: household)
            await expectRefusal(.gone) {
                try await store.succeedPIN(
                    device: device, household: household, replacing: PINShareRequest.sample.entries[0].verifier,
                    by: .new(1))
            }
            // The zeros that are left fit nothing either.
            await expectRefusal(.gone) {
                try await store.succeedPIN(
                    device: device, household: household, replacing: Data(count: 32), by: .new(1))
            }
        }

        @Test(arguments: StoreKind.allCases)
        func replacementsAtTheSameMomentLoseNoEntry(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            let sample = PINShareRequest.sample.entries
            let done = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        do {
                            try await store.succeedPIN(
                                device: device, household: household, replacing: sample[number % 4].verifier,
                                by: .new(UInt8(number)))
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            // The first of each wins.
            #expect(done == 4)
            let left = try await store.attemptPIN(device: device, household: household, at: now).entries
            #expect(Set(left.map(\.verifier)).count == 4)
            #expect(Set(left.map { Int($0.verifier[0]) % 4 }) == [0, 1, 2, 3])
        }

        @Test(arguments: StoreKind.allCases)
        func attemptsAtTheSameMomentCountOneByOne(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            let counted = await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try? await store.attemptPIN(device: device, household: household, at: now).failures
                    }
                }
                return await group.reduce(into: [Int]()) { if let failures = $1 { $0.append(failures) } }
            }
            #expect(counted.sorted() == [1, 2, 3, 4, 5])
        }

        @Test(arguments: StoreKind.allCases)
        func aShareHasFourEntriesOf64BytesAndIsReplacedAsAWhole(_ kind: StoreKind) async throws {
            let (open, household, device) = try await shared(kind)
            let store = open.store
            var short = PINShareRequest.sample
            short.entries[3].share.removeLast()
            for bad in [PINShareRequest(entries: []), short, PINShareRequest(entries: short.entries.dropLast())] {
                await expectRefusal(.badRequest) {
                    try await store.setPINShare(bad, device: device, household: household)
                }
            }
            _ = try await store.attemptPIN(device: device, household: household, at: now)
            var other = PINShareRequest.sample
            other.entries.reverse()
            try await store.setPINShare(other, device: device, household: household)
            let attempt = try await store.attemptPIN(device: device, household: household, at: now)
            #expect(attempt.failures == 1 && attempt.entries.map(\.share) == other.entries.map(\.share))
            try await store.removePINShare(device: device, household: household)
            try await store.removePINShare(device: device, household: household)
            #expect(try await store.pinShare(device: device, household: household) == nil)
        }
    }
}
