import Foundation
import HubAPI
import HubStore
import TestSupport
import Testing

extension PINShareRequest {
    static let sample = PINShareRequest(entries: (0..<UInt8(count)).map { .new(0xA0 + $0) })
}

extension PINShareRequest.Entry {
    static func new(_ number: UInt8) -> Self {
        Self(
            verifier: Data(repeating: number, count: 32), share: Data(repeating: 0x20 ^ number, count: 32),
            changeHash: Data(repeating: 0x40 ^ number, count: 32))
    }
}

/// The verifier of no entry.
let wrongVerifier = Data(repeating: 0xEE, count: 32)

extension PushSubscriptionRequest {
    static let sample = PushSubscriptionRequest(
        endpoint: "https://push.example/abc", keys: Keys(p256dh: "BPd…", auth: "a'\"; --"),
        fallback: PushFallback(title: "Ein Ereignis '", body: "", navigate: "https://hub.example/"))
}

/// A device with a PIN share at a store.
struct SharedPIN {
    let open: OpenStore
    /// A second hub over the same database, if the store allows one.
    let other: OpenStore
    let household: HubID
    let device: HubID
    let entries = PINShareRequest.sample.entries

    init(_ kind: StoreKind) async throws {
        let instances = try await kind.instances(2)
        (open, other) = (instances[0], instances[instances.count - 1])
        let sample = try await SampleHousehold.founded(in: open.store)
        household = sample.id
        device = try await sample.admitted(to: open.store).0
        #expect(try await counter() == nil)
        await expectRefusal(.notFound) { _ = try await attempt(wrongVerifier) }
        try await set(.sample)
    }

    func set(_ request: PINShareRequest) async throws {
        try await open.store.setPINShare(request, device: device, household: household)
    }

    func counter() async throws -> StoredPINCounter? {
        try await open.store.pinShare(device: device, household: household)
    }

    @discardableResult func attempt(
        _ verifier: Data, at time: Int64 = now, atOther: Bool = false
    ) async throws -> PINAttempt {
        try await (atOther ? other : open).store.attemptPIN(verifier, device: device, household: household, at: time)
    }

    /// Replaces `old` by `new`; the change hash stays.
    func replace(_ old: PINShareRequest.Entry, by new: PINShareRequest.Entry) async throws {
        try await open.store.replacePIN(
            changeHash: old.changeHash, verifier: new.verifier, share: new.share, device: device,
            household: household)
    }
}

extension Conformance {
    @Suite struct PINShares {
        @Test(arguments: StoreKind.allCases)
        func aWrongPINIsCountedAndARightOneResetsTheCount(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            for failures in 1...3 {
                #expect(try await pin.attempt(wrongVerifier) == .wrong(failures: failures, opensAt: 0))
                #expect(try await pin.counter() == StoredPINCounter(failures: failures, opensAt: 0))
            }
            #expect(try await pin.attempt(pin.entries[2].verifier) == .right(share: pin.entries[2].share))
            #expect(try await pin.counter() == StoredPINCounter(failures: 0, opensAt: 0))
        }

        @Test(arguments: StoreKind.allCases)
        func failuresFromTheFifthDelayAndTheTenthDestroys(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            var time = now
            for failures in 1...10 {
                let opensAt = failures < 5 || failures == 10 ? (failures < 5 ? 0 : time) : time + 60
                #expect(
                    try await pin.attempt(wrongVerifier, at: time) == .wrong(failures: failures, opensAt: opensAt))
                if failures == 10 { break }
                #expect(try await pin.counter() == StoredPINCounter(failures: failures, opensAt: opensAt))
                guard failures >= 5 else { continue }
                for early in [time, time + 59] {
                    do {
                        try await pin.attempt(pin.entries[0].verifier, at: early)
                        Issue.record("the attempt was not delayed")
                    } catch let error as HubError {
                        #expect(error.code == .tooMany && error.retryAfterSeconds == Int(time + 60 - early))
                    }
                }
                // A refused attempt is not counted.
                #expect(try await pin.counter()?.failures == failures)
                time += 60
            }
            let calls: [() async throws -> Void] = [
                { try await pin.attempt(wrongVerifier, at: time + 9_999) },
                { try await pin.attempt(pin.entries[0].verifier, at: time + 9_999) },
                // The remaining zeros match no PIN.
                { try await pin.attempt(Data(count: 32), at: time + 9_999) },
                { try await pin.replace(pin.entries[0], by: .new(1)) },
                { _ = try await pin.counter() },
            ]
            for call in calls { await expectRefusal(.gone) { try await call() } }
        }

        @Test(arguments: StoreKind.allCases)
        func aClockThatWasAheadDelaysNothingAfterItIsCorrected(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            let ahead = now + 10 * 365 * 86_400
            for _ in 1...5 { _ = try await pin.attempt(wrongVerifier, at: ahead) }
            // The guesses stay counted.
            #expect(try await pin.attempt(wrongVerifier, at: now) == .wrong(failures: 6, opensAt: now + 60))
            await expectRefusal(.tooMany) { _ = try await pin.attempt(pin.entries[0].verifier, at: now + 30) }
            let share = pin.entries[0].share
            #expect(try await pin.attempt(pin.entries[0].verifier, at: now + 60) == .right(share: share))
        }

        @Test(arguments: StoreKind.allCases)
        func anAttemptByAClockThatIsBehindHasToWaitToo(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            let entry = pin.entries[0]
            for _ in 1...5 { _ = try await pin.attempt(wrongVerifier, at: now + 1) }
            for behind in [now, now - 20] {
                do {
                    try await pin.attempt(entry.verifier, at: behind)
                    Issue.record("the attempt was not delayed")
                } catch let error as HubError {
                    #expect(error.code == .tooMany && error.retryAfterSeconds == 60)
                }
            }
            #expect(try await pin.attempt(entry.verifier, at: now + 61) == .right(share: entry.share))
        }

        /// An attacker who knows one PIN has ten guesses at another one, however often they enter the known one.
        @Test(arguments: StoreKind.allCases)
        func aCorrectPINDoesNotResetOtherEntriesCounts(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            let (decoy, real) = (pin.entries[1], pin.entries[3])
            for guess in 1...10 {
                #expect(try await pin.attempt(wrongVerifier) == .wrong(failures: 1, opensAt: 0))
                if guess == 9 {
                    #expect(try await pin.attempt(real.verifier) == .right(share: real.share))
                    break
                }
                #expect(try await pin.attempt(decoy.verifier) == .right(share: decoy.share))
            }
            for _ in 1...10 {
                #expect(try await pin.attempt(wrongVerifier) == .wrong(failures: 1, opensAt: 0))
                #expect(try await pin.attempt(decoy.verifier) == .right(share: decoy.share))
            }
            // The destroyed entry's PIN is a wrong one, and the other entries still work.
            #expect(try await pin.attempt(real.verifier) == .wrong(failures: 1, opensAt: 0))
            #expect(try await pin.attempt(decoy.verifier) == .right(share: decoy.share))
            // The change secret restores it, with new secrets.
            try await pin.replace(real, by: .new(9))
            #expect(
                try await pin.attempt(Data(repeating: 9, count: 32)) == .right(share: Data(repeating: 0x29, count: 32)))
            #expect(try await pin.attempt(real.verifier) == .wrong(failures: 1, opensAt: 0))
        }

        /// Random attempts: each entry opens after at most nine failures since its own last success, never after ten,
        /// and the answer to a failure depends only on when any PIN was right.
        @Test(arguments: StoreKind.allCases)
        func noEntryAllowsMoreThanTenFailuresBetweenItsSuccesses(_ kind: StoreKind) async throws {
            for seed in 1...(kind == .sqlite ? 12 : 6) {
                var random = RepeatableRandom(seed: UInt64(seed))
                let pin = try await SharedPIN(kind)
                var wrong = [0, 0, 0, 0]
                var (failures, time, wasRight) = (0, now, false)
                var entries = pin.entries
                for step in 0..<150 {
                    let choice = Int.random(in: 0..<12, using: &random)
                    switch choice {
                    case 0...3:
                        let index = choice
                        let expected: PINAttempt
                        if wrong[index] >= 10 {
                            failures += 1
                            wrong = wrong.map { $0 + 1 }
                            expected = .wrong(failures: failures, opensAt: 0)
                        } else {
                            (failures, wrong[index], wasRight) = (0, 0, true)
                            expected = .right(share: entries[index].share)
                        }
                        #expect(try await pin.attempt(entries[index].verifier, at: time).withoutTime == expected)
                    case 4:
                        // The token alone resets nothing.
                        guard wasRight else { continue }
                        await expectRefusal(.conflict) { try await pin.set(.sample) }
                        var stranger = entries[0]
                        stranger.changeHash = wrongVerifier
                        await expectRefusal(.notFound) { try await pin.replace(stranger, by: .new(0xEE)) }
                    case 5 where step.isMultiple(of: 3):
                        let index = Int.random(in: 0..<4, using: &random)
                        var new = PINShareRequest.Entry.new(UInt8(step))
                        new.changeHash = entries[index].changeHash
                        try await pin.replace(entries[index], by: new)
                        (entries[index], wrong[index], failures, wasRight) = (new, 0, 0, true)
                    default:
                        failures += 1
                        wrong = wrong.map { $0 + 1 }
                        #expect(
                            try await pin.attempt(wrongVerifier, at: time).withoutTime
                                == .wrong(failures: failures, opensAt: 0))
                    }
                    time += 60
                    if failures == 10 { break }
                }
                if failures == 10 {
                    for entry in entries {
                        await expectRefusal(.gone) { try await pin.attempt(entry.verifier, at: time) }
                    }
                }
            }
        }

        /// 10,000 concurrent attempts at both hubs in the long run: knowing the decoy PIN allows no eleventh guess.
        @Test(arguments: StoreKind.allCases)
        func concurrentGuessesAtTwoHubsAreAllCounted(_ kind: StoreKind) async throws {
            let isLong = ProcessInfo.processInfo.environment["APPLOCKER_LONG"] != nil
            var (attempts, opened, closed) = (0, 0, 0)
            var random = RepeatableRandom(seed: 11)
            let pin = try await SharedPIN(kind)
            var (real, time) = (pin.entries[3], now)
            while attempts < (isLong ? 10_000 : 600) {
                var new = PINShareRequest.Entry.new(UInt8(attempts % 64))
                new.changeHash = real.changeHash
                try await pin.replace(real, by: new)
                real = new
                var wrong = 0
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    var verifiers = Array(repeating: wrongVerifier, count: Int.random(in: 1...3, using: &random))
                    verifiers += Array(repeating: pin.entries[1].verifier, count: 2)
                    verifiers.shuffle(using: &random)
                    wrong += try await withThrowingTaskGroup(of: Bool.self) { [verifiers, time] group in
                        for (index, verifier) in verifiers.enumerated() {
                            group.addTask {
                                do {
                                    let outcome = try await pin.attempt(
                                        verifier, at: time, atOther: index.isMultiple(of: 2))
                                    return verifier == wrongVerifier && outcome.isWrong
                                } catch let error as HubError where error.code == .tooMany {
                                    return false
                                }
                            }
                        }
                        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                    }
                    attempts += verifiers.count
                    time += 60
                    // Ten failures in a row would destroy the share.
                    try await pin.attempt(pin.entries[1].verifier, at: time)
                }
                let outcome = try await pin.attempt(real.verifier, at: time, atOther: true)
                attempts += 1
                if wrong < 10 {
                    #expect(outcome == .right(share: real.share), "after \(wrong) wrong ones")
                    opened += 1
                } else {
                    #expect(outcome.withoutTime != .right(share: real.share), "after \(wrong) wrong ones")
                    closed += 1
                }
            }
            #expect(opened > 0 && closed > 0)
        }

        @Test(arguments: StoreKind.allCases)
        func oneEntryIsReplacedAndTheOthersStay(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            let new = PINShareRequest.Entry.new(1)
            try await pin.attempt(wrongVerifier)
            try await pin.replace(pin.entries[1], by: new)
            #expect(try await pin.counter()?.failures == 0)
            for entry in [pin.entries[0], pin.entries[2], pin.entries[3], new] {
                #expect(try await pin.attempt(entry.verifier) == .right(share: entry.share))
            }
            #expect(try await pin.attempt(pin.entries[1].verifier) == .wrong(failures: 1, opensAt: 0))
            var short = PINShareRequest.Entry.new(3)
            short.share.removeLast()
            await expectRefusal(.badRequest) { try await pin.replace(pin.entries[0], by: short) }
        }

        /// Of two matching entries the last one counts, so that a new PIN does not reveal whether it is another
        /// entry's.
        @Test(arguments: StoreKind.allCases)
        func aNewEntryWithTheVerifierOfAnotherReturnsItsOwnShare(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            var guess = PINShareRequest.Entry.new(7)
            guess.verifier = pin.entries[3].verifier
            try await pin.replace(pin.entries[0], by: guess)
            #expect(try await pin.attempt(guess.verifier) == .right(share: guess.share))
            try await pin.replace(pin.entries[0], by: .new(8))
            #expect(try await pin.attempt(guess.verifier) == .right(share: pin.entries[3].share))
        }

        @Test(arguments: StoreKind.allCases)
        func concurrentReplacementsLoseNoEntry(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask { try await pin.replace(pin.entries[number % 4], by: .new(UInt8(number))) }
                }
                try await group.waitForAll()
            }
            var open: Set<Int> = []
            for number in 0..<12 {
                let entry = PINShareRequest.Entry.new(UInt8(number))
                if try await pin.attempt(entry.verifier, at: now + Int64(number) * 60) == .right(share: entry.share) {
                    open.insert(number % 4)
                }
            }
            #expect(open == [0, 1, 2, 3])
        }

        @Test(arguments: StoreKind.allCases)
        func concurrentAttemptsAreCountedOneByOne(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            let counted = await withTaskGroup(of: PINAttempt?.self) { group in
                for _ in 0..<40 { group.addTask { try? await pin.attempt(wrongVerifier) } }
                return await group.reduce(into: [PINAttempt]()) { if let attempt = $1 { $0.append(attempt) } }
            }
            #expect(counted.count == 5)
            for failures in 1...5 {
                #expect(counted.contains { $0.withoutTime == .wrong(failures: failures, opensAt: 0) })
            }
        }

        @Test(arguments: StoreKind.allCases)
        func aShareHasFourEntriesOf96BytesAndStaysAfterARightPIN(_ kind: StoreKind) async throws {
            let pin = try await SharedPIN(kind)
            var short = PINShareRequest.sample
            short.entries[3].changeHash.removeLast()
            for bad in [PINShareRequest(entries: []), short, PINShareRequest(entries: short.entries.dropLast())] {
                await expectRefusal(.badRequest) { try await pin.set(bad) }
            }
            // A request whose answer was lost is sent again.
            try await pin.attempt(wrongVerifier)
            let other = PINShareRequest(entries: (0..<4).map { .new($0) })
            try await pin.set(other)
            #expect(try await pin.attempt(other.entries[3].verifier) == .right(share: other.entries[3].share))
            try await pin.attempt(wrongVerifier)
            await expectRefusal(.conflict) { try await pin.set(.sample) }
            #expect(try await pin.counter()?.failures == 1)
            #expect(try await pin.attempt(other.entries[0].verifier) == .right(share: other.entries[0].share))
        }
    }
}

extension PINAttempt {
    var isWrong: Bool { if case .wrong = self { true } else { false } }

    var withoutTime: PINAttempt {
        if case .wrong(let failures, _) = self { return .wrong(failures: failures, opensAt: 0) }
        return self
    }
}
