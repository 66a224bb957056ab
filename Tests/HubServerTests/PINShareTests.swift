import Foundation
import HubStore
import Testing
import WireProtocol

@testable import HubServer

/// The PIN's ladder over HTTP: 5 wrong wait, 10 wrong destroy, right begins anew, a restart changes nothing.
struct PINShareTests {
    private let verifiers = (0..<4).map { _ in Data.random(32) }

    private func prepare(_ hub: HubUnderTest) async throws -> TestDevice {
        let phone = try await hub.pair(with: try await hub.found())
        let entries = verifiers.map { PINShareRequest.Entry(verifier: $0, share: Data($0.reversed())) }
        #expect(
            try await hub.ask(.setPINShare, token: phone.token, body: PINShareRequest(entries: entries)).status == 204)
        return phone
    }

    private func attempt(_ hub: HubUnderTest, _ phone: TestDevice, _ verifier: Data) async throws -> HubUnderTest.Answer
    {
        try await hub.ask(.attemptPIN, token: phone.token, body: PINAttemptRequest(verifier: verifier))
    }

    private func state(_ hub: HubUnderTest, _ phone: TestDevice) async throws -> PINShareState {
        try await hub.ask(.pinShare, token: phone.token).decoded()
    }

    @Test func eachRightPINGetsItsOwnShareAndBeginsAnew() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            for verifier in verifiers {
                #expect(try await attempt(hub, phone, .random(32)).error?.code == .wrongPIN)
                #expect(try await state(hub, phone).failures == 1)
                let answer = try await attempt(hub, phone, verifier)
                #expect(try answer.decoded(PINShareAnswer.self).share == Data(verifier.reversed()))
                #expect(try await state(hub, phone) == PINShareState(failures: 0, retryAfterSeconds: 0))
            }
        }
    }

    @Test func fiveWrongPINsWaitAMinuteAndTenDestroyTheShare() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            for count in 1...4 {
                #expect(try await attempt(hub, phone, .random(32)).error?.code == .wrongPIN)
                #expect(try await state(hub, phone).failures == count)
            }
            for count in 5...9 {
                let wrong = try await attempt(hub, phone, .random(32))
                #expect(wrong.status == 429)
                #expect((58...60).contains(wrong.error?.retryAfterSeconds ?? 0))
                #expect(wrong.header("Retry-After") != nil)
                // The right one is not looked at either while it waits, and does not count.
                #expect(try await attempt(hub, phone, verifiers[0]).status == 429)
                #expect(try await state(hub, phone).failures == count)
                hub.time.advance(by: .seconds(61))
            }
            #expect(try await attempt(hub, phone, .random(32)).error?.code == .gone)
            #expect(try await attempt(hub, phone, verifiers[0]).error?.code == .gone)
            #expect(try await hub.ask(.pinShare, token: phone.token).error?.code == .gone)
        }
    }

    private func replace(
        _ hub: HubUnderTest, _ phone: TestDevice, _ verifier: Data, by entry: PINShareRequest.Entry
    ) async throws -> HubUnderTest.Answer {
        try await hub.ask(
            .replacePIN, token: phone.token, body: PINReplaceRequest(verifier: verifier, entry: entry))
    }

    @Test func oneEntryIsReplacedByWhoHasItsVerifierAndTheOthersGoOn() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let new = PINShareRequest.Entry(verifier: .random(32), share: .random(32))
            #expect(try await attempt(hub, phone, .random(32)).error?.code == .wrongPIN)
            #expect(try await replace(hub, phone, verifiers[2], by: new).status == 204)
            // As a right PIN.
            #expect(try await state(hub, phone).failures == 0)
            #expect(
                try await attempt(hub, phone, new.verifier).decoded(PINShareAnswer.self).share == new.share)
            for verifier in [verifiers[0], verifiers[1], verifiers[3]] {
                let answer = try await attempt(hub, phone, verifier)
                #expect(try answer.decoded(PINShareAnswer.self).share == Data(verifier.reversed()))
            }
            #expect(try await attempt(hub, phone, verifiers[2]).error?.code == .wrongPIN)
        }
    }

    @Test func aWrongReplacementIsCountedAndWaitsAsAnAttempt() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let new = PINShareRequest.Entry(verifier: .random(32), share: .random(32))
            for count in 1...4 {
                #expect(try await replace(hub, phone, .random(32), by: new).error?.code == .wrongPIN)
                #expect(try await state(hub, phone).failures == count)
            }
            #expect(try await replace(hub, phone, .random(32), by: new).status == 429)
            #expect(try await replace(hub, phone, verifiers[0], by: new).status == 429)
            hub.time.advance(by: .seconds(61))
            #expect(try await attempt(hub, phone, new.verifier).status == 429)
            hub.time.advance(by: .seconds(61))
            for _ in 7...9 {
                #expect(try await replace(hub, phone, .random(32), by: new).status == 429)
                hub.time.advance(by: .seconds(61))
            }
            #expect(try await replace(hub, phone, .random(32), by: new).error?.code == .gone)
            #expect(try await replace(hub, phone, verifiers[0], by: new).error?.code == .gone)
        }
    }

    /// Who has one PIN must not learn another one by changing theirs to a guess: nothing is answered differently, and what
    /// they get is their own.
    @Test func aGuessAsANewPINTellsNothing() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let guess = PINShareRequest.Entry(verifier: verifiers[3], share: .random(32))
            #expect(try await replace(hub, phone, verifiers[0], by: guess).status == 204)
            #expect(
                try await attempt(hub, phone, verifiers[3]).decoded(PINShareAnswer.self).share == guess.share)
            // Changed away again, the other one's is as it was.
            let new = PINShareRequest.Entry(verifier: .random(32), share: .random(32))
            #expect(try await replace(hub, phone, verifiers[3], by: new).status == 204)
            #expect(
                try await attempt(hub, phone, verifiers[3]).decoded(PINShareAnswer.self).share
                    == Data(verifiers[3].reversed()))
        }
    }

    @Test func aReplacementHasThirtyTwoBytesOfEach() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let sizes = [(31, 32, 32), (32, 33, 32), (32, 32, 0)]
            for (old, verifier, share) in sizes {
                let answer = try await replace(
                    hub, phone, old == 32 ? verifiers[0] : .random(old),
                    by: .init(verifier: .random(verifier), share: .random(share)))
                #expect(answer.error?.code == .badRequest)
            }
            #expect(try await state(hub, phone).failures == 0)
            #expect(try await attempt(hub, phone, verifiers[0]).status == 200)
        }
    }

    @Test func aPINShareIsItsOwnDevices() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let (one, other) = (try await hub.pair(with: computer), try await hub.pair(with: computer))
            let entries = verifiers.map { PINShareRequest.Entry(verifier: $0, share: $0) }
            _ = try await hub.ask(.setPINShare, token: one.token, body: PINShareRequest(entries: entries))
            #expect(try await hub.ask(.pinShare, token: other.token).error?.code == .notFound)
            #expect(try await attempt(hub, other, verifiers[0]).error?.code == .notFound)
            #expect(try await hub.ask(.removePINShare, token: other.token).status == 204)
            #expect(try await attempt(hub, one, verifiers[0]).status == 200)
            #expect(try await hub.ask(.removePINShare, token: one.token).status == 204)
            #expect(try await hub.ask(.pinShare, token: one.token).error?.code == .notFound)
        }
    }

    @Test func aShareAlwaysHasFourEntriesOfThirtyTwoBytes() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await hub.pair(with: try await hub.found())
            func refused(_ entries: [PINShareRequest.Entry]) async throws {
                let answer = try await hub.ask(
                    .setPINShare, token: phone.token, body: PINShareRequest(entries: entries))
                #expect(answer.error?.code == .badRequest)
            }
            let entry = PINShareRequest.Entry(verifier: .random(32), share: .random(32))
            try await refused([])
            try await refused(Array(repeating: entry, count: 3))
            try await refused(Array(repeating: entry, count: 5))
            try await refused([entry, entry, entry, .init(verifier: .random(31), share: .random(32))])
            try await refused([entry, entry, entry, .init(verifier: .random(32), share: .random(33))])
        }
    }

    @Test func guessesAtTheSameTimeAreAllCounted() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let codes = try await withThrowingTaskGroup(of: HubError.Code?.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await self.attempt(hub, phone, .random(32)).error?.code }
                }
                return try await group.reduce(into: [HubError.Code?]()) { $0.append($1) }
            }
            // Not one more than five is looked at.
            #expect(codes.count { $0 == .wrongPIN } <= 4)
            #expect(codes.count { $0 == .tooMany } >= 36)
            #expect(try await state(hub, phone).failures == 5)
        }
    }
}
