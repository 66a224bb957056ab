import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import DaemonCore

private let right = SecretBytes(utf8: "right")

@Suite struct MomentTests {
    private func opened() async throws -> World {
        let world = try await World(hasVault: true)
        _ = try await world.sealed.vault.open(right, for: alice)
        return world
    }

    /// A photo whose sizes are stored as blobs with arbitrary content.
    private func photo(_ world: World, seed: UInt8 = 1, hasMedium: Bool = true) async throws -> NewPhoto {
        func size(_ size: Int) async throws -> PhotoSize {
            let blob = ItemID.random()
            let sealed = Int(ContentStream.Layout(contentSize: UInt64(size), chunkSize: .mebi1).sealedSize)
            try await world.sealed.own.contents.put(
                blob.description, offset: 0, bytes: [UInt8](repeating: seed, count: sealed), peer: alice)
            return PhotoSize(
                type: "image/jpeg", size: size, key: Data(repeating: seed, count: 32), blob: blob.description)
        }
        return NewPhoto(
            id: ItemID.random().description, digest: Data(repeating: seed, count: 32), width: 40, height: 30,
            taken: nil,
            original: try await size(1_000), medium: hasMedium ? try await size(100) : nil,
            thumbnail: Data([0xFF, seed]))
    }

    private func moment(
        _ title: String, _ photos: [NewPhoto] = [], words: String = "", date: Double = 1_715_961_600, mood: String = "",
        place: MomentPlace? = nil, favourite: Bool = false
    ) -> NewMoment {
        NewMoment(
            id: ItemID.random().description, title: title, words: words, date: date, offset: 120, mood: mood,
            place: place, favourite: favourite, photos: photos)
    }

    private func titles(_ world: World, _ change: (inout MomentFilter) -> Void = { _ in }) async throws -> [String] {
        var filter = MomentFilter()
        change(&filter)
        return try await world.sealed.own.moments.list(filter, peer: alice).moments.map(\.title)
    }

    // MARK: Adding and looking

    @Test func addedMomentsHaveTheirPhotosInOrder() async throws {
        let world = try await opened()
        let photos = [try await photo(world, seed: 1), try await photo(world, seed: 2, hasMedium: false)]
        let request = moment(
            "Lake", photos, words: "Cold.", mood: "joy", place: MomentPlace(name: "Zürich", latitude: 47, longitude: 8))
        let added = try await world.sealed.own.moments.add(request, peer: alice)
        #expect(added.photos.map(\.id) == photos.map(\.id))
        let read = try await world.sealed.own.moments.read("Lake", peer: alice)
        #expect(read.words == "Cold." && read.moment == added)
        let first = try await world.sealed.own.moments.photo(photos[0].id, peer: alice)
        #expect(first.original == photos[0].original && first.medium == photos[0].medium)
        #expect(first.thumbnail == photos[0].thumbnail)
        // Sent again because the answer was lost: added once.
        #expect(try await world.sealed.own.moments.add(request, peer: alice) == added)
        #expect(try await titles(world) == ["Lake"])
        // The content is kept, and the sweep does not remove it.
        #expect(try await world.database.blobsOfRecords().count == 3)
        let blob = photos[0].original.blob
        #expect(await refusal { try await world.sealed.own.contents.remove(blob, peer: alice) } == .badRequest)
        #expect(
            await refusal { try await world.sealed.own.contents.put(blob, offset: 0, bytes: [1], peer: alice) }
                == .badRequest)
        try await world.sealed.files.sweep()
        #expect(try await world.sealed.own.contents.read(blob, offset: 0, length: 8, peer: alice).count == 8)
    }

    @Test func momentsAreFoundByWordsMoodAndDay() async throws {
        let world = try await opened()
        for one in [
            moment("Café", words: "großer Braten", mood: "joy", favourite: true),
            moment("Milk", date: 1_560_000_000, mood: "calm"),
            // 22:30 UTC is the next day at that place.
            moment("Night", date: 1_715_985_000, place: MomentPlace(name: "Zürich")),
        ] { _ = try await world.sealed.own.moments.add(one, peer: alice) }
        #expect(try await titles(world) == ["Night", "Café", "Milk"])
        #expect(try await titles(world) { $0.search = "CAFE braten" } == ["Café"])
        #expect(try await titles(world) { $0.search = "zurich" } == ["Night"])
        #expect(try await titles(world) { $0.search = "2019-06" } == ["Milk"])
        #expect(try await titles(world) { $0.mood = "calm" } == ["Milk"])
        #expect(try await titles(world) { $0.favourites = true } == ["Café"])
        #expect(try await titles(world) { $0.from = "2024-05-18" } == ["Night"])
        #expect(try await titles(world) { $0.to = "2024-05-17" } == ["Café", "Milk"])
        #expect(await refusal { _ = try await titles(world) { $0.from = "yesterday" } } == .badRequest)
    }

    @Test func invalidMomentsAreRefusedAndNothingIsWritten() async throws {
        let world = try await opened()
        var bad: [NewMoment] = [
            moment(""), moment(String(repeating: "x", count: 1_001)), moment("no date", date: .greatestFiniteMagnitude),
            moment("half a point", place: MomentPlace(name: "x", latitude: 1)),
        ]
        let good = try await photo(world)
        var short = good
        short.original.size += 1
        var large = try await photo(world)
        large.thumbnail = Data(count: 16_385)
        var keyless = try await photo(world)
        keyless.original.key = Data(count: 31)
        var shared = good
        shared.medium?.blob = good.original.blob
        var unknown = try await photo(world)
        unknown.original.type = "image/svg+xml"
        bad +=
            [short, large, keyless, shared, unknown].map { moment("photo", [$0]) } + [moment("twice", [good, good])]
        for one in bad {
            let error = await #expect(throws: (any Error).self, "\(one.title)") {
                _ = try await world.sealed.own.moments.add(one, peer: alice)
            }
            #expect(error is ControlError || error is SealedFormatsError, "\(String(describing: error))")
        }
        #expect(try await titles(world).isEmpty)
        #expect(try await world.database.records(in: .photos).isEmpty)
        try await world.sealed.files.sweep()
        #expect(try await world.database.blobsOfRecords().isEmpty)
    }

    @Test func aDuplicateFileIsDetected() async throws {
        let world = try await opened()
        let one = try await photo(world, seed: 7)
        let added = try await world.sealed.own.moments.add(moment("a", [one]), peer: alice)
        let request = KnownPhotosRequest(digests: [Data(repeating: 7, count: 32), Data(repeating: 8, count: 32)])
        let known = try await world.sealed.own.moments.known(request, peer: alice)
        #expect(known.places == [.init(moment: added.id, photo: one.id, isInTrash: false), nil])
        #expect(
            await refusal {
                _ = try await world.sealed.own.moments.known(KnownPhotosRequest(digests: [Data([1])]), peer: alice)
            } == .badRequest)
    }

    // MARK: Changing

    @Test func theTrashRestoresForThirtyDaysAndThenRemovesPermanently() async throws {
        let world = try await opened()
        let moments = world.sealed.own.moments
        let (shared, own) = (try await photo(world, seed: 1), try await photo(world, seed: 2))
        let first = try await moments.add(moment("first", [shared, own]), peer: alice)
        // Two versions of a moment name the same photo.
        let keys = try await world.sealed.vault.keys(for: alice)
        let id = try #require(ItemID(first.id))
        let record = try #require(try await world.database.record(.moments, id))
        var body = try MomentBody(bytes: keys.open(record))
        body.title = "second"
        body.photos = [body.photos[0]]
        try await world.database.write(
            StateChange(records: [try keys.seal(body.bytes(), .moments, .random(), revision: 1)]))

        _ = try await moments.change("first", ChangeMomentRequest(favourite: true, removed: true), peer: alice)
        #expect(try await titles(world) == ["second"])
        #expect(try await titles(world) { $0.trash = true } == ["first"])
        let back = try await moments.change("first", ChangeMomentRequest(removed: false), peer: alice)
        #expect(back.favourite && back.removed == nil && back.revision == 3)

        _ = try await moments.change("first", ChangeMomentRequest(removed: true), peer: alice)
        world.time.set(wall: world.time.wallClock() + 29 * 86_400)
        await moments.purge(keys)
        #expect(try await titles(world) { $0.trash = true } == ["first"])
        world.time.set(wall: world.time.wallClock() + 2 * 86_400)
        await moments.purge(keys)
        #expect(try await titles(world) { $0.trash = true }.isEmpty)
        #expect(try await titles(world) == ["second"])
        // The photo that the other version names stays, the other one is removed with its content.
        #expect(try await world.database.records(in: .photos).map(\.name.id.description) == [shared.id])
        let gone = try #require(ItemID(own.original.blob))
        let kept = try #require(ItemID(shared.original.blob))
        #expect(try await world.blobs.size(gone) == nil)
        #expect(try await world.blobs.size(kept) != nil)
    }

    @Test func aBackupHasMomentsWithTheContentOfTheirPhotos() async throws {
        let old = try await World(hasVault: true, cost: { .minimum })
        _ = try await old.sealed.vault.open(right, for: alice)
        let one = try await photo(old, seed: 5)
        _ = try await old.sealed.own.moments.add(moment("Lake", [one], words: "Cold."), peer: alice)
        let reply = try await old.sealed.backups.export(
            ExportRequest(passcode: "right", passphrase: "a passphrase", settingsOnly: false), peer: alice)
        #expect(reply.records == 2 && reply.blobs == 2)
        let id = try #require(ItemID(reply.blob))
        let bytes = try await old.blobs.read(id, offset: 0, length: Int(reply.size))

        let new = try await World(hasVault: true, vault: World.newVault())
        try await new.blobs.put(id, offset: 0, bytes: bytes)
        let report = try await new.sealed.backups.import(
            ImportRequest(
                passcode: "right", passphrase: "a passphrase", blob: id.description, mode: .merge, isTrial: false),
            peer: alice)
        #expect(report.recordsAdded == 2)
        _ = try await new.sealed.vault.open(right, for: alice)
        #expect(try await new.sealed.own.moments.read("Lake", peer: alice).words == "Cold.")
        #expect(try await new.sealed.own.moments.photo(one.id, peer: alice).original == one.original)
        try await new.sealed.files.sweep()
        let content = try await new.sealed.own.contents.read(one.original.blob, offset: 0, length: 9, peer: alice)
        #expect(content == [UInt8](repeating: 5, count: 9))
    }

    // MARK: Other devices

    @Test func aResealedPhotoKeepsItsContentAtTheHub() async throws {
        let connected = try await ConnectedWorld()
        let lost = try await connected.pair("Lost")
        _ = try await connected.world.sealed.vault.open(right, for: alice)
        let one = try await photo(connected.world)
        _ = try await connected.world.sealed.own.moments.add(moment("a", [one]), peer: alice)
        try await connected.settled()
        let medium = try #require(one.medium?.blob)
        let blobs = [one.original.blob, medium].compactMap { ItemID($0) }.map { HubID($0) }
        #expect(connected.hub.records(in: "photos").map(\.blobs) == [blobs])
        #expect(connected.hub.records(in: "moments").count == 1)
        #expect(connected.hub.state.withLock { state in blobs.allSatisfy { state.blobs[$0] != nil } })
        _ = try await connected.devices.revoke("Lost", passcode: right, user: alice.user)
        try await connected.settled()
        let again = try #require(connected.hub.records(in: "photos").last)
        #expect(again.revision == 2 && again.blobs == blobs)
        _ = lost
    }

    @Test func theTrashIsEmptiedOnlyOnceTheHubsChangesHaveArrived() async throws {
        let connected = try await ConnectedWorld()
        let world = connected.world
        _ = try await world.sealed.vault.open(right, for: alice)
        _ = try await world.sealed.own.moments.add(moment("a", [try await photo(world)]), peer: alice)
        _ = try await world.sealed.own.moments.change("a", ChangeMomentRequest(removed: true), peer: alice)
        try await connected.settled()
        connected.hub.setDown(true)
        await eventually { await !connected.sync.engine.isConnected }
        world.time.set(wall: world.time.wallClock() + 31 * 86_400)
        await world.control.purge()
        #expect(try await titles(world) { $0.trash = true } == ["a"])

        connected.hub.setDown(false)
        world.time.advance(by: .seconds(600))
        let isConnected = await eventually("it is connected") {
            world.time.wakeNext(within: .seconds(600))
            return await connected.sync.engine.isConnected
        }
        try #require(isConnected)
        // It locked itself meanwhile.
        _ = try await world.sealed.vault.open(right, for: alice)
        await world.control.purge()
        #expect(try await titles(world) { $0.trash = true }.isEmpty)
    }

    @Test func bothVersionsOfAMomentAreKeptAndAChangeWinsOverTheTrash() async throws {
        let world = try await opened()
        let moments = world.sealed.own.moments
        let added = try await moments.add(moment("Lake"), peer: alice)
        let keys = try await world.sealed.vault.keys(for: alice)
        let id = try #require(ItemID(added.id))
        let state = world.database
        func fromElsewhere(_ title: String, _ revision: UInt64, _ change: (inout MomentBody) -> Void = { _ in })
            async throws
        {
            let record = try #require(try await state.record(.moments, id))
            var body = try MomentBody(bytes: keys.open(record))
            body.title = title
            change(&body)
            var theirs = try keys.seal(body.bytes(), .moments, id, revision: revision)
            theirs.author = .random()
            var incoming = IncomingChange()
            incoming.vaultRecords = [IncomingRecord(record: theirs, sequence: revision + 10, received: 0)]
            try await state.ingest(incoming)
        }
        _ = try await moments.change("Lake", ChangeMomentRequest(favourite: true), peer: alice)
        try await fromElsewhere("Theirs", 3) { $0.favourite = false }
        await world.control.devices.conflicts.settleConflicts()
        #expect(try await titles(world).sorted() == ["Lake (conflict, den-computer)", "Theirs"])
        // Moved to the trash here, changed on another device: the change stays, once.
        _ = try await moments.change("Theirs", ChangeMomentRequest(removed: true), peer: alice)
        try await fromElsewhere("Newest", 9) { $0.removed = nil }
        await world.control.devices.conflicts.settleConflicts()
        #expect(try await titles(world).sorted() == ["Lake (conflict, den-computer)", "Newest"])
        #expect(try await titles(world) { $0.trash = true }.isEmpty)
        // The same change on both: one moment.
        _ = try await moments.change("Newest", ChangeMomentRequest(favourite: true), peer: alice)
        try await fromElsewhere("Newest", 12) { $0.modified += 1 }
        await world.control.devices.conflicts.settleConflicts()
        #expect(try await titles(world).count == 2)
        #expect(try await state.conflicts().isEmpty)
    }
}
