import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// Records that a device wrote before its revocation are kept, even if no computer had read them.
@Suite struct DepartureTests {
    private func revoke(_ connected: ConnectedWorld, _ name: String) async throws -> [String] {
        try await connected.devices.revoke(name, passcode: SecretBytes(utf8: "right"), user: alice.user)
    }

    private func isKept(_ id: HubID, on world: World, _ hub: MemoryHub) async throws {
        let author = HubID(world.key.publicKey.id)
        await eventually("the computer is its author") {
            hub.records.contains { $0.id == id && $0.author == author && $0.epoch == 2 }
        }
    }

    @Test func unreadRecordsAreReadBeforeTheRevocation() async throws {
        let connected = try await ConnectedWorld()
        try await connected.world.openVault()
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await connected.settled()
        try await lost.sync()
        let streams = connected.hub.silence()
        defer { withExtendedLifetime(streams) {} }
        let note = try await lost.write(title: "unread", body: "by the lost phone")
        #expect(try await connected.world.notes() == [])

        let sentences = try await revoke(connected, "Lost")
        #expect(sentences == ["Lost is revoked: it can't read anything that is written from now on."])
        #expect(try await connected.world.notes() == ["unread"])
        try await connected.settled()
        try await isKept(note.id, on: connected.world, connected.hub)
        try await kept.sync()
        #expect(try await kept.notes().map(\.title) == ["unread"])
        let secrets = await lost.secrets
        #expect(connected.hub.records(in: "notes").allSatisfy { !opens($0, secrets) })
    }

    @Test func changesBeforeTheHubReceivesTheRevocationAreKept() async throws {
        let connected = try await ConnectedWorld()
        try await connected.world.openVault()
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        _ = try await connected.world.sealed.notes.add(NoteRequest(title: "removed", body: ""), peer: alice)
        try await connected.settled()
        try await lost.sync()
        let streams = connected.hub.silence()
        defer { withExtendedLifetime(streams) {} }
        let note = try await lost.write(title: "unread", body: "")
        for removed in try await lost.notes() where removed.title == "removed" { try await lost.removeNote(removed.id) }
        connected.hub.setDown(true)
        let sentences = try await revoke(connected, "Lost")
        #expect(sentences.contains("Its unread changes are read with the next connection."))
        connected.hub.setDown(false)
        let restarted = try await ConnectedWorld(hub: connected.hub, after: connected.world)
        await eventually { try await restarted.sync.status().revoking == nil }
        try await restarted.world.openVault()
        await eventually { try await restarted.world.notes().contains("unread") }
        try await restarted.settled()
        try await isKept(note.id, on: restarted.world, connected.hub)
        try await kept.sync()
        #expect(try await kept.notes().contains { $0.title == "unread" })
        #expect(await kept.report().misbehaviour.isEmpty)
    }

    @Test func anotherComputerKeepsRecordsThatItHadNotRead() async throws {
        let computers = try await TwoComputers.joined()
        let phone = try await computers.first.pair("Phone")
        try await computers.second.openVault()
        try await computers.settled()
        try await phone.sync()
        let secrets = await phone.secrets
        let first = try #require(try await computers.first.world.passcodes.vaultDocument()).vault
        let entry = try #require(secrets.ring.entries.last { $0.kind == .vault && $0.vault != first })
        computers.second.end()
        let name = RecordName(vault: entry.vault, collection: .notes, id: .random(), revision: 1)
        let body = try JSONEncoder().encode(SealedNote(title: "for the attic", body: "", created: 0, modified: 0))
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: entry.key, epoch: entry.epoch)
        let hub = computers.hub.connection(secrets.token)
        _ = try await hub.write([secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes)])

        _ = try await revoke(computers.first, "Phone")
        let restarted = try await computers.restarted()
        try await restarted.isJoined()
        try await restarted.second.openVault()
        await eventually { try await restarted.second.notes() == ["for the attic"] }
        try await restarted.settled()
        try await isKept(HubID(name.id), on: restarted.second, computers.hub)
    }

    @Test func nothingFromARevokedDeviceIsAcceptedOnceItsRecordsWereRead() async throws {
        let connected = try await ConnectedWorld()
        try await connected.world.openVault()
        let lost = try await connected.pair("Lost")
        try await connected.settled()
        try await lost.sync()
        let secrets = await lost.secrets
        _ = try await revoke(connected, "Lost")
        let entry = try #require(secrets.ring.entries.last { $0.kind == .vault })
        let name = RecordName(vault: entry.vault, collection: .notes, id: .random(), revision: 1)
        let body = try JSONEncoder().encode(SealedNote(title: "late", body: "", created: 0, modified: 0))
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: entry.key, epoch: entry.epoch)
        // A hub that cooperates with the revoked device.
        var record = secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes)
        record.sequence = connected.hub.state.withLock { $0.sequence } + 1
        connected.hub.stream(.record(record))
        _ = try await connected.world.sealed.notes.add(NoteRequest(title: "own", body: ""), peer: alice)
        try await connected.settled()
        #expect(try await connected.world.notes() == ["own"])
    }

    /// "The hub together with one of them" of docs/threat-model.md. If this fails, the limit is gone: correct it there.
    @Test func recordsInsertedBeforeTheRevocationArrivesAreAccepted() async throws {
        let computers = try await TwoComputers.joined()
        let (second, hub) = (computers.second, computers.hub)
        let lost = try await computers.first.pair("Lost")
        try await second.openVault()
        let vault = try #require(try await second.passcodes.vaultDocument()).vault
        await eventually("the phone has the second computer's keys") {
            try await lost.sync()
            return await lost.secrets.ring.current(.vault, vault: vault) != nil
        }
        let (secrets, known) = (await lost.secrets, hub.state.withLock { $0.roster.count })
        await eventually { await second.household.session?.roster.head.number == UInt64(known) }
        let (entry, attic) = (secrets.ring.current(.vault, vault: vault)!, HubID(second.key.publicKey.id))
        func insert(_ title: String) throws {
            let name = RecordName(vault: vault, collection: .notes, id: .random(), revision: 1)
            let body = try JSONEncoder().encode(SealedNote(title: title, body: "", created: 0, modified: 0))
            let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: entry.key, epoch: entry.epoch)
            var record = secrets.sign(name, epoch: entry.epoch, sealed: envelope.bytes)
            hub.state.withLock { state in
                state.sequence += 1
                record.sequence = state.sequence
                state.records.append(record)
            }
            hub.stream(.record(record), to: attic)
        }
        // The roster that the second computer is served ends with the entry that it already has.
        computers.interceptor.alterRoster { $0.entries = Array($0.entries.prefix(1)) }
        _ = try await revoke(computers.first, "Lost")
        #expect(try await computers.first.household.devices().devices.count == 2)
        try insert("without the entry")
        await eventually { try await second.notes() == ["without the entry"] }

        computers.interceptor.intercept(nil)
        hub.stream(.roster(number: UInt64(known + 1)), to: attic)
        await eventually("the second computer has the entry") { await second.household.answered == UInt64(known + 1) }
        try insert("with the entry")
        // The record is read after the entry, and refused with a report.
        var nonsense = hub.records[0]
        nonsense.collection = "nonsense"
        hub.stream(.record(nonsense), to: attic)
        await eventually { try await second.sync.status().refused == 1 }
        #expect(try await second.notes() == ["without the entry"])
    }

    @Test func recordsThatDoNotOpenAreReported() async throws {
        let connected = try await ConnectedWorld()
        try await connected.world.openVault()
        let lost = try await connected.pair("Lost")
        try await connected.settled()
        let secrets = await lost.secrets
        let entry = try #require(secrets.ring.entries.last { $0.kind == .vault })
        let name = RecordName(vault: entry.vault, collection: .notes, id: .random(), revision: 1)
        let nonsense = (0..<400).map { _ in UInt8.random(in: 0...255) }
        _ = try await connected.hub.connection(secrets.token)
            .write([secrets.sign(name, epoch: entry.epoch, sealed: nonsense)])
        let sentences = try await revoke(connected, "Lost")
        #expect(
            sentences == [
                "Lost is revoked: it can't read anything that is written from now on.",
                "1 record of Lost does not open and stays as it is.",
            ])
    }
}
