import ControlAPI
import Foundation
import HubAPI
import Policy
import SealedFormats
import SealedStore
import Sync
import TestSupport
import Testing

@testable import DaemonCore

@Suite struct BackupTests {
    let right = SecretBytes(utf8: "right")

    // MARK: Pieces

    /// A world with a note, a file and an intruder photo.
    func filled() async throws -> World {
        let world = try await World(hasVault: true, cost: { .minimum })
        world.camera.show([UInt8](repeating: 0xD8, count: 70_000))
        for isSecond in [false, true] { try await world.enterWrongPasscode(isPhotographed: isSecond) }
        _ = try await world.sealed.vault.open(right, for: alice)
        _ = try await world.sealed.notes.add(NoteRequest(title: "note", body: "kept"), peer: alice)
        try await addFile(world)
        return world
    }

    private func addFile(_ world: World) async throws {
        let (id, key) = (ItemID.random(), SecretBytes.random(count: 32))
        let name = try #require(try await world.sealed.vault.status().vault)
        let vault = try #require(ItemID(name))
        let stream = ContentStream(sealing: .init(vault: vault, collection: .files, id: id), key: key)
        let sealed = stream.header + stream.seal(Array("content".utf8), index: 0, isLast: true)
        try await world.sealed.own.contents.put(id.description, offset: 0, bytes: sealed, peer: alice)
        _ = try await world.sealed.files.add(
            AddFileRequest(
                id: id.description, name: "file.txt", size: 7, modified: 1, mode: 0o600,
                sealedSize: UInt64(sealed.count), contentKey: key.withUnsafeBytes { Data($0) }), peer: alice)
    }

    func export(_ world: World, passphrase: String? = nil, settingsOnly: Bool = false) async throws -> [UInt8] {
        let reply = try await world.sealed.backups.export(
            ExportRequest(passcode: "right", passphrase: passphrase, settingsOnly: settingsOnly), peer: alice)
        let id = try #require(ItemID(reply.blob))
        let bytes = try await world.blobs.read(id, offset: 0, length: Int(reply.size))
        #expect(bytes.count == Int(reply.size))
        try await world.blobs.remove(id)
        return bytes
    }

    @discardableResult
    func `import`(
        _ bytes: [UInt8], into world: World, passphrase: String? = nil, _ mode: ImportRequest.Mode = .merge,
        isTrial: Bool = false
    ) async throws -> ImportReport {
        let id = ItemID.random()
        try await world.blobs.put(id, offset: 0, bytes: bytes)
        return try await world.sealed.backups.import(
            ImportRequest(
                passcode: "right", passphrase: passphrase, blob: id.description, mode: mode, isTrial: isTrial),
            peer: alice)
    }

    func records(_ world: World) async throws -> [StoredRecord] {
        var all: [StoredRecord] = []
        for collection in BackupService.collections { all += try await world.database.records(in: collection) }
        return all
    }

    // MARK: Behaviour

    @Test func anImportDoesNotOverwriteKeysThatWereReplacedMeanwhile() async throws {
        let backup = try await export(try await filled(), passphrase: "a passphrase")
        let new = try await World(listed: [app("mail")], hasVault: true, cost: { .minimum })
        await new.documents.hold(writesOf: VaultDocuments.ring)
        async let refused = refusal { try await `import`(backup, into: new, passphrase: "a passphrase") }
        await eventually("the import writes") { await new.documents.waitingWrites == 1 }
        let replaced = Array("another ring, as a revocation writes it".utf8)
        try await new.database.save(replaced, as: VaultDocuments.ring)
        await new.documents.release()
        #expect(await refused == .busy)
        #expect(try await new.database.document(VaultDocuments.ring) == replaced)
        #expect(try await records(new).isEmpty)
    }

    @Test func aBackupRestoresEverythingOnAnotherComputer() async throws {
        let old = try await filled()
        let backup = try await export(old, passphrase: "a passphrase")
        #expect(backup.starts(with: Array("APLK".utf8) + [2, 1]))

        let new = try await World(listed: [app("mail")], hasVault: true, cost: { .minimum })
        #expect(await refusal { try await `import`(backup, into: new) } == .notReadable)
        let trial = try await `import`(backup, into: new, passphrase: "a passphrase", isTrial: true)
        #expect(trial.recordsAdded == 3 && trial.appsAdded == ["Calculator", "Firefox"])
        #expect(try await records(new).isEmpty)
        #expect(await new.apps.policy.apps.count == 1)

        let report = try await `import`(backup, into: new, passphrase: "a passphrase")
        #expect(report == trial)
        #expect(try await new.sealed.notes.list(search: "kept", peer: alice).notes.count == 1)
        let file = try await new.sealed.files.read("file.txt", peer: alice)
        let blob = try #require(ItemID(file.file.id))
        let vault = try #require(ItemID(file.vault))
        let sealed = try await new.blobs.read(blob, offset: 0, length: Int(file.sealedSize))
        let stream = try ContentStream(
            opening: Array(sealed.prefix(ContentStream.headerLength)),
            name: .init(vault: vault, collection: .files, id: blob),
            key: file.contentKey.withUnsafeBytes { SecretBytes(copying: $0) })
        #expect(
            try stream.open(sealed.dropFirst(ContentStream.headerLength), index: 0, isLast: true)
                == Data("content".utf8))
        let intruder = try #require(try await new.sealed.intruders.list(peer: alice).intruders.first)
        #expect(try await new.sealed.intruders.read(intruder.id, peer: alice).photo.count == 70_000)
        #expect(await new.apps.policy.apps.keys.sorted() == [calculator, firefox, app("mail")])
        // The keys are stored: they remain after the vault was locked and opened.
        await new.sealed.vault.lock(user: nil, "The vault was locked.")
        _ = try await new.sealed.vault.open(right, for: alice)
        #expect(try await new.sealed.notes.list(search: nil, peer: alice).notes.count == 1)
    }

    @Test func mergingKeepsNewerRecordsAndRestoresRemovedOnes() async throws {
        let world = try await filled()
        let backup = try await export(world)
        let note = try #require(try await world.sealed.notes.list(search: nil, peer: alice).notes.first)
        _ = try await world.sealed.notes.change(note.id, NoteRequest(title: "note", body: "newer"), peer: alice)
        try await world.sealed.files.remove("file.txt", peer: alice)
        try await `import`(backup, into: world)
        #expect(try await world.sealed.notes.read(note.id, peer: alice).body == "newer")
        let file = try await world.sealed.files.read("file.txt", peer: alice)
        let blob = try #require(ItemID(file.file.id))
        #expect(try await world.blobs.size(blob) == file.sealedSize)
        let again = try await `import`(backup, into: world, isTrial: true)
        #expect(again.recordsInConflict == 0)
    }

    @Test func replacingLeavesOnlyTheRecordsOfTheBackup() async throws {
        let world = try await filled()
        let backup = try await export(world)
        let before = try await world.sealed.notes.list(search: nil, peer: alice).notes
        _ = try await world.sealed.notes.change(before[0].id, NoteRequest(title: "x", body: "newer"), peer: alice)
        _ = try await world.sealed.notes.add(NoteRequest(title: "added later", body: ""), peer: alice)
        try await world.apps.change { $0.policy.add(LockedApp(id: app("mail"), name: "Mail")) }
        let report = try await `import`(backup, into: world, .replace)
        #expect(report.recordsRemoved == 1 && report.appsRemoved == ["Mail"])
        let after = try await world.sealed.notes.list(search: nil, peer: alice).notes
        #expect(after.map(\.title) == ["note"])
        #expect(try await world.sealed.notes.read(after[0].id, peer: alice).body == "kept")
        #expect(await world.apps.policy.apps.keys.sorted() == [calculator, firefox])
    }

    @Test func theOwnPasscodeOfAnAppThatAnImportRemovesOpensNothing() async throws {
        let world = try await filled()
        let backup = try await export(world)
        let own = SecretBytes(utf8: "known to a friend")
        func add() async throws {
            try await world.apps.change { $0.policy.add(LockedApp(id: app("mail"), name: "Mail")) }
        }
        try await add()
        _ = try await world.passcodes.setPasscode(own, of: app("mail"), user: alice.user)
        _ = try await `import`(backup, into: world, .replace, isTrial: true)
        try await world.passcodes.verify(own, app: app("mail"), user: alice.user)
        _ = try await `import`(backup, into: world, .replace)
        try await add()
        #expect(
            await refusal { try await world.passcodes.verify(own, app: app("mail"), user: alice.user) }
                == .wrongPasscode)
    }

    @Test func aBackupOfTheSettingsContainsNoKeyAndRemovesNoRecord() async throws {
        let world = try await filled()
        let backup = try await export(world, settingsOnly: true)
        #expect(backup.count < 4_096)
        let before = try await records(world)
        let report = try await `import`(backup, into: world, .replace)
        #expect(report.recordsRemoved == 0)
        #expect(try await records(world) == before)
    }

    @Test func aDamagedBackupChangesNothing() async throws {
        let world = try await filled()
        let backup = try await export(world)
        let before = try await records(world)
        let kept = try await world.blobs.kept().sorted()
        // Damage near the beginning, in the middle and at the end; each costs a key derivation.
        var cut = backup
        cut.removeLast(20)
        var flipped = backup
        flipped[backup.count - 1] ^= 1
        var future = backup
        future[4] = 3
        for bytes in [cut, flipped, future, Array(backup.prefix(500)), Array("nonsense".utf8), []] {
            #expect(await refusal { try await `import`(bytes, into: world, .replace) } != nil)
        }
        #expect(try await records(world) == before)
        #expect(try await world.blobs.kept().sorted() == kept)
    }

    @Test func anImportThatCannotBeWrittenChangesNothing() async throws {
        let world = try await filled()
        let backup = try await export(world)
        _ = try await world.sealed.notes.add(NoteRequest(title: "added later", body: ""), peer: alice)
        let before = (try await records(world), await world.apps.policy)
        // The two writes of the passcode's count succeed, the write of the import fails.
        await world.documents.fail(after: 2)
        #expect(await refusal { try await `import`(backup, into: world, .replace) } == .failed)
        await world.documents.fail(after: nil)
        #expect(try await records(world) == before.0)
        #expect(await world.apps.policy == before.1)
    }

    // MARK: The earlier system

    private struct Earlier: Decodable {
        struct Sample: Decodable {
            var name: String
            var passcode: String?
            var file: Data
        }

        var opens: [Sample]

        static func sample(_ name: String) throws -> Sample {
            let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Vectors/earlier.json")
            let samples = try JSONDecoder().decode(Earlier.self, from: Data(contentsOf: path)).opens
            return try #require(samples.first { $0.name == name })
        }
    }

    /// The file is untrusted input.
    @Test func everyNumberOfAnEarlierBackupIsImportedOrRefused() throws {
        let json = """
            {"version": 1, "exportDate": 700000000, "categories": [], "settings": {"unlockDuration": 300},
             "lockedApps": [{"bundleID": "org.mozilla.firefox", "displayName": "Firefox", "schedule": {"enabled": true,
              "startHour": 22, "startMinute": 0, "endHour": 6, "endMinute": 30, "activeDays": [1, 7]}}]}
            """
        let decoder = JSONDecoder()
        let whole = try decoder.decode(EarlierBackup.self, from: Data(json.utf8))
        #expect(try whole.converted().defaultGrantSeconds == 300 && whole.exportDate?.text == "2023-03-08T20:26:40Z")
        for variant in ExtremeNumbers.variants(of: Array(json.utf8)) {
            guard let backup = try? decoder.decode(EarlierBackup.self, from: Data(variant)) else { continue }
            #expect(backup.exportDate?.text.isEmpty == false)
            guard let settings = try? backup.converted() else { continue }
            #expect(30...3_600 ~= settings.defaultGrantSeconds ?? 300)
        }
    }

    /// They are written into the state unchanged.
    @Test func settingsOfABackupAreClampedToTheirLimits() throws {
        for number in ExtremeNumbers.all {
            let json = Data(
                """
                {"vaultIdleSeconds": \(number), "photographsFromFailure": \(number), "inactivitySeconds": \(number),
                 "clipboardSeconds": \(number)}
                """.utf8)
            guard let privacy = try? JSONDecoder().decode(PrivacySettings.self, from: json) else { continue }
            #expect(60...3_600 ~= privacy.vaultIdleSeconds && 0...10 ~= privacy.photographsFromFailure)
            let presence = try JSONDecoder().decode(PresenceSettings.self, from: json)
            #expect(throws: Never.self) { try presence.validate() }
        }
        let settings = try JSONDecoder().decode(PrivacySettings.self, from: Data("{\"vaultIdleSeconds\": 90}".utf8))
        #expect(settings.vaultIdleSeconds == 90 && settings.photographsFromFailure == 2)
    }

    /// There has to be room for the next revision.
    @Test(arguments: [0, HubRecord.maximumNumber + 1, UInt64(Int64.max), UInt64.max])
    func anImportedRecordHasARevisionThatOtherDevicesAccept(_ revision: UInt64) throws {
        let id = ItemID.random().description
        var record = BackupRecord(
            collection: "notes", id: id, vault: id, revision: 1, epoch: .max, author: id, deleted: true, sealed: nil,
            blobs: nil)
        #expect(try record.record().name.revision == 1)
        record.revision = revision
        #expect(throws: ControlError.self) { try record.record() }
    }

    @Test(arguments: [("backup", 1), ("plain JSON", 0)])
    func aBackupOfTheEarlierSystemIsRead(name: String, version: Int) async throws {
        let sample = try Earlier.sample(name)
        let world = try await World(listed: [], hasVault: true)
        let report = try await `import`([UInt8](sample.file), into: world, passphrase: sample.passcode)
        #expect(report.version == version)
        #expect(report.appsAdded == ["Firefox"])
        #expect(report.notes.contains { $0.contains("Notizen") && $0.contains("not installed here") })
        let imported = await world.apps.report(firefox)
        #expect(imported.schedule == "block sat,sun 22:00-06:30")
        #expect(imported.categories == ["Web"])
    }
}
