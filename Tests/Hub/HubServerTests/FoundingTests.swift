import Crypto
import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import SealedFormats
import Testing

@testable import HubServer

/// Who may found a household at a hub that is not open, over HTTP.
struct FoundingTests {
    private static let token = "registration token of the hub"
    private static let elsewhere = "8.8.8.8"

    private func hub(
        _ registration: HubConfiguration.Registration = .token(token), households: Int? = nil,
        _ body: @escaping @Sendable (HubUnderTest) async throws -> Void
    ) async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.registration = registration
            configuration.trustedProxies = [AddressRange("127.0.0.1")!]
            configuration.limits.arrivals = .none
            // None is allowed again during a test.
            configuration.limits.failedTokens.perSecond = 0.001
            configuration.limits.households = households
        }.run(body)
    }

    @discardableResult
    private func found(
        _ hub: HubUnderTest, from address: String = elsewhere, token: Data? = nil, as device: TestDevice? = nil,
        _ change: (inout NewHouseholdRequest) -> Void
    ) async throws -> HubUnderTest.Answer {
        let device = device ?? TestDevice(household: .random(), role: .administrator)
        var request = NewHouseholdRequest(
            household: device.household, device: device.id, entry: device.entry, tokenHash: device.tokenHash,
            role: device.role)
        change(&request)
        return try await hub.request(
            .foundHousehold, token: token, headers: [("X-Forwarded-For", address)], request)
    }

    private func start(
        after seconds: Int64 = 3_600, token: String = token, _ hub: HubUnderTest
    ) -> StartInvitation {
        StartInvitation(expires: UInt64(hub.time.milliseconds() / 1_000 + seconds), token: token)
    }

    @Test func aPhoneFoundsAHouseholdWithAStartLinkOnce() async throws {
        try await hub { hub in
            let (link, phone) = (start(hub), TestDevice(household: .random(), role: .administrator))
            let entry = phone.entry
            for _ in 0..<2 {
                let answer = try await found(hub, as: phone) {
                    $0.entry = entry
                    $0.start = link.text
                }
                #expect(answer.status == 200)
                #expect(try answer.decoded(OwnDeviceReport.self).role == .administrator)
            }
            let again = try await found(hub) { $0.start = link.text }
            #expect(again.error?.code == .gone && again.error?.message.contains("used") == true)
            #expect(try await hub.store.households().count == 1)
            // The founder administers.
            let invited = try await hub.request(
                .invite, token: phone.token, body: NewInvitationRequest(id: .random(), proofHash: .random(32)))
            #expect(invited.status == 204)
        }
    }

    @Test func expiredForgedAndOverlongStartLinksAreRefused() async throws {
        try await hub { hub in
            let expired = try await found(hub) { $0.start = start(after: 0, hub).text }
            #expect(expired.error?.code == .gone && expired.error?.message.contains("expired") == true)
            let good = start(hub).text
            for text in [
                start(token: "registration token of another hub", hub).text, "", good + "A", String(good.dropLast()),
                "https://hub.example/#start=" + good, String(repeating: "A", count: 60_000),
            ] {
                let refused = try await found(hub) { $0.start = text }
                #expect(refused.error?.code == .forbidden, "\(text.prefix(80))")
            }
            let overlong = try await found(hub) { $0.start = start(after: 31 * 86_400, hub).text }
            #expect(overlong.error?.code == .forbidden)
            // Neither does the token in another field help a bad link.
            let both = try await found(hub) {
                $0.start = "AQ"
                $0.registrationToken = Self.token
            }
            #expect(both.error?.code == .forbidden)
            #expect(try await hub.store.households().isEmpty)
        }
    }

    @Test func guessesOfStartLinksAreLimited() async throws {
        try await hub { hub in
            for _ in 0..<25 { try await found(hub, from: "9.9.9.9") { $0.start = "AQ" } }
            #expect(try await found(hub, from: "9.9.9.9") { $0.start = "AQ" }.status == 429)
            #expect(try await found(hub) { $0.start = start(hub).text }.status == 200)
        }
    }

    @Test func twoFoundingsAtOnceUseALinkOnce() async throws {
        try await hub { hub in
            let link = start(hub)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await found(hub) { $0.start = link.text }.status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 410, 410, 410])
            #expect(try await hub.store.households().count == 1)
        }
    }

    @Test func anInvitationToAHouseholdAdmitsOneFounder() async throws {
        try await hub { hub in
            let owner = try await hub.found(role: .administrator)
            let (id, proof) = (HubID.random(), Data.random(32))
            _ = try await hub.request(
                .invite, token: owner.token,
                body: NewInvitationRequest(id: id, proofHash: Data(SHA256.hash(data: proof))))
            func invited(_ id: HubID, _ proof: Data) async throws -> HubUnderTest.Answer {
                try await found(hub) { $0.vaultInvitation = VaultInvitationProof(id: id, proof: proof) }
            }
            #expect(try await invited(id, .random(32)).error?.code == .notFound)
            #expect(try await invited(.random(), proof).error?.code == .notFound)
            #expect(try await invited(id, Data([1])).error?.code == .badRequest)
            #expect(try await invited(id, proof).status == 200)
            #expect(try await invited(id, proof).error?.code == .gone)
            let join = JoinRequest(
                proof: proof, device: .random(), role: .computer, tokenHash: .random(32), sealed: Data([1]))
            #expect(try await hub.request(.join, [id.description], join).status == 200)
            #expect(try await hub.store.households().count == 2)
        }
    }

    @Test func aClosedHubAcceptsNoHouseholdFromElsewhereButSharedVaults() async throws {
        try await hub(.closed) { hub in
            let owner = try await hub.found()
            let (id, proof) = (HubID.random(), Data.random(32))
            _ = try await hub.request(
                .invite, token: owner.token,
                body: NewInvitationRequest(id: id, proofHash: Data(SHA256.hash(data: proof))))
            let attempts: [(inout NewHouseholdRequest) -> Void] = [
                { _ in }, { $0.registrationToken = Self.token }, { $0.start = start(hub).text },
                { $0.vaultInvitation = VaultInvitationProof(id: id, proof: proof) },
            ]
            for attempt in attempts {
                let refused = try await found(hub, attempt)
                #expect(refused.error?.code == .forbidden && refused.error?.message.contains("closed") == true)
            }
            #expect(try await found(hub, token: owner.token) { _ in }.status == 200)
            let report = try await hub.request(.hub, headers: [("X-Forwarded-For", Self.elsewhere)])
                .decoded(HubReport.self)
            #expect(report.registration == .closed && report.needsRegistrationToken)
        }
    }

    @Test func theReportShowsWhoMayFound() async throws {
        for (registration, expected) in [
            (HubConfiguration.Registration.open, HubRegistration.open), (.token(Self.token), .invitation),
            (.closed, .closed),
        ] {
            try await hub(registration) { hub in
                let report = try await hub.request(.hub).decoded(HubReport.self)
                #expect(report.registration == expected)
            }
        }
    }

    @Test func anOpenHubAcceptsTenHouseholdsADayFromOneAddress() async throws {
        try await hub(.open) { hub in
            for _ in 0..<10 { #expect(try await found(hub) { _ in }.status == 200) }
            let refused = try await found(hub) { _ in }
            #expect(refused.status == 429 && (refused.error?.retryAfterSeconds ?? 0) > 3_600)
            #expect(try await found(hub, from: "9.9.9.9") { _ in }.status == 200)
            hub.time.advance(by: .seconds(86_400 / 10 + 1))
            #expect(try await found(hub) { _ in }.status == 200)
            #expect(try await found(hub) { _ in }.status == 429)
        }
    }

    @Test func theLimitOfHouseholdsDoesNotCountSharedVaults() async throws {
        try await hub(.open, households: 1) { hub in
            let owner = try await hub.found()
            let refused = try await found(hub) { _ in }
            #expect(refused.error?.code == .forbidden)
            #expect(try await found(hub, token: owner.token) { _ in }.status == 200)
        }
    }
}
