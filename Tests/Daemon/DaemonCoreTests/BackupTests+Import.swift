import ControlAPI
import Foundation
import Policy
import SealedFormats
import SealedStore
import Sync
import TestSupport
import Testing

@testable import DaemonCore

// Imports beside other changes, and the content of records.
extension BackupTests {
    /// Content of 3 MiB that this many records name.
    private func addContent(_ world: World, ofRecords count: Int) async throws -> ItemID {
        let id = ItemID.random()
        try await world.blobs.put(id, offset: 0, bytes: [UInt8](repeating: 1, count: 3 << 20))
        try await world.blobs.keep(id)
        let keys = try #require(await world.sealed.vault.openKeys())
        for _ in 0..<count {
            var record = try keys.seal(Data(), .photos, .random(), revision: 1)
            record.blobs = [id]
            try await world.database.write(StateChange(records: [record]))
        }
        return id
    }

    private func newComputer() async throws -> World {
        try await World(hasVault: true, vault: World.newVault(), cost: { .minimum })
    }

    @Test(arguments: [ImportRequest.Mode.merge, .replace])
    func anImportDoesNotOverwriteANoteThatIsChangedMeanwhile(_ mode: ImportRequest.Mode) async throws {
        let world = try await filled()
        let note = try #require(try await world.sealed.notes.list(search: nil, peer: alice).notes.first)
        func change(to body: String) async throws {
            _ = try await world.sealed.notes.change(note.id, NoteRequest(title: "note", body: body), peer: alice)
        }
        let earlier = try await export(world)
        try await change(to: "2")
        try await change(to: "3")
        let backup = try await export(world)
        try await `import`(earlier, into: world, .replace)
        if mode == .merge { try await lower(note.id, in: world) }
        await world.documents.hold(writesOf: VaultDocuments.ring)
        async let refused = refusal { try await `import`(backup, into: world, mode) }
        await eventually("the import writes") { await world.documents.waitingWrites == 1 }
        try await change(to: "changed meanwhile")
        await world.documents.release()
        #expect(await refused == .busy)
        #expect(try await world.sealed.notes.read(note.id, peer: alice).body == "changed meanwhile")
    }

    /// As if the note had been restored from a backup of its first revision.
    private func lower(_ note: String, in world: World) async throws {
        let id = try #require(ItemID(note))
        let keys = try #require(await world.sealed.vault.openKeys())
        let stored = try #require(try await world.database.record(.notes, id))
        var change = StateChange(records: [try keys.seal(keys.open(stored), .notes, id, revision: 1)])
        change.acceptsAnyRevision = true
        try await world.database.write(change)
    }

    @Test func mergingANewerVersionKeepsTheOneThatWasChangedHere() async throws {
        let old = try await filled()
        let note = try #require(try await old.sealed.notes.list(search: nil, peer: alice).notes.first)
        func change(_ world: World, to body: String) async throws {
            _ = try await world.sealed.notes.change(note.id, NoteRequest(title: "note", body: body), peer: alice)
        }
        let first = try await export(old, passphrase: "a passphrase")
        for body in ["2", "3", "4"] { try await change(old, to: body) }
        let second = try await export(old, passphrase: "a passphrase")

        let new = try await newComputer()
        try await `import`(first, into: new, passphrase: "a passphrase")
        try await change(new, to: "changed after the loss")
        let report = try await `import`(second, into: new, passphrase: "a passphrase")
        #expect(report.recordsInConflict == 1 && report.recordsAdded == 0)
        #expect(try await new.sealed.notes.read(note.id, peer: alice).body == "4")
        let copy = try await new.sealed.notes.list(search: "after the loss", peer: alice).notes
        #expect(copy.count == 1 && copy.first?.id != note.id)
        #expect(try await `import`(second, into: new, passphrase: "a passphrase").recordsInConflict == 0)
    }

    /// The hub's records of that vault are read again at once, and a revocation without a passcode replaces its keys.
    @Test func theKeysOfAnImportedVaultCountAtOnce() async throws {
        let old = try await filled()
        let name = try #require(try await old.sealed.vault.status().vault)
        let vault = try #require(ItemID(name))
        let new = try await newComputer()
        #expect(try await !new.passcodes.requireVaultDocument().isOwn(vault))
        try await `import`(try await export(old, passphrase: "a passphrase"), into: new, passphrase: "a passphrase")
        let document = try await new.passcodes.requireVaultDocument()
        #expect(document.isOwn(vault) && document.isOwn(document.vault) && document.vault != vault)
    }

    @Test func aRefusedImportForgetsNoPasscode() async throws {
        let world = try await filled()
        let backup = try await export(world)
        let own = SecretBytes(utf8: "known to a friend")
        try await world.apps.change { $0.policy.add(LockedApp(id: app("mail"), name: "Mail")) }
        _ = try await world.passcodes.setPasscode(own, of: app("mail"), user: alice.user)
        await world.documents.hold(writesOf: VaultDocuments.ring)
        async let refused = refusal { try await `import`(backup, into: world, .replace) }
        await eventually("the import writes") { await world.documents.waitingWrites == 1 }
        let ring = try #require(try await world.database.document(VaultDocuments.ring))
        try await world.database.save(ring + [0], as: VaultDocuments.ring)
        await world.documents.release()
        #expect(await refused == .busy)
        #expect(await world.apps.policy.apps[app("mail")] != nil)
        try await world.passcodes.verify(own, app: app("mail"), user: alice.user)
        // Neither in memory nor on disk.
        try await world.database.save(ring, as: VaultDocuments.ring)
        let again = try await World(cost: { .minimum }, after: world)
        try await again.passcodes.verify(own, app: app("mail"), user: alice.user)
        let wrong = SecretBytes(utf8: "wrong")
        #expect(await refusal { try await again.passcodes.verify(wrong, app: app("mail"), user: bob.user) } != nil)
        let failures = await again.passcodes.lockoutState(of: bob.user).failures

        try await `import`(backup, into: again, .replace)
        #expect(
            await refusal { try await again.passcodes.verify(own, app: app("mail"), user: alice.user) }
                == .wrongPasscode)
        #expect(await again.passcodes.lockoutState(of: bob.user).failures == failures)
    }

    // MARK: Content

    @Test func contentOfTwoRecordsIsInABackupOnce() async throws {
        let old = try await filled()
        let content = try await addContent(old, ofRecords: 2)
        let backup = try await export(old, passphrase: "a passphrase")
        #expect(backup.count < 5 << 20)
        let new = try await newComputer()
        try await `import`(backup, into: new, passphrase: "a passphrase")
        #expect(try await new.blobs.kept().contains(content))
        #expect(try await new.blobs.size(content) == 3 << 20)
    }

    /// Of a file whose sealed content is gone, and of an intruder photo's that can't be read.
    @Test func aBackupIsMadeWithoutTheContentThatIsMissing() async throws {
        let old = try await filled()
        let whole = try await addContent(old, ofRecords: 1)
        let file = try #require(try await old.database.records(in: .files).first)
        let intruder = try #require(try await old.database.records(in: .intruders).first)
        try await old.blobs.remove(file.name.id)
        try await old.blobs.remove(intruder.name.id)
        // Its size can be read, its bytes can't.
        try FileManager.default.createDirectory(
            atPath: old.directory.path("blobs/kept/\(intruder.name.id)"), withIntermediateDirectories: false)
        let reply = try await old.sealed.backups.export(
            ExportRequest(passcode: "right", passphrase: "a passphrase", settingsOnly: false), peer: alice)
        #expect(reply.records == 4 && reply.blobs == 1)
        #expect(
            reply.incomplete == [
                .init(collection: "files", id: file.name.id.description, name: "file.txt"),
                .init(collection: "intruders", id: intruder.name.id.description, name: ""),
            ])
        let bytes = try await old.blobs.read(try #require(ItemID(reply.blob)), offset: 0, length: Int(reply.size))

        let new = try await newComputer()
        #expect(try await `import`(bytes, into: new, passphrase: "a passphrase").recordsAdded == 4)
        #expect(try await new.blobs.kept() == [whole])
        #expect(try await new.sealed.notes.list(search: "kept", peer: alice).notes.count == 1)
        #expect(try await new.sealed.files.list(peer: alice).files.map(\.name) == ["file.txt"])
    }

    @Test func aBackupWithOneContentTwiceIsImported() async throws {
        let world = try await filled()
        let (backup, content) = (ItemID.random(), ItemID.random())
        let rootKey = SecretBytes.random(count: KeySlots.keyLength)
        var slots = KeySlots(derivation: .scrypt(.minimum), usesMixedSecret: false)
        slots.set(0, to: rootKey, behind: try slots.stretch(right, mixedSecret: nil))
        var writer = try await BackupWriter(to: backup, in: world.blobs, slots: slots, rootKey: rootKey)
        let manifest = BackupManifest(created: "2026-01-01T00:00:00Z", contents: "everything", records: 0, blobs: 2)
        try await writer.add(.manifest, BackupService.json(manifest))
        for _ in 1...2 { try await writer.add(.blob, content.bytes + [1, 2, 3]) }
        try await writer.finish()
        let bytes = try await world.blobs.read(backup, offset: 0, length: Int(writer.size))
        try await `import`(bytes, into: world)
        #expect(try await world.blobs.read(content, offset: 0, length: 10) == [1, 2, 3])
    }

    @Test func aTruncatedBackupLeavesNoPartOfContentThatARecordNames() async throws {
        let world = try await filled()
        let content = try await addContent(world, ofRecords: 1)
        var backup = try await export(world)
        // As on a computer that has not fetched it yet.
        try await world.blobs.remove(content)
        backup.removeLast(20)
        #expect(await refusal { try await `import`(backup, into: world) } == .notReadable)
        #expect(try await world.blobs.size(content) == nil)
    }
}
