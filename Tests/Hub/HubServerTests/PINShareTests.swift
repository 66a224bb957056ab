import Crypto
import Foundation
import HubAPI
import HubStore
import Testing

@testable import HubServer

/// The PIN's limits over HTTP: 5 wrong PINs delay, 10 destroy, a right one resets, a restart changes nothing.
struct PINShareTests {
    private let verifiers = (0..<4).map { _ in Data.random(32) }
    private let secrets = (0..<4).map { _ in Data.random(32) }

    private func prepare(_ hub: HubUnderTest) async throws -> TestDevice {
        let phone = try await hub.pair(with: try await hub.found())
        let entries = zip(verifiers, secrets).map {
            PINShareRequest.Entry(verifier: $0, share: Data($0.reversed()), changeHash: Data(SHA256.hash(data: $1)))
        }
        #expect(
            try await hub.request(.setPINShare, token: phone.token, body: PINShareRequest(entries: entries)).status
                == 204)
        return phone
    }

    private func attempt(_ hub: HubUnderTest, _ phone: TestDevice, _ verifier: Data) async throws -> HubUnderTest.Answer
    {
        try await hub.request(.attemptPIN, token: phone.token, body: PINAttemptRequest(verifier: verifier))
    }

    private func state(_ hub: HubUnderTest, _ phone: TestDevice) async throws -> PINShareState {
        try await hub.request(.pinShare, token: phone.token).decoded()
    }

    @Test func eachRightPINReturnsItsOwnShareAndResetsTheCount() async throws {
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

    /// An observer of the length of encrypted answers must not learn which PIN was entered.
    @Test func answersToEachRightPINHaveTheSameLength() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await hub.pair(with: try await hub.found())
            // In base64 none, some and all of the characters are slashes.
            let shares = [0x00, 0x0F, 0x3F, 0xFF].map { Data(repeating: $0, count: 32) }
            let entries = zip(verifiers, shares).map {
                PINShareRequest.Entry(verifier: $0, share: $1, changeHash: .random(32))
            }
            let set = try await hub.request(
                .setPINShare, token: phone.token, body: PINShareRequest(entries: entries))
            #expect(set.status == 204)
            var lengths: Set<Int> = []
            for verifier in verifiers {
                let answer = try await attempt(hub, phone, verifier)
                #expect(answer.status == 200)
                lengths.insert(answer.body.count)
            }
            #expect(lengths.count == 1, "\(lengths)")
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
                // During the delay the right PIN is neither compared nor counted.
                #expect(try await attempt(hub, phone, verifiers[0]).status == 429)
                #expect(try await state(hub, phone).failures == count)
                hub.time.advance(by: .seconds(61))
            }
            #expect(try await attempt(hub, phone, .random(32)).error?.code == .gone)
            #expect(try await attempt(hub, phone, verifiers[0]).error?.code == .gone)
            #expect(try await hub.request(.pinShare, token: phone.token).error?.code == .gone)
        }
    }

    private func replace(
        _ hub: HubUnderTest, _ phone: TestDevice, _ secret: Data, by verifier: Data, _ share: Data
    ) async throws -> HubUnderTest.Answer {
        try await hub.request(
            .replacePIN, token: phone.token,
            body: PINReplaceRequest(changeSecret: secret, verifier: verifier, share: share))
    }

    @Test func anEntryIsReplacedByItsSecretAndTheOthersStay() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let (verifier, share) = (Data.random(32), Data.random(32))
            #expect(try await attempt(hub, phone, .random(32)).error?.code == .wrongPIN)
            #expect(try await replace(hub, phone, secrets[2], by: verifier, share).status == 204)
            // A right PIN changes the entry too.
            #expect(try await state(hub, phone).failures == 0)
            #expect(try await attempt(hub, phone, verifier).decoded(PINShareAnswer.self).share == share)
            for verifier in [verifiers[0], verifiers[1], verifiers[3]] {
                let answer = try await attempt(hub, phone, verifier)
                #expect(try answer.decoded(PINShareAnswer.self).share == Data(verifier.reversed()))
            }
            #expect(try await attempt(hub, phone, verifiers[2]).error?.code == .wrongPIN)
        }
    }

    /// A copy of a locked phone's storage contains its token, and no PIN.
    @Test func theTokenAloneNeitherResetsNorDestroys() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            #expect(try await attempt(hub, phone, verifiers[0]).status == 200)
            #expect(try await attempt(hub, phone, .random(32)).error?.code == .wrongPIN)
            let entries = (0..<4).map { _ in
                PINShareRequest.Entry(verifier: .random(32), share: .random(32), changeHash: .random(32))
            }
            let body = PINShareRequest(entries: entries)
            #expect(try await hub.request(.setPINShare, token: phone.token, body: body).error?.code == .conflict)
            // Nor with other values that the hub has received: a PIN's verifier, the hash of a secret.
            for secret in [Data.random(32), verifiers[0], Data(SHA256.hash(data: secrets[0]))] {
                let answer = try await replace(hub, phone, secret, by: .random(32), .random(32))
                #expect(answer.error?.code == .notFound)
            }
            let removal = try await hub.send("DELETE", "/v1/pin-share", token: phone.token)
            #expect(removal.status == 405)
            #expect(try await state(hub, phone).failures == 1)
            for verifier in verifiers { #expect(try await attempt(hub, phone, verifier).status == 200) }
        }
    }

    /// The answers to a wrong PIN are equal byte for byte, whether the hub destroyed the entry or never had it.
    @Test func aDestroyedEntryAnswersAsAWrongPIN() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            for _ in 1...10 {
                #expect(try await attempt(hub, phone, .random(32)).error?.code == .wrongPIN)
                #expect(try await attempt(hub, phone, verifiers[0]).status == 200)
            }
            let real = try await attempt(hub, phone, verifiers[3])
            #expect(try await attempt(hub, phone, verifiers[0]).status == 200)
            let wrong = try await attempt(hub, phone, .random(32))
            #expect(real.status == wrong.status && real.body == wrong.body)
            #expect(real.error?.code == .wrongPIN)
        }
    }

    @Test func everyPartOfAReplacementHasThirtyTwoBytes() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            for (secret, verifier, share) in [(31, 32, 32), (32, 33, 32), (32, 32, 0)] {
                let answer = try await replace(
                    hub, phone, secret == 32 ? secrets[0] : .random(secret), by: .random(verifier), .random(share))
                #expect(answer.error?.code == .badRequest)
            }
            #expect(try await attempt(hub, phone, verifiers[0]).status == 200)
        }
    }

    @Test func aPINShareBelongsToItsDevice() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let (one, other) = (try await hub.pair(with: computer), try await hub.pair(with: computer))
            let entries = verifiers.map { PINShareRequest.Entry(verifier: $0, share: $0, changeHash: $0) }
            _ = try await hub.request(.setPINShare, token: one.token, body: PINShareRequest(entries: entries))
            #expect(try await hub.request(.pinShare, token: other.token).error?.code == .notFound)
            #expect(try await attempt(hub, other, verifiers[0]).error?.code == .notFound)
            #expect(try await attempt(hub, one, verifiers[0]).status == 200)
        }
    }

    @Test func aShareAlwaysHasFourEntriesOfThirtyTwoBytes() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await hub.pair(with: try await hub.found())
            func refused(_ entries: [PINShareRequest.Entry]) async throws {
                let answer = try await hub.request(
                    .setPINShare, token: phone.token, body: PINShareRequest(entries: entries))
                #expect(answer.error?.code == .badRequest)
            }
            let entry = PINShareRequest.Entry(
                verifier: .random(32), share: .random(32), changeHash: .random(32))
            try await refused([])
            try await refused(Array(repeating: entry, count: 3))
            try await refused(Array(repeating: entry, count: 5))
            try await refused([
                entry, entry, entry, .init(verifier: .random(31), share: .random(32), changeHash: .random(32)),
            ])
            try await refused([
                entry, entry, entry, .init(verifier: .random(32), share: .random(33), changeHash: .random(32)),
            ])
            try await refused([
                entry, entry, entry, .init(verifier: .random(32), share: .random(32), changeHash: .random(0)),
            ])
        }
    }

    @Test func concurrentGuessesAreAllCounted() async throws {
        try await HubUnderTest.run { hub in
            let phone = try await prepare(hub)
            let codes = try await withThrowingTaskGroup(of: HubError.Code?.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await self.attempt(hub, phone, .random(32)).error?.code }
                }
                return try await group.reduce(into: [HubError.Code?]()) { $0.append($1) }
            }
            // At most five are compared.
            #expect(codes.count { $0 == .wrongPIN } <= 4)
            #expect(codes.count { $0 == .tooMany } >= 36)
            #expect(try await state(hub, phone).failures == 5)
        }
    }
}
