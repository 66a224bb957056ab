import Crypto
import Foundation
import HubAPI
import HubStore
import HubStoreSQLite
import TestSupport
import Testing

@testable import HubServer

/// Every route with every token that must not have access.
struct AccessTests {
    /// A valid request of this route about a household's things.
    private struct Target {
        var parameters: [String] = []
        var query = ""
        var headers: [(String, String)] = []
        var body: Data?
    }

    /// Things of a household that others try to access.
    private struct Things {
        let record: HubRecord
        let blob: HubID
        let invitation: HubID
        let computer: TestDevice
        let phone: TestDevice
    }

    private func target(_ route: HubRoute, _ things: Things, as device: TestDevice?) throws -> Target {
        var target = Target()
        func body(_ message: some Encodable) throws { target.body = try JSONEncoder().encode(message) }
        switch route {
        case .health, .metrics, .hub, .household, .removeHousehold, .ownDevice, .leave, .devices, .pinShare,
            .removePush:
            break
        case .foundHousehold:
            try body(
                NewHouseholdRequest(
                    household: things.computer.household, device: .random(), entry: Data([1]), tokenHash: .random(32)))
        case .changeHousehold: try body(ChangeHouseholdRequest(eventDays: 1))
        case .roster: target.query = "?after=0"
        case .appendToRoster:
            try body(RosterAppendRequest(number: 3, entry: Data([1]), change: .revoke(device: things.phone.id)))
        case .invite: try body(NewInvitationRequest(id: things.invitation, proofHash: .random(32)))
        case .invitation, .withdrawInvitation: target.parameters = [things.invitation.description]
        case .invitationDetails:
            target.parameters = [things.invitation.description]
            try body(InvitationDetailsRequest(proof: .random(32)))
        case .join:
            target.parameters = [things.invitation.description]
            try body(
                JoinRequest(
                    proof: .random(32), device: .random(), role: .companion, tokenHash: .random(32), sealed: Data([1])))
        case .records: target.query = "?after=0"
        case .record: target.parameters = [things.record.collection, things.record.id.description]
        case .writeRecord, .writeRecords:
            // As an author of the household, with the next revision.
            var record = things.record
            record.revision = 2
            if let device { record.author = device.id }
            if route == .writeRecords {
                try body(HubWriteRequest(records: [record]))
            } else {
                target.parameters = [record.collection, record.id.description]
                target.headers = [("If-Match", "\"1\"")]
                try body(record)
            }
        case .stream: target.query = "?after=0"
        case .beginBlob: try body(NewBlobRequest(id: things.blob, size: 3, hash: .random(32)))
        case .writeBlob:
            target.parameters = [things.blob.description]
            target.query = "?offset=0"
            target.body = Data([7, 7, 7])
        case .blobState, .readBlob: target.parameters = [things.blob.description]
        case .setPINShare:
            let entry = PINShareRequest.Entry(
                verifier: .random(32), share: .random(32), changeHash: .random(32))
            try body(PINShareRequest(entries: Array(repeating: entry, count: 4)))
        case .attemptPIN: try body(PINAttemptRequest(verifier: .random(32)))
        case .replacePIN:
            try body(PINReplaceRequest(changeSecret: .random(32), verifier: .random(32), share: .random(32)))
        case .setPush: try body(TestPush.subscription(endpoint: "https://push.example.com/1"))
        case .push: try body(PushMessageRequest(payload: Data([1]), urgency: .normal, ttl: 1))
        case .setReminders: try body(PushRemindersRequest(list: .random(), reminders: []))
        }
        return target
    }

    private func send(_ hub: HubUnderTest, _ route: HubRoute, _ target: Target, token: Data?) async throws
        -> HubUnderTest.Answer
    {
        var left = target.parameters[...]
        let path = route.template.split(separator: "/").map { part in
            "/" + (part.hasPrefix("{") ? left.popFirst() ?? "-" : String(part))
        }.joined()
        return try await hub.send(
            route.method, path + target.query, token: token, headers: target.headers, body: target.body)
    }

    private func things(_ hub: HubUnderTest) async throws -> Things {
        let computer = try await hub.found()
        let phone = try await hub.pair(with: computer)
        let record = computer.record(sealed: Data("SEALED CONTENT".utf8))
        try await hub.put(record, by: computer)
        let blob = HubID.random()
        _ = try await hub.request(
            .beginBlob, token: computer.token, body: NewBlobRequest(id: blob, size: 3, hash: .random(32)))
        let invitation = HubID.random()
        _ = try await hub.request(
            .invite, token: computer.token, body: NewInvitationRequest(id: invitation, proofHash: .random(32)))
        return Things(record: record, blob: blob, invitation: invitation, computer: computer, phone: phone)
    }

    private func everything(_ hub: HubUnderTest, _ things: Things) async throws -> String {
        let token = things.computer.token
        var text = ""
        for (route, target) in [
            (HubRoute.household, Target()), (.devices, Target()), (.roster, Target(query: "?after=0")),
            (.records, Target(query: "?after=0")), (.blobState, Target(parameters: [things.blob.description])),
            (.invitation, Target(parameters: [things.invitation.description])),
        ] {
            let answer = try await send(hub, route, target, token: token)
            #expect(answer.status == 200, "\(route)")
            let sorted = try JSONSerialization.data(
                withJSONObject: JSONSerialization.jsonObject(with: answer.body), options: [.sortedKeys])
            text += String(decoding: sorted, as: UTF8.self) + "\n"
        }
        return text
    }

    @Test func tokensOfAnotherHouseholdAccessNothing() async throws {
        try await HubUnderTest.run { hub in
            let things = try await things(hub)
            let stranger = try await hub.found()
            let strangersPhone = try await hub.pair(with: stranger)
            let before = try await everything(hub, things)
            for route in HubRoute.allCases where route != .removeHousehold && route != .leave {
                for device in [stranger, strangersPhone] where route != .stream {
                    // Once as the stranger itself, and once pretending to belong to the household.
                    for pretended in [device, things.computer] {
                        let answer = try await send(
                            hub, route, try target(route, things, as: pretended), token: device.token)
                        let text = String(decoding: answer.body, as: UTF8.self)
                        for secret in [
                            things.record.id.description, things.computer.id.description, things.phone.id.description,
                            things.computer.household.description, Data("SEALED CONTENT".utf8).base64EncodedString(),
                        ] {
                            #expect(!text.contains(secret), "\(route) shows \(secret)")
                        }
                    }
                }
            }
            let stream = try await EventStream(hub, stranger, after: 0)
            try await stream.wait(for: "live")
            let (written, own) = (things.computer.record(), stranger.record())
            try await hub.put(written, by: things.computer)
            // A later record arrives later.
            try await hub.put(own, by: stranger)
            await eventually("its own record arrives") { stream.text.contains(own.id.description) }
            #expect(!stream.text.contains(written.id.description))
            #expect(!stream.text.contains(things.record.id.description))
            // The last write was the household's own; nothing of the stranger's requests was stored.
            var after = try await everything(hub, things)
            #expect(after.contains("\"sequence\":2"))
            _ = try await send(hub, .removeHousehold, Target(), token: stranger.token)
            after = try await everything(hub, things)
            #expect(before.split(separator: "\n")[2] == after.split(separator: "\n")[2])
            #expect(before.split(separator: "\n").suffix(2) == after.split(separator: "\n").suffix(2))
            #expect(try await hub.request(.ownDevice, token: things.phone.token).status == 200)
        }
    }

    @Test func withoutATokenOnlyPublicRoutesAnswer() async throws {
        try await HubUnderTest.configured { configuration, _ in configuration.limits.failedTokens = .none }.run { hub in
            let things = try await things(hub)
            for route in HubRoute.allCases where route.access != .anybody {
                let target = try target(route, things, as: nil)
                #expect(try await send(hub, route, target, token: nil).status == 401, "\(route)")
                #expect(try await send(hub, route, target, token: .random(32)).status == 401, "\(route)")
                #expect(try await send(hub, route, target, token: .random(31)).status == 401, "\(route)")
            }
            #expect(try await everything(hub, things).contains("\"sequence\":1"))
        }
    }

    @Test func aPendingDeviceAccessesOnlyItself() async throws {
        try await HubUnderTest.run { hub in
            let things = try await things(hub)
            for role in HubDeviceRole.allCases {
                let pending = try await hub.pair(with: things.computer, role: role, admit: false)
                for route in HubRoute.allCases where route.access != .anybody && route != .ownDevice {
                    let answer = try await send(
                        hub, route, try target(route, things, as: pending), token: pending.token)
                    #expect(answer.status == 403, "\(route)")
                }
                #expect(try await hub.request(.ownDevice, token: pending.token).status == 200)
            }
        }
    }

    @Test func routesOfOneRoleAreRefusedToTheOther() async throws {
        try await HubUnderTest.run { hub in
            let things = try await things(hub)
            for route in HubRoute.allCases where route.access == .administrator || route.access == .companion {
                let device = route.access == .administrator ? things.phone : things.computer
                let answer = try await send(hub, route, try target(route, things, as: device), token: device.token)
                #expect(answer.error?.code == .forbidden, "\(route)")
            }
        }
    }

    @Test func anAdministratorMayAdmitAndHasWhatAPhoneHas() async throws {
        try await HubUnderTest.run { hub in
            let founder = try await hub.found(role: .administrator)
            let second = try await hub.pair(with: founder, role: .administrator)
            let computer = try await hub.pair(with: second, role: .computer)
            let phone = try await hub.pair(with: computer)
            let entry = PINShareRequest.Entry(verifier: .random(32), share: .random(32), changeHash: .random(32))
            for device in [founder, second, phone] {
                let answer = try await hub.request(
                    .setPINShare, token: device.token,
                    body: PINShareRequest(entries: Array(repeating: entry, count: PINShareRequest.count)))
                #expect(answer.status == 204)
            }
            let stream = try await EventStream(hub, second)
            try await stream.wait(for: "live")
            _ = try await hub.pair(with: founder, admit: false)
            try await stream.wait(for: "join")
            try await hub.append(.revoke(device: founder.id), by: second)
            #expect(try await hub.request(.ownDevice, token: founder.token).status == 401)
            #expect(try await hub.request(.leave, token: second.token).status == 204)
        }
    }

    /// As its role in the household, not as the request has it, decides.
    @Test func adminRoutesAreRefusedToCompanionsAndToAdministratorsOfOtherHouseholds() async throws {
        try await HubUnderTest.run { hub in
            let founder = try await hub.found(role: .administrator)
            let companion = try await hub.pair(with: founder)
            let stranger = try await hub.found(role: .administrator)
            let before = try await hub.store.household(founder.household).rosterNumber
            for change in [
                HubAPI.RosterChange.revoke(device: founder.id),
                .admit(device: .random(), role: .administrator, invitation: .random()),
            ] {
                let message = RosterAppendRequest(number: before + 1, entry: Data([1]), change: change)
                let refused = try await hub.request(.appendToRoster, token: companion.token, body: message)
                #expect(refused.error?.code == .forbidden)
            }
            // The request is about the stranger's own household, which has no such device.
            let message = RosterAppendRequest(
                number: 2, entry: try await hub.revoking(founder.item, by: stranger),
                change: .revoke(device: founder.id))
            let refused = try await hub.request(.appendToRoster, token: stranger.token, body: message)
            #expect(refused.error?.code == .notFound)
            #expect(try await hub.store.household(founder.household).rosterNumber == before)
            #expect(try await hub.request(.ownDevice, token: founder.token).status == 200)
        }
    }

    @Test func theRoleOfAnEntryIsThatOfTheRequest() async throws {
        try await HubUnderTest.run { hub in
            let founder = try await hub.found(role: .administrator)
            let (id, proof) = (HubID.random(), Data.random(32))
            let phone = TestDevice(household: founder.household, role: .companion)
            _ = try await hub.request(
                .invite, token: founder.token,
                body: NewInvitationRequest(id: id, proofHash: Data(SHA256.hash(data: proof))))
            let join = JoinRequest(
                proof: proof, device: phone.id, role: .companion, tokenHash: phone.tokenHash, sealed: Data([1]))
            #expect(try await hub.request(.join, [id.description], join).status == 200)
            func admit(_ role: HubDeviceRole, entry: HubDeviceRole) async throws -> HubUnderTest.Answer {
                try await hub.request(
                    .appendToRoster, token: founder.token,
                    body: RosterAppendRequest(
                        number: 2, entry: try await hub.admitting(phone.member(as: entry), by: founder),
                        change: .admit(device: phone.id, role: role, invitation: id)))
            }
            for (role, entry) in [
                (HubDeviceRole.administrator, HubDeviceRole.administrator), (.administrator, .companion),
                (.companion, .administrator), (.computer, .companion),
            ] {
                #expect(try await admit(role, entry: entry).error?.code == .badRequest, "\(role), \(entry)")
            }
            #expect(try await admit(.companion, entry: .companion).status == 204)
            let other = TestDevice(household: .random(), role: .administrator)
            for (role, entry) in [
                (HubDeviceRole?.none, HubDeviceRole.administrator), (.administrator, .computer),
                (.companion, .companion),
            ] {
                let answer = try await hub.request(
                    .foundHousehold,
                    body: NewHouseholdRequest(
                        household: other.household, device: other.id, entry: other.entry(as: entry),
                        tokenHash: other.tokenHash, role: role))
                #expect(answer.error?.code == .badRequest)
            }
        }
    }

    @Test func noRouteAnswersAnotherMethodOrPath() async throws {
        try await HubUnderTest.run { hub in
            for target in [
                "/v1", "/v1/", "/v1/hub/", "/v2/hub", "//v1/hub", "/v1/records/a", "/v1/blobs//state", "/..",
                "/v1/../etc",
            ] {
                #expect(try await hub.send("GET", target).status == 404, "\(target)")
            }
            let wrong = try await hub.send("DELETE", "/v1/hub")
            #expect(wrong.status == 405 && wrong.header("Allow") == "GET")
        }
    }
}
