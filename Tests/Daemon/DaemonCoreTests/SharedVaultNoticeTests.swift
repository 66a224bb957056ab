import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import DaemonCore

/// What a computer pushes to the other members of a shared vault.
@Suite struct SharedVaultNoticeTests {
    @Test func aNoticeProvesWhoAddedAMomentWithoutItsContent() async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        let moment = try await computer.add("SECRET")
        await eventually("it is pushed") { !founder.pushes.isEmpty }
        let push = try #require(founder.pushes.first)
        // To every other member, once.
        #expect(push.devices == nil && push.topic == nil && push.urgency == .high && push.ttl == 86_400)
        let properties = try JSONDecoder().decode([String: JSONValue].self, from: push.payload).keys
        #expect(
            Set(properties) == [
                "collection", "id", "vault", "revision", "epoch", "author", "blobs", "signature", "digest",
            ])
        let notice = try #require(try founder.notices().first)
        #expect(notice.collection == "moments" && notice.id == moment && notice.vault == HubID(founder.vault))
        #expect(notice.revision == 1)
        let device = try await computer.device()
        #expect(notice.author == HubID(device))
        #expect(try await founder.author(of: notice) == device)
    }

    @Test func newMomentsAreAnnouncedAtMostOnceAMinuteAndEditsNever() async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        func revision(of title: String) async throws -> UInt64 {
            let services = try await computer.service.open(founder.id, isChange: false, for: alice)
            let id = try await services.moments.read(title, peer: alice).moment.id
            return founder.hub.hub.records(in: "moments").first { $0.id.description == id }?.revision ?? 0
        }
        let first = try await computer.add("First")
        await eventually("it is pushed") { !founder.pushes.isEmpty }
        try await computer.add("Second")
        await eventually("the hub has it") { try await revision(of: "Second") == 1 }
        // Records are sent in order, so the second one was dealt with once the hub has this.
        try await computer.change("First", favourite: true)
        await eventually("the hub has the edit") { try await revision(of: "First") == 2 }
        computer.world.time.advance(by: .seconds(60))
        try await computer.change("Before", favourite: true)
        await eventually("the hub has the edit") { try await revision(of: "Before") == 2 }
        let third = try await computer.add("Third")
        await eventually("it is pushed") { founder.pushes.count > 1 }
        #expect(try founder.notices().map(\.id) == [first, third])
    }

    @Test func whatMembersHaveAlreadyOrDoNotSeeIsNotAnnounced() async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        let engine = try await computer.opened().engine
        try await computer.setUnreachable(true)
        await eventually("it is not connected") { await !engine.isConnected }
        try await computer.add("In the trash")
        try await computer.change("In the trash", removed: true)
        try await computer.change("Before", favourite: true)
        try await founder.rename("Before", to: "Edited")
        try await computer.setUnreachable(false)
        try await computer.connects()
        let all = ["Before (conflict, den)", "Edited", "In the trash"]
        await eventually("the phone has the copy") { try await founder.titles() == all }
        let new = try await computer.add("New")
        try await computer.change("New", favourite: true)
        await eventually("a moment is pushed") { !founder.pushes.isEmpty }
        #expect(try founder.notices().map(\.id) == [new])
    }

    @Test func aPushThatFailsHoldsUpNothingAndALaterMomentIsAnnounced() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (founder, hub) = (computer.founder, computer.founder.hub)
        let device = HubID(try await computer.device())
        hub.prepare(
            .init(route: .push, reachesHub: false) { _, _ in throw HubUnreachable(.offline, "No push.") }, for: device)
        let first = try await computer.add("First")
        await eventually("the push fails") { !hub.isPrepared(for: device) }
        await eventually("nothing waits") { try await computer.report().waiting == 0 }
        #expect(try await computer.report().problem == nil && founder.pushes.isEmpty)
        // Within the same minute.
        await eventually(every: .milliseconds(50), "a later one is pushed") {
            try await computer.add("Later")
            return !founder.pushes.isEmpty
        }
        #expect(try founder.notices().allSatisfy { $0.id != first })
    }
}
