import Foundation
import HubAPI
import SealedFormats
import TestSupport
import Testing

/// A copy of a locked phone has its token, but not its signing key.
@Suite struct StolenTokenTests {
    @Test func anAdministratorsTokenAloneNeitherRevokesNorEndsTheChain() async throws {
        try await HubUnderTest.run { hub in
            let founder = try await hub.found(role: .administrator)
            let second = try await hub.pair(with: founder, role: .administrator)
            let thief = TestDevice(household: founder.household, role: .administrator)
            let (victim, number) = (second.item, UInt64(3))
            func send(_ entry: Data, _ change: HubAPI.RosterChange) async throws -> HubError.Code? {
                try await hub.request(
                    .appendToRoster, token: founder.token,
                    body: RosterAppendRequest(number: number, entry: entry, change: change)
                ).error?.code
            }
            let chain = try await hub.chain(of: founder)
            var otherSignature = try await hub.revoking(victim, by: founder)
            otherSignature[otherSignature.count - 1] ^= 1
            for (name, entry) in [
                ("no entry", Data([1])), ("random bytes", .random(347)),
                ("signed by a stranger", try await hub.revoking(victim, by: thief)),
                ("signed by another member", try await hub.revoking(victim, by: second)),
                ("another signature", otherSignature), ("an earlier entry", chain[1]),
                ("another change", try await hub.revoking(founder.item, by: founder)),
            ] {
                #expect(try await send(entry, .revoke(device: second.id)) == .forbidden, "\(name)")
            }
            for (name, entry) in [
                ("no entry", Data([1])), ("random bytes", .random(347)),
                ("signed by a stranger", try await hub.admitting(thief.member, by: thief)),
            ] {
                #expect(try await send(entry, .restore(revoked: nil)) == .forbidden, "\(name)")
            }
            let hidden = try await hub.revoking(victim, by: founder)
            #expect(try await send(hidden, .restore(revoked: nil)) == .forbidden, "a revocation without its device")
            #expect(try await hub.chain(of: founder) == chain)
            #expect(try await hub.request(.ownDevice, token: second.token).status == 200)
            // What a restored hub has lost is sent again by any administrator.
            #expect(try await send(try await hub.revoking(victim, by: second), .restore(revoked: second.id)) == nil)
        }
    }

    /// The hub reads the chain, another device's entry is appended, and only then the hub appends.
    @Test func anEntryAfterTheNextIsNotAppendedWhenTheNextArrivesMeanwhile() async throws {
        try await HubUnderTest.observed { hub, store in
            let founder = try await hub.found(role: .administrator)
            let second = try await hub.pair(with: founder, role: .administrator)
            let meanwhile = RosterAppendRequest(number: 3, entry: .random(300), change: .restore(revoked: nil))
            store.afterNextRoster { try await store.appendToRoster(meanwhile, of: founder.household) }
            var request = RosterAppendRequest(number: 4, entry: .random(300), change: .revoke(device: second.id))
            let refused = try await hub.request(.appendToRoster, token: founder.token, body: request)
            #expect(refused.error?.code == .conflict)
            #expect(try await hub.chain(of: founder).count == 3)
            #expect(try await hub.request(.ownDevice, token: second.token).status == 200)
            // An entry that is stored already is confirmed, whatever change is named with it.
            let stream = try await EventStream(hub, second)
            try await stream.wait(for: "live")
            (request.number, request.entry) = (3, meanwhile.entry)
            #expect(try await hub.request(.appendToRoster, token: founder.token, body: request).status == 204)
            try await hub.put(founder.record(), by: founder)
            try await stream.wait(for: "record")
        }
    }

    @Test func anAdministratorsTokenAloneDoesNotRemoveWhatOthersHave() async throws {
        try await HubUnderTest.run { hub in
            let founder = try await hub.found(role: .administrator)
            let second = try await hub.pair(with: founder, role: .administrator)
            _ = try await hub.pair(with: founder)
            let refused = try await hub.request(.removeHousehold, token: founder.token)
            #expect(refused.error?.code == .forbidden)
            #expect(try await hub.request(.household, token: second.token).status == 200)
            // The last one that administers may.
            try await hub.append(.revoke(device: second.id), by: founder)
            #expect(try await hub.request(.removeHousehold, token: founder.token).status == 204)
        }
    }
}
