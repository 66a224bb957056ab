import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

@Suite struct RevocationTests {
    private func revoke(_ connected: ConnectedWorld, _ name: String) async throws -> [String] {
        try await connected.devices.revoke(name, passcode: SecretBytes(utf8: "right"), user: alice.user)
    }

    private func addNote(_ connected: ConnectedWorld, _ body: String) async throws {
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        _ = try await connected.world.control.sealed.notes.add(NoteRequest(title: body, body: body), peer: alice)
        try await connected.settled()
    }

    /// Whether any key of the device opens this.
    private func opens(_ record: HubRecord, _ secrets: HouseholdSecrets) -> Bool {
        guard let collection = RecordCollection(rawValue: record.collection), let sealed = record.sealed else {
            return false
        }
        let name = RecordName(
            vault: record.vault.item, collection: collection, id: record.id.item, revision: record.revision)
        if collection == .keys { return (try? DeviceKeys.open([UInt8](sealed), as: name, with: secrets.boxKey)) != nil }
        guard let envelope = try? RecordEnvelope(bytes: [UInt8](sealed)) else { return false }
        return secrets.ring.entries.contains { (try? envelope.open(as: name, vaultKey: $0.key)) != nil }
    }

    @Test func aRevokedPhoneOpensNothingWrittenLater() async throws {
        let connected = try await ConnectedWorld()
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await addNote(connected, "before")
        await eventually("earlier events are at the hub") {
            try await lost.sync()
            return await lost.events().contains { $0.kind == .unlocked }
        }
        #expect(try await lost.notes().map(\.body) == ["before"])
        let sequence = connected.hub.state.withLock { $0.sequence }

        let notes = try await revoke(connected, "Lost")
        #expect(notes == ["Lost is revoked: it can't read anything that is written from now on."])
        try await addNote(connected, "after")
        connected.world.gate.launch(connected.world.launch(1))
        await eventually { connected.hub.records(in: "events").last.map { $0.epoch == 2 } == true }
        try await connected.settled()

        let secrets = await lost.secrets
        let written = connected.hub.records.filter { $0.sequence! > sequence && $0.sealed != nil }
        // Both notes, the keys of the remaining phone, its name and the computer's, the events.
        #expect(written.count >= 6)
        for record in written { #expect(!opens(record, secrets), "\(record.collection)") }
        // Records that its keys do open are found.
        #expect(connected.hub.records.contains { $0.sequence! <= sequence && opens($0, secrets) })
        let error = await #expect(throws: (any Error).self) { try await lost.sync() }
        #expect((error as? HubError)?.code == .unauthorized)

        try await kept.sync()
        #expect(try await kept.notes().map(\.body).sorted() == ["after", "before"])
        #expect(await kept.report().misbehaviour.isEmpty)
        #expect(await kept.report().devices.values.sorted() == ["Kept", "den-computer"])
        await eventually("the launch is reported") {
            try await kept.sync()
            return await kept.events().contains { $0.kind == .blocked }
        }
        #expect(try await kept.command(.lockAll, to: try await kept.computer(nil)).state == .done)
    }

    @Test func aPendingRevocationIsSentAfterARestart() async throws {
        let connected = try await ConnectedWorld()
        let lost = try await connected.pair("Lost")
        try await addNote(connected, "before")
        connected.hub.setDown(true)
        let notes = try await revoke(connected, "Lost")
        #expect(notes.first?.contains("keeps trying") == true)
        #expect(try await connected.sync.status().revoking == "Lost")
        connected.hub.setDown(false)
        let restarted = try await ConnectedWorld(hub: connected.hub, after: connected.world)
        await eventually { try await restarted.sync.status().revoking == nil }
        let device = await lost.device
        #expect(connected.hub.state.withLock { $0.devices[device] } == nil)
        try await restarted.settled()
        let secrets = await lost.secrets
        let note = try #require(connected.hub.records(in: "notes").first)
        #expect(note.epoch == 2 && !opens(note, secrets))
        _ = try await restarted.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        #expect(try await restarted.world.control.sealed.notes.list(search: nil, peer: alice).notes.count == 1)
    }

    /// The roster still has it, and this computer owes it keys because another one admitted a phone while it was
    /// locked.
    @Test func aPhoneGetsNoKeysWhileItsRevocationIsPending() async throws {
        let connected = try await ConnectedWorld()
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await addNote(connected, "before")
        connected.hub.setDown(true)
        _ = try await revoke(connected, "Lost")
        try await connected.world.database.save([1], as: HouseholdDocuments.keysOwed)
        await connected.world.sealed.vault.lock(user: nil, "The vault was locked.")
        try await connected.world.openVault()
        #expect(try await connected.world.database.document(HouseholdDocuments.keysOwed) == nil)
        connected.hub.setDown(false)
        await eventually("the hub has the revocation") {
            connected.world.time.wakeNext(within: .seconds(120))
            return try await connected.sync.status().revoking == nil
        }
        try await connected.settled()
        let (lostSecrets, keptSecrets) = (await lost.secrets, await kept.secrets)
        let keys = connected.hub.records(in: "keys")
        #expect(keys.contains { opens($0, keptSecrets) })
        #expect(!keys.contains { opens($0, lostSecrets) })
    }

    @Test func aWrongPasscodeRevokesNobody() async throws {
        let connected = try await ConnectedWorld()
        _ = try await connected.pair("Lost")
        let code = await refusal {
            _ = try await connected.devices.revoke("Lost", passcode: SecretBytes(utf8: "wrong"), user: alice.user)
        }
        #expect(code == .wrongPasscode)
        #expect(try await connected.household.devices().devices.count == 2)
        #expect(await refusal { _ = try await revoke(connected, "den-computer") } == .badRequest)
        #expect(await refusal { _ = try await revoke(connected, "nobody") } == .noSuchItem)
    }

    /// A copy of the app that is shown a new link. The app itself makes new keys for each pairing.
    @Test func aRevokedPhoneIsNotAdmittedAgainUnderItsKey() async throws {
        let connected = try await ConnectedWorld()
        let lost = try await connected.pair("Lost")
        _ = try await revoke(connected, "Lost")
        let secrets = await lost.secrets
        let pairing = try await connected.household.makePairing(address: nil)
        let (invitation, _) = try Invitation.reading(link: try #require(pairing.link))
        try await connected.hub.connection(secrets.token).join(
            HubID(invitation.id), secrets.joinRequest(to: invitation, as: .companion, name: "Lost"))
        #expect(try await connected.household.pairing(pairing.id, waitingUpTo: 0).name == "Lost")
        let code = await refusal {
            _ = try await connected.household.confirmPairing(
                pairing.id, passcode: SecretBytes(utf8: "right"), user: alice.user)
        }
        #expect(code == .hub)
        #expect(try await connected.household.devices().devices.map(\.name) == ["den-computer"])
        let error = await #expect(throws: (any Error).self) { try await lost.sync() }
        #expect((error as? HubError)?.code == .unauthorized)
    }

    /// Both write the vault's ring, each only if it is still the ring that was read.
    @Test func aRevocationKeepsTheKeysThatAnImportAddsMeanwhile() async throws {
        let source = try await World(hasVault: true, vault: World.newVault(), cost: { .minimum })
        try await source.openVault()
        _ = try await source.sealed.notes.add(NoteRequest(title: "imported", body: ""), peer: alice)
        let backup = try await source.sealed.backups.export(
            ExportRequest(passcode: "right", passphrase: nil, settingsOnly: false), peer: alice)
        let blob = try #require(ItemID(backup.blob))
        let bytes = try await source.blobs.read(blob, offset: 0, length: Int(backup.size))
        let connected = try await ConnectedWorld()
        let (world, documents) = (connected.world, connected.world.documents)
        _ = try await connected.pair("Lost")
        try await world.blobs.put(blob, offset: 0, bytes: bytes)

        await documents.hold(writesOf: VaultDocuments.ring)
        async let report = world.sealed.backups.import(
            ImportRequest(passcode: "right", passphrase: nil, blob: blob.description, mode: .merge, isTrial: false),
            peer: alice)
        await eventually("the import writes") { await documents.waitingWrites == 1 }
        // The first read is that of the passcode, the second one is for adding the new keys.
        await documents.holdReading(of: VaultDocuments.ring, after: 1)
        async let sentences = revoke(connected, "Lost")
        await eventually("the revocation has read the ring") { await documents.isReadingHeld }
        await documents.release()
        #expect(try await report.recordsAdded == 1)
        await documents.releaseReading()
        #expect(try await sentences == ["Lost is revoked: it can't read anything that is written from now on."])

        await world.sealed.vault.lock(user: nil, "The vault was locked.")
        try await world.openVault()
        #expect(try await world.notes() == ["imported"])
        let note = try #require(try await world.database.records(in: .notes).first)
        let ring = try await world.passcodes.openRing(SecretBytes(utf8: "right"), user: alice.user).ring
        #expect(ring.current(.vault, vault: note.name.vault)?.epoch == 2 && note.epoch == 2)
    }

    @Test func intruderPhotosStayReadableOnlyAtTheComputerAfterARevocation() async throws {
        let connected = try await ConnectedWorld()
        let lost = try await connected.pair("Lost")
        connected.world.camera.show(Array(repeating: 7, count: 1_000))
        let intruders = connected.world.control.sealed.intruders
        let first = try await intruders.takePhoto()
        _ = try await revoke(connected, "Lost")
        let second = try await intruders.takePhoto()
        _ = try await connected.world.control.sealed.vault.open(SecretBytes(utf8: "right"), for: alice)
        for photo in [first, second] {
            #expect(try await intruders.read(photo.description, peer: alice).photo.count == 1_000)
        }
        try await connected.settled()
        let secrets = await lost.secrets
        for record in connected.hub.records(in: "intruders") {
            let name = RecordName(
                vault: record.vault.item, collection: .intruders, id: record.id.item, revision: record.revision)
            for entry in secrets.ring.entries where entry.kind == .inbox {
                #expect(throws: SealedFormatsError.self) {
                    try PublicKeyBox.open(
                        [UInt8](record.sealed ?? Data()), as: name, with: BoxKeyPair(privateKey: entry.key))
                }
            }
        }
    }
}
