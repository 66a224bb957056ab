import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SystemTestSupport
import TestSupport
import Testing

/// A household that a phone founds at a real hub, by an invitation of its operator, and that a computer joins.
@Suite struct PhoneFoundedTests {
    @Test func aComputerJoinsTheHouseholdOfTwoPhones() async throws {
        let fixture = try await CommandLineFixture()
        let hub = try await RunningHub(in: fixture.directory)
        let passcode = [CommandLineFixture.passcode]
        let phone = try await Companion.found(
            at: .init(url: hub.url), name: "Anna's phone", directory: fixture.directory.path("anna"),
            connect: Companion.overHTTP)
        _ = try await phone.write(title: "Shopping", body: "milk")
        try await phone.writeMoment(title: "At the lake", words: "cold")
        let (forPhone, phoneLink) = try await phone.invite(.administrator)
        async let joining = Companion.join(
            phoneLink, name: "Ben's phone", directory: fixture.directory.path("ben"), connect: Companion.overHTTP)
        #expect(try await phone.admit(by: forPhone) == "Ben's phone")
        let second = try await joining
        #expect(try await second.notes().map(\.title) == ["Shopping"])

        let (invitation, link) = try await second.invite(.computer)
        async let admitted = second.admit(by: invitation)
        let joined = try await fixture.run("hub", "join", link, passcodes: passcode)
        #expect(joined.status == 0, "\(joined.output)\(joined.errors)")
        #expect(joined.output.contains("This computer is in the household at \(hub.url)."))
        _ = try await admitted
        await eventually { try await fixture.run("hub", "status", "--json").json()["connected"] as? Bool == true }
        let devices = try await fixture.run("devices", "list", "--json").json()["devices"] as? [[String: Any]]
        #expect(devices?.compactMap { $0["role"] as? String } == ["administrator", "administrator", "computer"])

        // Locked, it shows nothing of the vault.
        let locked = try await fixture.run("note", "list")
        #expect(locked.status != 0 && !locked.output.contains("Shopping"), "\(locked.output)")
        #expect(try await fixture.run("vault", "unlock", passcodes: passcode).status == 0)
        await eventually("the phones' note and moment are read") {
            let note = try await fixture.run("note", "list").output.contains("Shopping")
            return try await fixture.run("moments", "list").output.contains("At the lake") && note
        }
        #expect(try await fixture.run("note", "show", "Shopping").output.contains("milk"))

        // Its status and its commands.
        await eventually("both phones see the computer") {
            for one in [phone, second] {
                try await one.sync()
                guard await one.report().computers.count == 1 else { return false }
            }
            return true
        }
        let computer = try await phone.computer(nil)
        for one in [phone, second] {
            let reply = try await one.command(.lockAll, to: computer)
            #expect(reply.state == .done, "\(reply.sentence)")
        }

        // One phone revokes the other: what is written then reaches the computer under new keys.
        try await phone.revoke(await second.device)
        _ = try await phone.write(title: "Since", body: "")
        #expect(try await fixture.run("vault", "unlock", passcodes: passcode).status == 0)
        await eventually { try await fixture.run("note", "list").output.contains("Since") }
        let left = try await fixture.run("devices", "list", "--json").json()["devices"] as? [[String: Any]]
        #expect(left?.count == 2)
        await #expect(throws: HubError.self) { try await second.sync() }
        try await phone.sync()
        #expect(await phone.report().misbehaviour.isEmpty)
        #expect(try await fixture.run("hub", "status", "--json").json()["misbehaviour"] as? [String] == [])
        try await fixture.end()
    }
}
