import ControlAPI
import Foundation
import Household
import SealedFormats
import TestSupport
import Testing

@testable import HeadlessCompanion

/// The files of a companion. DaemonCoreTests and Integration test its functions with a daemon.
@Suite struct CompanionFilesTests {
    private func secrets() -> HouseholdSecrets {
        let household = ItemID.random()
        return HouseholdSecrets(
            household: household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(), token: .random(count: 32),
            ring: KeyRing([.init(kind: .status, vault: household, epoch: 3, key: .random(count: 32))]))
    }

    @Test func keysAreStoredWithoutAccessForOtherUsers() throws {
        let directory = try TemporaryDirectory()
        let files = CompanionFiles(directory: directory.path("phone"))
        try files.prepare()
        let (secrets, deviceSecret) = (secrets(), SecretBytes.random(count: 32))
        try files.save(secrets, deviceSecret: deviceSecret)
        let loaded = try files.loadSecrets(household: secrets.household)
        #expect(loaded.secrets.device == secrets.device && loaded.secrets.token == secrets.token)
        #expect(loaded.secrets.boxKey.privateKey == secrets.boxKey.privateKey && loaded.deviceSecret == deviceSecret)
        #expect(loaded.secrets.epoch == 3)
        for (path, mode) in [("phone", 0o700), ("phone/keys.json", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path(path))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
        }
    }

    @Test func missingFilesAreReportedWithAReason() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: CompanionError.self) {
            try Companion(directory: directory.path) { _, _ in throw CancellationError() }
        }
        #expect(error?.description.contains("There is no companion in") == true)
    }

    @Test func aDirectoryBelongsToOneCompanionAndInvalidLinksAreRefused() async throws {
        let directory = try TemporaryDirectory()
        try CompanionFiles(directory: directory.path).save(secrets(), deviceSecret: .random(count: 32))
        let link = Invitation(household: .random(), computer: .random()).link(hub: "https://hub.test")
        await #expect(throws: CompanionError.self) {
            try await Companion.join(link, name: "x", directory: directory.path) { _, _ in throw CancellationError() }
        }
        await #expect(throws: SealedFormatsError.self) {
            try await Companion.join("https://hub.test", name: "x", directory: directory.path("new")) { _, _ in
                throw CancellationError()
            }
        }
    }
}
