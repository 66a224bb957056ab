import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import SealedStore
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// Phones revoked by phones, without the owner's passcode.
@Suite struct RemoteRevocationTests {
    private static let clock: @Sendable () -> UInt64 = { 1_800_000_000_000 }

    private func vault(of connected: ConnectedWorld) -> VaultService { connected.world.control.sealed.vault }

    private func openVault(_ connected: ConnectedWorld) async throws {
        _ = try await vault(of: connected).open(SecretBytes(utf8: "right"), for: alice)
        await connected.world.control.devices.conflicts.vaultOpened(peer: alice)
    }

    private func addNote(_ connected: ConnectedWorld, _ body: String) async throws {
        try await openVault(connected)
        _ = try await connected.world.control.sealed.notes.add(NoteRequest(title: body, body: body), peer: alice)
        try await connected.settled()
    }

    private func notes(_ connected: ConnectedWorld) async throws -> [String] {
        try await connected.world.control.sealed.notes.list(search: nil, peer: alice).notes.map(\.title).sorted()
    }

    /// Whether any key of the device opens this.
    private func opens(_ record: HubRecord, _ secrets: HouseholdSecrets) -> Bool {
        guard let collection = RecordCollection(rawValue: record.collection), let sealed = record.sealed else {
            return false
        }
        let name = RecordName(
            vault: record.vault.item, collection: collection, id: record.id.item, revision: record.revision)
        if collection == .keys { return (try? DeviceKeys.open([UInt8](sealed), as: name, with: secrets.boxKey)) != nil }
        if collection == .intruders {
            return secrets.ring.entries.contains { entry in
                guard entry.kind == .inbox, let pair = try? BoxKeyPair(privateKey: entry.key) else { return false }
                return (try? PublicKeyBox.open([UInt8](sealed), as: name, with: pair)) != nil
            }
        }
        guard let envelope = try? RecordEnvelope(bytes: [UInt8](sealed)) else { return false }
        return secrets.ring.entries.contains { (try? envelope.open(as: name, vaultKey: $0.key)) != nil }
    }

    private func written(_ connected: ConnectedWorld, after sequence: UInt64) -> [HubRecord] {
        connected.hub.records.filter { $0.sequence! > sequence && $0.sealed != nil }
    }

    @Test func whileTheVaultIsLockedTheRevokedPhoneOpensNothingWrittenLater() async throws {
        let connected = try await ConnectedWorld()
        let lost = try await connected.pair("Lost", clock: Self.clock)
        let kept = try await connected.pair("Kept", clock: Self.clock)
        try await addNote(connected, "before")
        try await kept.sync()
        try await lost.sync()
        await vault(of: connected).lock(user: nil, "a test")
        await eventually("earlier events are at the hub") {
            try await lost.sync()
            return await lost.events().contains { $0.kind == .relocked }
        }
        connected.world.camera.show(Array(repeating: 7, count: 1_000))
        let ring = try await connected.world.database.document(VaultDocuments.ring)
        let sequence = connected.hub.state.withLock { $0.sequence }

        let reply = try await kept.command(.revokeDevice(device: await lost.device), to: try await kept.computer(nil))
        #expect(reply.state == .done)
        #expect(reply.sentence == "Lost is revoked: it can't read anything that is written from now on.")
        let photo = try await connected.world.control.sealed.intruders.takePhoto()
        try await connected.settled()
        try await kept.sync()
        _ = try await kept.write(title: "after", body: "after")

        let error = await #expect(throws: (any Error).self) { try await lost.sync() }
        #expect((error as? HubError)?.code == .unauthorized)
        let secrets = await lost.secrets
        await eventually("everything written has arrived") {
            Set(written(connected, after: sequence).map(\.collection))
                .isSuperset(of: ["notes", "intruders", "keys", "devices", "events"])
        }
        let newRecords = written(connected, after: sequence)
        // The request for the revocation is older than it.
        for record in newRecords where record.collection != "commands" || record.revision == 3 {
            #expect(!opens(record, secrets), "\(record.collection)")
        }
        #expect(connected.hub.records.contains { $0.sequence! <= sequence && opens($0, secrets) })
        // The locked computer opens none of it: its ring is the old one, and the new keys are in a box.
        #expect(try await connected.world.database.document(VaultDocuments.ring) == ring)
        #expect(try await connected.world.passcodes.pendingKeys().boxes.count == 1)

        let restarted = try await ConnectedWorld(hub: connected.hub, after: connected.world)
        await eventually { try await restarted.world.database.records(in: .notes).count == 2 }
        try await openVault(restarted)
        #expect(try await notes(restarted) == ["after", "before"])
        #expect(
            try await restarted.world.control.sealed.intruders.read(photo.description, peer: alice).photo.count == 1_000
        )
        #expect(try await restarted.world.passcodes.pendingKeys().boxes.isEmpty)
        try await restarted.settled()
        for note in restarted.hub.records(in: "notes") { #expect(!opens(note, secrets)) }
        try await kept.sync()
        #expect(try await kept.notes().map(\.title).sorted() == ["after", "before"])
        let late = try await restarted.pair("Late", clock: Self.clock)
        try await late.sync()
        #expect(try await late.notes().map(\.title).sorted() == ["after", "before"])
    }

    @Test func withAnOpenVaultAllRecordsAreResealedImmediately() async throws {
        let connected = try await ConnectedWorld()
        let lost = try await connected.pair("Lost", clock: Self.clock)
        let kept = try await connected.pair("Kept", clock: Self.clock)
        try await addNote(connected, "before")
        let computer = try await kept.computer(nil)
        #expect(
            try await kept.command(.revokeDevice(device: await lost.device), to: computer).state == .done)
        _ = try await connected.world.control.sealed.notes.add(NoteRequest(title: "after", body: ""), peer: alice)
        try await connected.settled()
        let secrets = await lost.secrets
        #expect(connected.hub.records(in: "notes").count == 2)
        for note in connected.hub.records(in: "notes") { #expect(!opens(note, secrets)) }
        await vault(of: connected).lock(user: nil, "a test")
        try await openVault(connected)
        #expect(try await notes(connected) == ["after", "before"])
    }

    @Test func severalPhonesAreRevokedBeforeTheNextPasscode() async throws {
        let connected = try await ConnectedWorld()
        let kept = try await connected.pair("Kept", clock: Self.clock)
        let lost = [
            try await connected.pair("First", clock: Self.clock), try await connected.pair("Second", clock: Self.clock),
        ]
        try await addNote(connected, "before")
        try await kept.sync()
        await vault(of: connected).lock(user: nil, "a test")
        let computer = try await kept.computer(nil)
        for phone in lost {
            #expect(try await kept.command(.revokeDevice(device: await phone.device), to: computer).state == .done)
            try await kept.sync()
            _ = try await kept.write(title: "after \(await phone.report().device)", body: "")
        }
        #expect(try await connected.world.passcodes.pendingKeys().boxes.count == 2)
        await eventually { try await connected.world.database.records(in: .notes).count == 3 }
        try await openVault(connected)
        #expect(try await notes(connected).count == 3)
        try await connected.settled()
        for phone in lost {
            let secrets = await phone.secrets
            for note in connected.hub.records(in: "notes") { #expect(!opens(note, secrets)) }
        }
        // The passcode adds the new keys to the current ring.
        _ = try await connected.devices.revoke("Kept", passcode: SecretBytes(utf8: "right"), user: alice.user)
        #expect(try await notes(connected).count == 3)
        #expect(try await connected.household.devices().devices.count == 1)
    }

    @Test func aPhoneCanRevokeItselfButNotAComputer() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair("Anna's phone", clock: Self.clock)
        let computer = try await companion.computer(nil)
        let refused = try await companion.command(.revokeDevice(device: computer), to: computer)
        #expect(refused.state == .refused && refused.reason == "not_yours")
        let unknown = try await companion.command(.revokeDevice(device: HubID(ItemID.random())), to: computer)
        #expect(unknown.state == .refused && unknown.reason == "no_such_item")
        #expect(try await connected.household.devices().devices.count == 2)
        let own = try await companion.sealed(.revokeDevice(device: await companion.device), to: computer)
        _ = try await companion.hub.write([own])
        await eventually { try await connected.household.devices().devices.count == 1 }
        let error = await #expect(throws: (any Error).self) { try await companion.sync() }
        #expect((error as? HubError)?.code == .unauthorized)
        #expect(try await connected.world.events(.deviceRevoked).first?.sentence.contains("by Anna's phone") == true)
    }

    @Test func aBoxOfKeysOpensOnlyForItsInbox() throws {
        let (vault, inbox) = (ItemID.random(), BoxKeyPair())
        let document = VaultDocument(
            vault: vault, inboxPublicKey: Data(inbox.publicKey.bytes), inboxEpoch: 1, epochs: nil)
        var pending = PendingKeys()
        let fresh = KeyRing([.init(kind: .vault, vault: vault, epoch: 2, key: .random(count: 32))])
        try pending.add(fresh, to: document)
        var other = KeyRing([.init(kind: .inbox, vault: vault, epoch: 1, key: BoxKeyPair().privateKey)])
        pending.open(into: &other, vault: vault)
        #expect(other.entries.count == 1 && pending.boxes.count == 1)
        var own = KeyRing([.init(kind: .inbox, vault: vault, epoch: 1, key: inbox.privateKey)])
        pending.open(into: &own, vault: vault)
        #expect(own.key(.vault, vault: vault, epoch: 2) == fresh.entries[0].key && pending.boxes.isEmpty)
    }
}
