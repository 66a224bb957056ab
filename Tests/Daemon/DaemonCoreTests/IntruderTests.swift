import ControlAPI
import Foundation
import Policy
import SealedFormats
import SealedStore
import Sync
import SystemTestSupport
import TestSupport
import Testing

@testable import DaemonCore

@Suite struct IntruderTests {
    private let right = SecretBytes(utf8: "right")
    private let wrong = SecretBytes(utf8: "wrong")
    /// Longer than a chunk of a stream, and not on the disk by chance.
    private let photo: [UInt8] = [0xFF, 0xD8] + (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 / 256) }

    @Test func photosAreRemovedWhenTheVaultIsOpenedAfterTheDaysOfAlerts() async throws {
        let world = try await World(hasVault: true)
        world.camera.show(photo)
        try await world.enterWrongPasscode(isPhotographed: false)
        try await world.enterWrongPasscode(isPhotographed: true)
        try await world.sealed.vault.changeSettings { $0.alertDays = 7 }
        let keys = try await {
            _ = try await world.sealed.vault.open(right, for: alice)
            return try #require(await world.sealed.vault.openKeys())
        }()
        world.time.set(wall: world.time.wallClock() + 7 * 86_400 - 60)
        await world.sealed.intruders.purge(keys)
        #expect(try await world.blobs.kept().count == 1)
        world.time.set(wall: world.time.wallClock() + 120)
        await world.sealed.intruders.purge(keys)
        #expect(try await world.blobs.kept().isEmpty)
        #expect(await refusal { try await world.sealed.vault.changeSettings { $0.alertDays = 6 } } == .badRequest)
        #expect(await refusal { try await world.sealed.vault.changeSettings { $0.alertDays = 366 } } == .badRequest)
    }

    @Test func theSecondWrongPasscodeTakesAPhotoThatALockedVaultCannotOpen() async throws {
        let world = try await World(hasVault: true)
        world.camera.show(photo)
        try await world.enterWrongPasscode(isPhotographed: false)
        #expect(try await world.database.records(in: .intruders).isEmpty, "the first wrong passcode takes no photo")
        try await world.enterWrongPasscode(isPhotographed: true)
        let record = try #require(try await world.database.records(in: .intruders).first)
        #expect(try await world.events(.intruderPhotographed).count == 1)

        // On the disk nothing of the photo is in clear, and neither the machine secret nor a wrong passcode opens the
        // slot of its key.
        let files = FileManager.default.enumerator(atPath: world.directory.path)?.allObjects as? [String] ?? []
        #expect(files.contains { $0.hasPrefix("blobs/kept/") })
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: world.directory.path(file)) else { continue }
            #expect(bytes.range(of: Data(photo[1_000..<1_016])) == nil, "\(file)")
        }
        let slots = try KeySlots(bytes: try #require(try await world.database.document(VaultDocuments.slots)))
        #expect(slots.open(try slots.stretch(wrong, mixedSecret: World.machineSecret)) == nil)
        let ring = try #require(try await world.database.document(VaultDocuments.ring))
        #expect(throws: SealedFormatsError.self) { try KeyRing(sealed: ring, rootKey: World.machineSecret) }
        #expect(throws: SealedFormatsError.self) {
            try PublicKeyBox.open(record.sealed ?? [], as: record.name, with: BoxKeyPair())
        }
        #expect(await refusal { _ = try await world.sealed.intruders.list(peer: alice) } == .vaultLocked)

        _ = try await world.sealed.vault.open(right, for: alice)
        let intruder = try #require(try await world.sealed.intruders.list(peer: alice).intruders.first)
        #expect(intruder.app == "firefox" && intruder.user == bob.user && intruder.failures == 2)
        #expect(intruder.size == photo.count)
        #expect(try await world.sealed.intruders.read(intruder.id, peer: alice).photo == Data(photo))

        try await world.sealed.intruders.remove(String(intruder.id.prefix(6)), peer: alice)
        #expect(try await world.blobs.kept().isEmpty)
        #expect(await refusal { _ = try await world.sealed.intruders.read(intruder.id, peer: alice) } == .noSuchItem)
    }

    @Test func withoutACameraTheWrongPasscodeIsRecorded() async throws {
        let world = try await World(hasVault: true)
        try await world.enterWrongPasscode(isPhotographed: false)
        try await world.enterWrongPasscode(isPhotographed: true)
        #expect(try await world.events(.passcodeWrong).count == 2)
        #expect(try await world.events(.intruderMissed).map(\.app) == ["firefox"])
    }

    @Test func photosStartAtTheConfiguredFailureOrNever() async throws {
        let world = try await World(hasVault: true)
        world.camera.show(photo)
        try await world.sealed.vault.changeSettings { $0.photographsFromFailure = 0 }
        for _ in 0..<3 { try await world.enterWrongPasscode(isPhotographed: false) }
        #expect(try await world.database.records(in: .intruders).isEmpty)
        try await world.sealed.vault.changeSettings { $0.photographsFromFailure = 4 }
        try await world.enterWrongPasscode(isPhotographed: true)
        #expect(try await world.database.records(in: .intruders).count == 1)
        #expect(
            await refusal { try await world.sealed.vault.changeSettings { $0.photographsFromFailure = 11 } }
                == .badRequest)
        let again = try await World(after: world)
        #expect(await again.sealed.vault.settings.photographsFromFailure == 4)
    }
}
