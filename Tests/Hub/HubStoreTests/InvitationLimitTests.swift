import Foundation
import HubAPI
import HubStore
import Testing

extension Conformance {
    @Suite struct InvitationLimits {
        @Test(arguments: StoreKind.allCases)
        func unusedInvitationsOfAHouseholdAreLimited(_ kind: StoreKind) async throws {
            let open = try await kind.open()
            let store = open.store
            let (household, other) = (
                try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
            )
            func invite(_ sample: SampleHousehold, at time: Int64 = now, seconds: Int = 300) async throws {
                try await store.invite(
                    NewInvitationRequest(id: .random(), proofHash: .random(32), expiresInSeconds: seconds),
                    household: sample.id, by: sample.computer, at: time)
            }
            // Those that devices have joined by don't count.
            for _ in 0..<3 { _ = try await household.joined(to: store) }
            for index in 0..<32 { try await invite(household, seconds: index == 0 ? 1 : 300) }
            await expectRefusal(.tooMany) { try await invite(household) }
            try await invite(other)
            // An expired one counts for another minute.
            await expectRefusal(.tooMany) { try await invite(household, at: now + 60) }
            try await invite(household, at: now + 61)
            await expectRefusal(.tooMany) { try await invite(household, at: now + 61) }
            try await invite(household, at: now + 360)
        }
    }
}
