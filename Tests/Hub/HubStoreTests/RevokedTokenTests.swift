import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct RevokedTokens {
        /// A former member could otherwise read the first household's later entries, up to the second one's number.
        @Test(arguments: StoreKind.allCases)
        func aTokenRevokedInTwoHouseholdsReadsTheLatterRosterOnly(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let first = try await SampleHousehold.founded(in: store)
            let (device, token) = try await first.admitted(to: store)
            try await store.appendToRoster(
                RosterAppendRequest(number: 3, entry: .random(300), change: .revoke(device: device)), of: first.id)
            for _ in 0..<3 { _ = try await first.admitted(to: store) }
            #expect(try await store.household(ofRevoked: token) == first.id)

            let second = SampleHousehold()
            var request = second.request
            request.tokenHash = token
            #expect(try await store.foundHousehold(request))
            for _ in 0..<4 { _ = try await second.admitted(to: store) }
            try await store.appendToRoster(
                RosterAppendRequest(number: 6, entry: .random(300), change: .revoke(device: second.computer)),
                of: second.id)
            #expect(try await store.household(ofRevoked: token) == second.id)
            let entries = try await store.roster(of: second.id, after: 0)
            #expect(try await store.roster(ofRevoked: token, after: 0) == entries)
        }
    }
}
