import Crypto
import Foundation
import HubAPI
import HubStore
import Testing

@testable import HubServer

/// Households, devices, roster and pairing over HTTP.
struct HouseholdTests {
    @Test func theHubDescribesItself() async throws {
        try await HubUnderTest.run { hub in
            let report = try await hub.request(.hub).decoded(HubReport.self)
            #expect(report.name == "applocker-hub")
            #expect(report.version == Release.version)
            #expect(bytes(report.pushKey)?.count == 65)
            #expect(!report.needsRegistrationToken)
            #expect(try await hub.request(.health).status == 200)
        }
    }

    private func bytes(_ text: String) -> Data? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
    }

    @Test func foundingTwiceReturnsTheSameAnswer() async throws {
        try await HubUnderTest.run { hub in
            let device = TestDevice(household: .random(), role: .computer)
            var request = NewHouseholdRequest(
                household: device.household, device: device.id, entry: Data("first".utf8), tokenHash: device.tokenHash)
            for _ in 0..<2 {
                let answer = try await hub.request(.foundHousehold, body: request)
                #expect(answer.status == 200)
                #expect(try answer.decoded(OwnDeviceReport.self).state == .active)
            }
            request.tokenHash = .random(32)
            #expect(try await hub.request(.foundHousehold, body: request).error?.code == .conflict)
            request.tokenHash = .random(31)
            #expect(try await hub.request(.foundHousehold, body: request).error?.code == .badRequest)
        }
    }

    @Test func aHouseholdReportsItsSizeAndRetention() async throws {
        try await HubUnderTest.configured { configuration, _ in
            configuration.eventDays = 12
            configuration.limits.recordingBytes = 7 << 20
        }.run { hub in
            let computer = try await hub.found()
            try await hub.put(computer.record(sealed: Data(count: 100)), by: computer)
            let report = try await hub.request(.household, token: computer.token).decoded(HouseholdReport.self)
            #expect(report.sequence == 1 && report.records == 1 && report.bytes == 612 && report.eventDays == 12)
            #expect(report.recordingBytes == 7 << 20)
            let changed = try await hub.request(
                .changeHousehold, token: computer.token, body: ChangeHouseholdRequest(eventDays: 20))
            #expect(try changed.decoded(HouseholdReport.self).eventDays == 20)
            for (days, code) in [
                (0, HubError.Code.badRequest), (3_651, .badRequest), (-1, .badRequest), (19, .forbidden),
            ] {
                let refused = try await hub.request(
                    .changeHousehold, token: computer.token, body: ChangeHouseholdRequest(eventDays: days))
                #expect(refused.error?.code == code)
            }
            let kept = try await hub.request(.household, token: computer.token).decoded(HouseholdReport.self)
            #expect(kept.eventDays == 20)
        }
    }

    @Test func removingAHouseholdRemovesItsTokensAndStreams() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let other = try await hub.found()
            try await hub.put(computer.record(), by: computer)
            let stream = try await EventStream(hub, computer)
            try await stream.wait(for: "live")
            #expect(try await hub.request(.removeHousehold, token: computer.token).status == 204)
            try await stream.waitForEnd()
            #expect(try await hub.request(.household, token: computer.token).status == 401)
            #expect(try await hub.request(.household, token: other.token).status == 200)
        }
    }

    @Test func aDeviceIsPairedByAnInvitationAndTheRoster() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = TestDevice(household: computer.household, role: .companion)
            let (id, proof) = (HubID.random(), Data.random(32))
            #expect(
                try await hub.request(
                    .invite, token: computer.token,
                    body: NewInvitationRequest(id: id, proofHash: Data(SHA256.hash(data: proof)))
                ).status == 204)
            let path = [id.description]
            #expect(
                try await hub.request(.invitation, path, token: computer.token).decoded(InvitationReport.self).join
                    == nil)

            var join = JoinRequest(
                proof: .random(32), device: phone.id, role: .companion, tokenHash: phone.tokenHash,
                sealed: Data("sealed name".utf8))
            #expect(try await hub.request(.join, path, join).error?.code == .notFound)
            join.proof = proof
            for _ in 0..<2 {
                let joined = try await hub.request(.join, path, join)
                #expect(try joined.decoded(OwnDeviceReport.self).state == .pending)
            }
            var stranger = join
            stranger.device = .random()
            #expect(try await hub.request(.join, path, stranger).error?.code == .gone)

            let report = try await hub.request(.invitation, path, token: computer.token).decoded(InvitationReport.self)
            #expect(report.join?.device == phone.id && report.join?.sealed == Data("sealed name".utf8))
            #expect(
                try await hub.request(.ownDevice, token: phone.token).decoded(OwnDeviceReport.self).state == .pending)

            let entry = try await hub.admitting(phone.member, by: computer)
            try await hub.append(.admit(device: phone.id, role: .companion, invitation: id), entry, by: computer)
            #expect(
                try await hub.request(.ownDevice, token: phone.token).decoded(OwnDeviceReport.self).state == .active)
            let roster = try await hub.request(.roster, query: "?after=1", token: phone.token).decoded(RosterPage.self)
            #expect(roster.entries == [entry])
            let devices = try await hub.request(.devices, token: phone.token).decoded(HubDeviceList.self).devices
            #expect(Set(devices.map(\.id)) == [computer.id, phone.id])
            #expect(devices.allSatisfy { $0.state == .active && !$0.isConnected && !$0.hasPush })
        }
    }

    @Test func anInvitationEndsAfterFiveMinutesOrWhenItIsWithdrawn() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            for isWithdrawn in [false, true] {
                let (id, proof) = (HubID.random(), Data.random(32))
                _ = try await hub.request(
                    .invite, token: computer.token,
                    body: NewInvitationRequest(id: id, proofHash: Data(SHA256.hash(data: proof))))
                if isWithdrawn {
                    #expect(
                        try await hub.request(.withdrawInvitation, [id.description], token: computer.token).status
                            == 204)
                } else {
                    hub.time.advance(by: .seconds(301))
                }
                let join = JoinRequest(
                    proof: proof, device: .random(), role: .companion, tokenHash: .random(32), sealed: Data([1]))
                #expect(try await hub.request(.join, [id.description], join).error?.code == .gone)
                #expect(
                    try await hub.request(.invitation, [id.description], token: computer.token).error?.code == .gone)
            }
            for seconds in [0, 301] {
                let refused = try await hub.request(
                    .invite, token: computer.token,
                    body: NewInvitationRequest(id: .random(), proofHash: .random(32), expiresInSeconds: seconds))
                #expect(refused.error?.code == .badRequest)
            }
        }
    }

    @Test func theRosterAcceptsOnlyTheNextEntry() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            for number: UInt64 in [1, 2, 4] {
                let refused = try await hub.request(
                    .appendToRoster, token: computer.token,
                    body: RosterAppendRequest(number: number, entry: Data([1]), change: .revoke(device: phone.id)))
                #expect(refused.error?.code == .conflict)
            }
            #expect(try await hub.request(.ownDevice, token: phone.token).status == 200)
        }
    }

    @Test func aRevokedDeviceLosesAccessImmediately() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let stream = try await EventStream(hub, phone)
            try await stream.wait(for: "live")
            try await hub.append(.revoke(device: phone.id), by: computer)
            #expect(try await hub.request(.ownDevice, token: phone.token).status == 401)
            try await stream.waitForEnd()
            // It may read its own revocation, and no later entry.
            _ = try await hub.pair(with: computer)
            let page: RosterPage = try await hub.request(.roster, query: "?after=2", token: phone.token).decoded()
            #expect(page.entries == [try await hub.chain(of: computer)[2]])
            #expect(try await hub.request(.roster, query: "?after=x", token: phone.token).status == 400)
            for route: HubRoute in [.records, .devices, .household] {
                #expect(try await hub.request(route, token: phone.token).status == 401)
            }
            try await hub.put(computer.record(), by: computer)
            #expect(!stream.text.contains("event: record"))
        }
    }

    @Test func aCompanionThatLeavesLosesTokenAndStreamAndStaysInTheRoster() async throws {
        try await HubUnderTest.run { hub in
            let computer = try await hub.found()
            let phone = try await hub.pair(with: computer)
            let stream = try await EventStream(hub, phone)
            try await stream.wait(for: "live")
            #expect(try await hub.request(.leave, token: computer.token).error?.code == .forbidden)
            #expect(try await hub.request(.leave, token: phone.token).status == 204)
            try await stream.waitForEnd()
            #expect(try await hub.request(.ownDevice, token: phone.token).status == 401)
            #expect(
                try await hub.request(.roster, query: "?after=0", token: computer.token).decoded(RosterPage.self)
                    .entries
                    .count
                    == 2)
        }
    }
}
