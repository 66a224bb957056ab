import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore
@testable import Sync

/// What a computer does after a revocation, in a household that a phone founded.
@Suite struct PhoneFoundedRevocationTests {
    private let right = SecretBytes(utf8: "right")

    @Test func aRecoverySheetStaysOneIfItsPhoneIsRevokedAndIfItIsRenamed() async throws {
        let founded = try await PhoneFounded.joined()
        let own = founded.world.key.publicKey.id
        try await founded.household.sendVaultKeys(right, user: alice.user)
        let second = try await founded.secondPhone()
        let sheet = try await founded.admittedWithoutKeys()
        try await founded.follows()
        let lost = await second.device
        try await second.write(DeviceName(name: "Recovery sheet", sheet: true), of: sheet)
        await eventually("the computer has the name") {
            try await founded.world.database.householdRecord(.devices, sheet)?.author == lost
        }
        let sentences = try await founded.world.control.devices.revoke(
            String(lost.description.prefix(8)), passcode: right, user: alice.user)
        #expect(sentences.first?.contains("is revoked") == true, "\(sentences)")
        try await founded.hasSent()
        let kept = try await founded.name(of: sheet)
        #expect(kept.body == DeviceName(name: "Recovery sheet", sheet: true) && kept.author == own)
        // A name that another phone signed is accepted as it is.
        let phone = await founded.phone.device.item
        let unchanged = try await founded.name(of: phone)
        #expect(unchanged.body == DeviceName(name: "Anna's phone") && unchanged.author == phone)

        _ = try await founded.household.rename("Recovery sheet", to: "Sheet in the safe", user: alice.user)
        try await founded.hasSent()
        let renamed = try await founded.name(of: sheet)
        #expect(renamed.body == DeviceName(name: "Sheet in the safe", sheet: true) && renamed.author == own)
    }

    @Test func recordsThatAnotherPhoneAdoptsAreNotReportedAsUnreadable() async throws {
        let founded = try await PhoneFounded.joined()
        let world = founded.world
        let second = try await founded.secondPhone()
        let lost = await second.device
        _ = try await second.write(title: "Theirs", body: "")
        try await second.write(Data(repeating: 7, count: 400), as: .remarks)
        try await world.openVault()
        await eventually("the computer has both") {
            try await world.database.countRecords(by: [lost.item], but: []) == 2
        }
        let ring = try #require(await world.sealed.vault.openKeys()?.ring)
        // The phone makes the keys of the next epoch before the computer does.
        _ = founded.hub.silence(HubID(world.key.publicKey.id))
        try await founded.phone.revoke(lost)
        try await founded.household.followRoster()
        func conclude() async -> [String] {
            await founded.household.concludeRevocation(
                of: lost.item, name: "Ben's phone", ring: ring, reader: world.sync.engine)
        }
        let revoked = "Ben's phone is revoked: it can't read anything that is written from now on."
        #expect(await conclude() == [revoked])
        let maker = await founded.phone.device
        #expect(await founded.keysRecord(2)?.author == maker)
        #expect(try await world.database.countRecords(by: [lost.item], but: []) == 2)
        // One that doesn't open is.
        let name = RecordName(
            vault: EpochKeys.vault(of: await second.roster.household), collection: .notes, id: .random(), revision: 1)
        let invalid = StoredRecord(name: name, epoch: 1, author: lost.item, sealed: Array(repeating: 7, count: 400))
        var incoming = IncomingChange()
        incoming.vaultRecords = [IncomingRecord(record: invalid, sequence: 900, received: 0)]
        try await world.database.ingest(incoming)
        #expect(await conclude() == [revoked, "1 record of Ben's phone does not open and stays as it is."])
    }

    @Test func aFormerMemberCannotReplaceWhatTheComputerRemovesAfterIt() async throws {
        let founded = try await PhoneFounded.joined()
        let world = founded.world
        let second = try await founded.secondPhone()
        try await world.openVault()
        await eventually { try await world.notes() == ["Before"] }
        try await founded.phone.revoke(await second.device, settles: false)
        try await founded.follows()
        await eventually { await founded.household.session?.secrets.epoch == 2 }
        let note = try #require(try await world.sealed.notes.list(search: nil, peer: alice).notes.first)
        try await world.sealed.notes.remove(note.id, peer: alice)
        try await founded.hasSent()
        let tombstone = try #require(founded.hub.records(in: "notes").first)
        #expect(tombstone.sealed == nil && tombstone.epoch == 2)

        // A hub that helps the revoked phone, which still has the first key.
        let secrets = await second.secrets
        let key = try #require(secrets.ring.key(.vault, vault: tombstone.vault.item, epoch: 1))
        let name = RecordName(
            vault: tombstone.vault.item, collection: .notes, id: tombstone.id.item, revision: tombstone.revision + 1)
        let body = try JSONEncoder().encode(SealedNote(title: "Back", body: "", created: 1, modified: 1))
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: key, epoch: 1)
        var theirs = secrets.sign(name, epoch: 1, sealed: envelope.bytes)
        theirs.sequence = (tombstone.sequence ?? 0) + 1
        let roster = try #require(await founded.household.session?.roster)
        let underTheFirst = try RecordCheck(roster).check(theirs, known: tombstone.revision, knownEpoch: 1)
        #expect(underTheFirst.name == name, "a tombstone of the first epoch would be replaced")
        try await world.sync.engine.receive([theirs], areNext: false)
        #expect(try await world.notes() == [])
        #expect(try await world.database.record(.notes, name.id)?.name.revision == tombstone.revision)
    }
}
