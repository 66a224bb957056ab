import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync
import TestSupport
import Testing

@testable import DaemonCore

/// What a computer seals again, and what it leaves alone, in a household that a phone founded.
@Suite struct PhoneFoundedSealingTests {
    private static let kept = [RecordCollection.vaults, .remarks, .audit]

    @Test func whatIsNotForOthersToSignStaysUnderTheNameOfARevokedPhone() async throws {
        let founded = try await PhoneFounded.joined()
        let second = try await founded.secondPhone()
        let lost = await second.device
        for collection in Self.kept { try await second.write(Data("{}".utf8), as: collection) }
        _ = try await second.write(title: "Theirs", body: "")
        try await founded.world.openVault()
        await eventually("the computer has all four") {
            try await founded.world.database.countRecords(by: [lost.item], but: []) == 4
        }
        try await founded.phone.revoke(lost, settles: false)
        let own = HubID(founded.world.key.publicKey.id)
        await eventually("the computer has signed the note") {
            founded.hub.records(in: "notes").contains { $0.author == own }
        }
        try await founded.hasSent()
        let kept = try await founded.world.database.countRecords(by: [lost.item], but: founded.household.keptByAuthor)
        #expect(kept == 0, "the computer adopts everything else")
        for collection in Self.kept {
            let records = founded.hub.records(in: collection.rawValue)
            #expect(records.map(\.author) == [lost] && records.map(\.revision) == [1], "\(collection.rawValue)")
        }
    }

    @Test func anEntryOfALogIsNeverReplaced() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        let id = try await phone.write(Data("{}".utf8), as: .audit)
        await eventually { try await world.database.record(.audit, id) != nil }
        let first = try await world.database.record(.audit, id)
        try await phone.write(Data("{\"kind\":\"unlocked\"}".utf8), as: .audit, id: id, revision: 2)
        _ = try await phone.write(title: "After it", body: "")
        try await world.openVault()
        await eventually { try await world.notes() == ["After it", "Before"] }
        #expect(try await world.database.record(.audit, id) == first)
        try await founded.expectNoViolation()
    }

    @Test func atARestoredHubTheComputerSignsNoEntryOfALogAndNoOldSecretAsNew() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world, hub) = (founded.phone, founded.world, founded.hub)
        let second = try await founded.secondPhone()
        try await world.openVault()
        let empty = hub.backup()
        let audit = try await phone.write(Data("{}".utf8), as: .audit)
        let secret = try await phone.write(Data("{}".utf8), as: .vaults)
        _ = try await phone.write(title: "Lost", body: "by the hub")
        await eventually { try await world.notes() == ["Before", "Lost"] }
        for (collection, id) in [(RecordCollection.audit, audit), (.vaults, secret)] {
            #expect(try await world.database.record(collection, id) != nil)
        }
        hub.restore(empty)
        try await phone.revoke(await second.device, settles: false)
        await eventually("the computer has made the keys") {
            world.time.advance(by: .seconds(1))
            return await founded.keysRecord(2) != nil
        }
        await eventually("the computer has sent the note again") {
            world.time.advance(by: .seconds(1))
            return hub.records(in: "notes").count == 2
        }
        try await founded.hasSent()
        #expect(hub.records(in: "audit").isEmpty, "only the phone sends its entry again")
        #expect(hub.records(in: "vaults").map(\.epoch) == [1], "it does not look newer than the revocation")
        #expect(hub.records(in: "notes").allSatisfy { $0.epoch == 2 || $0.author != HubID(world.key.publicKey.id) })
    }

    @Test func withALockedVaultTheComputerAdoptsUnderTheKeysThatItMakes() async throws {
        let founded = try await PhoneFounded.joined()
        let (world, hub) = (founded.world, founded.hub)
        let right = SecretBytes(utf8: "right")
        try await founded.household.sendVaultKeys(right, user: alice.user)
        let second = try await founded.secondPhone()
        let lost = await second.device
        let note = try await second.write(title: "Theirs", body: "")
        await eventually { try await world.database.record(.notes, note.id.item) != nil }
        _ = try await world.control.devices.revoke(
            String(lost.description.prefix(8)), passcode: right, user: alice.user)
        try await founded.hasSent()
        let record = try #require(hub.records(in: "notes").first { $0.id == note.id })
        #expect(record.author == HubID(world.key.publicKey.id) && record.epoch == 2)
        try await founded.phone.sync()
        #expect(try await founded.phone.notes().map(\.title) == ["Before", "Theirs"])
    }

    @Test func aComputerThatJoinsAfterARevocationAccusesNobody() async throws {
        let founded = try await PhoneFounded()
        let second = try await founded.secondPhone(follows: false)
        try await founded.phone.revoke(await second.device)
        _ = try await founded.phone.write(title: "Since", body: "")
        try await founded.join()
        try await founded.world.openVault()
        await eventually { try await founded.world.notes() == ["Before", "Since"] }
        try await founded.expectNoViolation()
    }

    @Test func nothingIsSentUnderKeysOfARevokedPhone() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world, hub) = (founded.phone, founded.world, founded.hub)
        let second = try await founded.secondPhone()
        try await world.openVault()
        await eventually { try await world.notes() == ["Before"] }
        let before = try #require(try await world.sealed.notes.list(search: nil, peer: alice).notes.first)
        hub.setUnreachable(HubID(world.key.publicKey.id), true)
        _ = try await world.sealed.notes.change(
            before.id, NoteRequest(title: "Changed", body: "offline", replaces: before.version), peer: alice)
        _ = try await world.call(.closeVault)
        try await phone.revoke(await second.device)
        _ = try await phone.write(title: "Since", body: "")
        hub.setUnreachable(HubID(world.key.publicKey.id), false)
        await eventually("the computer has read the phone's note") {
            world.time.advance(by: .seconds(1))
            return try await world.database.vaultRecords().filter { $0.name.collection == .notes }.count == 2
        }
        await eventually("the change waits for the vault") {
            try await world.sync.status().problem?.contains("which needs the open vault") == true
        }
        let own = HubID(world.key.publicKey.id)
        #expect(!hub.records(in: "notes").contains { $0.author == own })
        try await world.openVault()
        await eventually("it is sent under the new keys") {
            hub.records(in: "notes").contains { $0.author == own && $0.epoch == 2 }
        }
        // The clock stands still: nothing waits for the next attempt.
        await eventually("nothing is said to wait") { try await world.sync.status().problem == nil }
        await eventually {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["Changed", "Since"]
        }
    }
}
