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

/// What a stolen phone replaced or removed before its revocation is restored, and nothing else changes.
@Suite struct RestoreTests {
    private let connected: ConnectedWorld
    private var world: World { connected.world }

    init() async throws {
        connected = try await ConnectedWorld()
        try await world.openVault()
    }

    /// Opens the vault with the owner's passcode, whatever time has passed.
    private func opened() async throws { try await world.openVault() }

    private func pass(_ seconds: Double) {
        world.time.set(
            elapsed: world.time.now().elapsed + .seconds(seconds), wall: world.time.wallClock() + seconds)
    }

    /// Passes a day, and opens the vault again.
    /// - Returns: the new time.
    private func nextDay() async throws -> Double {
        pass(86_400)
        try await opened()
        return world.time.wallClock()
    }

    private func revoke(_ name: String) async throws {
        _ = try await connected.devices.revoke(name, passcode: SecretBytes(utf8: "right"), user: alice.user)
        try await connected.settled()
    }

    private func restore(
        before time: Double, device: String? = nil, isTrial: Bool = false
    ) async throws -> RestoreReport {
        let report = try await connected.devices.restore(
            RestoreRequest(passcode: "right", before: time, device: device, isTrial: isTrial), user: alice.user)
        try await connected.settled()
        return report
    }

    private func add(_ titles: String...) async throws {
        for title in titles {
            _ = try await world.sealed.notes.add(NoteRequest(title: title, body: "the good one"), peer: alice)
        }
        try await connected.settled()
    }

    /// Titles and texts at the computer.
    private func notes() async throws -> [String: String] {
        try await opened()
        var notes: [String: String] = [:]
        for note in try await world.sealed.notes.list(search: nil, peer: alice).notes {
            notes[note.title] = try await world.sealed.notes.read(note.id, peer: alice).body
        }
        return notes
    }

    private func note(_ phone: Companion, _ title: String) async throws -> Companion.Note {
        try await phone.sync()
        return try #require(try await phone.notes().first { $0.title == title })
    }

    private func change(_ phone: Companion, _ title: String, to newTitle: String, _ body: String = "") async throws {
        _ = try await phone.write(title: newTitle, body: body, to: try await note(phone, title).id)
        await eventually { try await world.notes().contains(newTitle) }
    }

    private func remove(_ phone: Companion, _ title: String) async throws {
        try await phone.removeNote(try await note(phone, title).id)
        await eventually { try await !world.notes().contains(title) }
    }

    @Test func changesOfAStolenPhoneAreRevertedOnEveryDevice() async throws {
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await add("Bank", "Doctor", "Untouched")
        // One of them was written by the stolen phone itself.
        _ = try await lost.write(title: "Own", body: "the good one")
        await eventually { try await world.notes().contains("Own") }
        let theft = try await nextDay()
        try await change(lost, "Bank", to: "HA HA")
        try await remove(lost, "Doctor")
        try await remove(lost, "Own")
        try await revoke("Lost")

        let trial = try await restore(before: theft, isTrial: true)
        #expect(trial.items.map(\.title) == ["Bank", "Doctor", "Own"])
        #expect(trial.items.map(\.state) == [.changed, .removed, .removed])
        #expect(trial.items.allSatisfy { $0.kind == .note && $0.outcome == .restored && $0.deviceName == "Lost" })
        #expect(trial.restored == 3 && trial.copied == 0 && trial.left == 0)
        #expect(try await restore(before: theft) == trial)

        let good = Dictionary(
            uniqueKeysWithValues: ["Bank", "Doctor", "Own", "Untouched"].map { ($0, "the good one") })
        #expect(try await notes() == good)
        try await kept.sync()
        #expect(try await kept.notes().map(\.title) == good.keys.sorted())
        #expect(await kept.report().misbehaviour.isEmpty)
        let secrets = await lost.secrets
        #expect(connected.hub.records(in: "notes").allSatisfy { !opens($0, secrets) })
        let log = try await world.events(.changesRestored)
        #expect(
            log.map(\.sentence) == [
                "3 items that devices that are no longer in the household had changed or removed were restored."
            ])
        // A second restoration changes nothing.
        #expect(try await restore(before: theft).items.isEmpty)
    }

    @Test func aTrialRunChangesNothing() async throws {
        let lost = try await connected.pair("Lost")
        try await add("Bank")
        let theft = world.time.wallClock()
        try await remove(lost, "Bank")
        try await revoke("Lost")
        let records = connected.hub.records(in: "notes")
        #expect(try await restore(before: theft, isTrial: true).restored == 1)
        #expect(connected.hub.records(in: "notes") == records)
        #expect(try await notes().isEmpty)
        #expect(try await world.events(.changesRestored).isEmpty)
    }

    @Test func laterChangesOfMembersAreKeptBesideTheRestoredVersion() async throws {
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await add("Bank", "Doctor")
        let theft = try await nextDay()
        try await change(lost, "Bank", to: "HA HA")
        try await change(kept, "HA HA", to: "Bank, new", "by Kept")
        try await change(lost, "Doctor", to: "HO HO")
        _ = try await world.sealed.notes.change(
            try #require(try await world.sealed.notes.list(search: "HO", peer: alice).notes.first?.id),
            NoteRequest(title: "Doctor, new", body: "here"), peer: alice)
        try await connected.settled()
        try await revoke("Lost")
        let report = try await restore(before: theft)
        #expect(report.items.map(\.outcome) == [.copied, .copied])
        let expected = [
            "Bank, new": "by Kept", "Bank (restored)": "the good one", "Doctor, new": "here",
            "Doctor (restored)": "the good one",
        ]
        #expect(try await notes() == expected)
        #expect(try await restore(before: theft).items.isEmpty)
        #expect(try await notes() == expected)
    }

    /// The newest version of a member is restored, and beside it the version from before the theft.
    @Test func changesBetweenTwoChangesOfTheStolenPhoneAreRestored() async throws {
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await add("Bank")
        let theft = try await nextDay()
        try await change(lost, "Bank", to: "HA HA")
        try await change(kept, "HA HA", to: "Bank, new", "by Kept")
        try await remove(lost, "Bank, new")
        try await revoke("Lost")
        let report = try await restore(before: theft)
        #expect(report.items.map(\.outcome) == [.restored, .copied])
        #expect(report.items.map(\.title) == ["Bank, new", "Bank"])
        #expect(try await notes() == ["Bank, new": "by Kept", "Bank (restored)": "the good one"])
        #expect(try await restore(before: theft).items.isEmpty)
    }

    @Test func changesOfMembersAreNotReverted() async throws {
        let (lost, kept) = (try await connected.pair("Lost"), try await connected.pair("Kept"))
        try await add("Bank", "Doctor")
        let theft = world.time.wallClock()
        try await change(kept, "Bank", to: "Bank, new")
        try await remove(kept, "Doctor")
        #expect(try await restore(before: theft).items.isEmpty)
        try await revoke("Lost")
        #expect(try await restore(before: theft).items.isEmpty)
        #expect(try await notes() == ["Bank, new": ""])
        #expect(await refusal { _ = try await restore(before: theft, device: "Kept") } == .badRequest)
        #expect(await refusal { _ = try await restore(before: theft, device: "Nobody") } == .noSuchItem)
        withExtendedLifetime(lost) {}
    }

    @Test func onlyChangesSinceTheGivenTimeAreReverted() async throws {
        let lost = try await connected.pair("Lost")
        try await add("Bank", "Doctor")
        _ = try await nextDay()
        try await change(lost, "Bank", to: "Bank, by the owner", "the good one")
        try await remove(lost, "Doctor")
        let theft = try await nextDay()
        try await change(lost, "Bank, by the owner", to: "HA HA")
        try await revoke("Lost")
        #expect(try await restore(before: theft).items.map(\.title) == ["Bank, by the owner"])
        #expect(try await notes() == ["Bank, by the owner": "the good one"])
    }

    @Test func oneOfSeveralRevokedDevicesIsChosen() async throws {
        let (lost, sold) = (try await connected.pair("Lost"), try await connected.pair("Sold"))
        try await add("Bank", "Doctor")
        let theft = world.time.wallClock()
        try await remove(lost, "Bank")
        try await remove(sold, "Doctor")
        try await revoke("Lost")
        try await revoke("Sold")
        #expect(try await restore(before: theft, device: "lost").items.map(\.title) == ["Bank"])
        #expect(try await notes() == ["Bank": "the good one"])
        let id = await sold.device.description
        #expect(try await restore(before: theft, device: String(id.prefix(8))).items.map(\.deviceName) == ["Sold"])
    }

    @Test func aRepeatedlyRewrittenNoteIsRestored() async throws {
        let lost = try await connected.pair("Lost")
        _ = try await lost.write(title: "Bank", body: "the good one")
        await eventually { try await world.notes() == ["Bank"] }
        let theft = try await nextDay()
        let id = try await note(lost, "Bank").id
        for number in 1...100 {
            _ = try await lost.write(title: "junk \(number)", body: "", to: id)
            // Each of them arrives in its own transaction.
            await eventually { try await world.notes() == ["junk \(number)"] }
            pass(1)
        }
        try await revoke("Lost")
        #expect(try await restore(before: theft).items.map(\.title) == ["Bank"])
        #expect(try await notes() == ["Bank": "the good one"])
    }

    @Test func replacedVersionsAreRemovedAfterTheRetentionTime() async throws {
        let lost = try await connected.pair("Lost")
        try await add("Bank")
        let theft = world.time.wallClock()
        try await remove(lost, "Bank")
        try await revoke("Lost")
        pass(EarlierVersion.retentionSeconds - 60)
        #expect(try await restore(before: theft, isTrial: true).restored == 1)
        pass(120)
        #expect(try await restore(before: theft, isTrial: true).items.isEmpty)
        let restarted = try await ConnectedWorld(hub: connected.hub, after: world)
        #expect(try await restarted.world.database.earlierVersions(since: 0).isEmpty)
    }

    @Test func restoringRequiresThePasscode() async throws {
        let refused = await refusal {
            _ = try await connected.devices.restore(
                RestoreRequest(passcode: "wrong", before: 0, isTrial: true), user: alice.user)
        }
        #expect(refused == .wrongPasscode)
    }

    // MARK: Content

    /// Removes a record as a phone does: without content, signed by the phone.
    private func removeRecord(_ collection: RecordCollection, _ id: ItemID, by phone: Companion) async throws {
        let stored = try #require(try await world.database.record(collection, id))
        var name = stored.name
        name.revision += 1
        let secrets = await phone.secrets
        let answer = try await connected.hub.connection(secrets.token)
            .write([secrets.sign(name, epoch: stored.epoch, sealed: nil)])
        #expect(answer.first?.sequence != nil)
        await eventually { try await world.database.record(collection, id)?.sealed == nil }
    }

    @Test func aFilesContentIsKeptAndSentAgainIfTheHubHasRemovedIt() async throws {
        let lost = try await connected.pair("Lost")
        let (id, bytes) = (ItemID.random(), [UInt8](repeating: 5, count: 3_000))
        try await world.sealed.own.contents.put(id.description, offset: 0, bytes: bytes, peer: alice)
        _ = try await world.sealed.files.add(
            AddFileRequest(
                id: id.description, name: "taxes.pdf", size: 2_000, modified: 0, mode: 0o600, sealedSize: 3_000,
                contentKey: Data(repeating: 1, count: 32)), peer: alice)
        try await connected.settled()
        let theft = world.time.wallClock()
        try await removeRecord(.files, id, by: lost)
        try await revoke("Lost")
        // As at each start, and as the hub does after its retention.
        try await world.sealed.files.sweep()
        #expect(try await world.blobs.size(id) == 3_000)
        connected.hub.state.withLock { $0.blobs[HubID(id)] = nil }

        let report = try await restore(before: theft)
        #expect(report.items.map(\.title) == ["taxes.pdf"])
        try await opened()
        #expect(try await world.sealed.files.list(peer: alice).files.map(\.name) == ["taxes.pdf"])
        let record = try #require(connected.hub.records(in: "files").last)
        #expect(record.blobs == [HubID(id)] && record.sealed != nil)
        #expect(connected.hub.state.withLock { $0.blobs[HubID(id)].map { Data($0.bytes) } } == Data(bytes))
    }

    /// The stolen phone's version does not count as work of a member, whether it was kept or removed.
    @Test func itemsThatTheOwnerRemovedLaterAreAddedAsCopiesOrNamed() async throws {
        let lost = try await connected.pair("Lost")
        try await add("Bank")
        let id = ItemID.random()
        try await world.sealed.own.contents.put(
            id.description, offset: 0, bytes: [UInt8](repeating: 5, count: 3_000), peer: alice)
        _ = try await world.sealed.files.add(
            AddFileRequest(
                id: id.description, name: "taxes.pdf", size: 2_000, modified: 0, mode: 0o600, sealedSize: 3_000,
                contentKey: Data(repeating: 1, count: 32)), peer: alice)
        try await connected.settled()
        let theft = world.time.wallClock()
        try await change(lost, "Bank", to: "HA HA")
        let file = try #require(try await world.database.record(.files, id))
        let keys = try await world.sealed.vault.keys(for: alice)
        let theirs = try #require(try keys.resealed(file, revision: 2))
        let secrets = await lost.secrets
        _ = try await connected.hub.connection(secrets.token)
            .write([secrets.sign(theirs.name, epoch: theirs.epoch, sealed: theirs.sealed, blobs: theirs.blobs)])
        await eventually { try await world.database.record(.files, id)?.name.revision == 2 }
        let junk = try await world.sealed.notes.list(search: "HA", peer: alice).notes.first?.id
        try await world.sealed.notes.remove(try #require(junk), peer: alice)
        try await world.sealed.files.remove(id.description, peer: alice)
        try await connected.settled()
        try await revoke("Lost")

        let report = try await restore(before: theft)
        #expect(report.items.map(\.title) == ["Bank", "taxes.pdf"])
        #expect(report.items.map(\.outcome) == [.copied, .left])
        #expect(report.items.last?.reason == "A device of the household has changed or removed it since.")
        #expect(try await notes() == ["Bank (restored)": "the good one"])
        #expect(try await world.sealed.files.list(peer: alice).files.isEmpty)
        #expect(try await world.blobs.size(id) == 3_000)
    }

    /// What only companions show.
    @Test func aDateAndACommentRemovedByAPhoneAreRestored() async throws {
        let lost = try await connected.pair("Lost")
        let keys = try await world.sealed.vault.keys(for: alice)
        let moment = ItemID.random().description
        let bodies: [RecordCollection: (id: ItemID, json: String)] = [
            .dates: (.random(), #"{"name":"Anna's birthday","day":"1992-02-29","yearly":true}"#),
            .remarks: (.random(), #"{"moment":"\#(moment)","kind":"comment","at":1750000000,"text":"So cold!"}"#),
        ]
        for (collection, body) in bodies {
            let record = try keys.seal(Data(body.json.utf8), collection, body.id, revision: 1)
            try await world.database.write(StateChange(records: [record]))
        }
        try await connected.settled()
        let theft = world.time.wallClock()
        for (collection, body) in bodies { try await removeRecord(collection, body.id, by: lost) }
        try await revoke("Lost")
        let report = try await restore(before: theft)
        #expect(Set(report.items.map(\.title)) == ["Anna's birthday", "So cold!"])
        #expect(Set(report.items.map(\.kind)) == [.date, .remark] && report.restored == 2)
        try await opened()
        for (collection, body) in bodies {
            let record = try #require(try await world.database.record(collection, body.id))
            #expect(
                String(decoding: try await world.sealed.vault.keys(for: alice).open(record), as: UTF8.self) == body.json
            )
        }
    }

    @Test func anIntruderPhotoRemovedByAPhoneIsRestored() async throws {
        let lost = try await connected.pair("Lost", clock: { 1_800_000_000_000 })
        world.camera.show(Array(repeating: 7, count: 1_000))
        let photo = try await world.sealed.intruders.takePhoto()
        try await connected.settled()
        let theft = world.time.wallClock()
        let reply = try await lost.command(.removePhoto(photo: HubID(photo)), to: try await lost.computer(nil))
        #expect(reply.state == .done, "\(reply.sentence)")
        #expect(try await world.sealed.intruders.list(peer: alice).intruders.isEmpty)
        try await revoke("Lost")
        #expect(try await restore(before: theft).items.map(\.kind) == [.intruder])
        try await opened()
        let listed = try await world.sealed.intruders.list(peer: alice).intruders
        #expect(listed.map(\.id) == [photo.description])
        #expect(try await world.sealed.intruders.read(photo.description, peer: alice).photo.count > 0)
    }

    @Test func aMomentIsRestoredWithItsPhotos() async throws {
        let lost = try await connected.pair("Lost")
        let (blob, photo, moment) = (ItemID.random(), ItemID.random(), ItemID.random())
        let sealed = Int(ContentStream.Layout(contentSize: 1_000, chunkSize: .mebi1).sealedSize)
        try await world.sealed.own.contents.put(
            blob.description, offset: 0, bytes: [UInt8](repeating: 3, count: sealed), peer: alice)
        _ = try await world.sealed.own.moments.add(
            NewMoment(
                id: moment.description, title: "Lake", words: "Cold.", date: 1_715_961_600, offset: 120, mood: "",
                place: nil, favourite: false,
                photos: [
                    NewPhoto(
                        id: photo.description, digest: Data(repeating: 1, count: 32), width: 40, height: 30, taken: nil,
                        original: PhotoSize(
                            type: "image/jpeg", size: 1_000, key: Data(repeating: 1, count: 32),
                            blob: blob.description), medium: nil, thumbnail: Data([0xFF, 1]))
                ]), peer: alice)
        try await connected.settled()
        let theft = world.time.wallClock()
        try await removeRecord(.moments, moment, by: lost)
        try await removeRecord(.photos, photo, by: lost)
        try await revoke("Lost")
        try await world.sealed.files.sweep()
        let report = try await restore(before: theft)
        #expect(report.items.map(\.title) == ["Lake", "40 × 30 pixels"])
        try await opened()
        #expect(try await world.sealed.own.moments.list(MomentFilter(), peer: alice).moments.map(\.title) == ["Lake"])
        #expect(
            try await world.sealed.own.moments.photo(photo.description, peer: alice).original.blob == blob.description)
        #expect(try await world.blobs.size(blob) == UInt64(sealed))
        #expect(connected.hub.records(in: "photos").last?.blobs == [HubID(blob)])
    }
}
