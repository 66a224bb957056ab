import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A computer in a household that a phone founded, and whose keys any member makes.
@Suite struct PhoneFoundedTests {
    private let right = SecretBytes(utf8: "right")

    @Test func aComputerThatJoinsReadsThePhonesNotesAndTheyReadIts() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        // Locked, it has the status key alone.
        #expect(await founded.household.session?.secrets.epoch == 1)
        #expect(await founded.household.session?.secrets.ring.entries.allSatisfy { $0.kind == .status } == true)
        await #expect(throws: ControlError.self) { try await world.notes() }
        try await founded.household.sendVaultKeys(right, user: alice.user)
        try await world.openVault()
        await eventually("the phone's note is read") { try await world.notes() == ["Before"] }
        _ = try await world.sealed.notes.add(NoteRequest(title: "Own", body: "of the computer"), peer: alice)
        try await founded.hasSent()
        await eventually("the phone reads both") {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["Before", "Own"]
        }
        let report = await phone.report()
        #expect(report.computers.map(\.status.name) == ["den"] && report.devices.count == 2)
        #expect(report.epoch == 1)
        try await founded.expectNoViolation()
    }

    @Test func aNoteOfThePhoneIsChangedAtTheComputer() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        try await world.openVault()
        await eventually { try await world.notes() == ["Before"] }
        let note = try #require(try await world.sealed.notes.list(search: nil, peer: alice).notes.first)
        _ = try await world.sealed.notes.change(note.id, NoteRequest(title: "After", body: "changed"), peer: alice)
        try await founded.hasSent()
        await eventually {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["After"]
        }
        try await founded.expectNoViolation()
    }

    @Test func theComputerAcceptsCommandsOfPhonesThatAdminister() async throws {
        let founded = try await PhoneFounded.joined()
        let second = try await founded.secondPhone()
        let computer = HubID(founded.world.key.publicKey.id)
        for phone in [founded.phone, second] {
            try await phone.sync()
            let reply = try await phone.command(.lockAll, to: computer)
            #expect(reply.state == .done, "\(reply.sentence)")
        }
    }

    @Test func theComputerReadsTheKeysThatAPhoneMadeAfterARevocation() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        try await founded.household.sendVaultKeys(right, user: alice.user)
        let second = try await founded.secondPhone()
        // The computer stays locked.
        try await phone.revoke(await second.device)
        try await founded.follows()
        await eventually { await founded.household.session?.secrets.epoch == 2 }
        _ = try await phone.write(title: "Since", body: "under the second key")
        try await world.openVault()
        await eventually { try await world.notes() == ["Before", "Since"] }
        // Keys of the computer's own vault are replaced as always: the second phone had them.
        let document = try #require(try await world.passcodes.vaultDocument())
        #expect(document.epochs?[document.vault.description] == 2)
        let shared = EpochKeys.vault(of: await phone.roster.household)
        #expect(document.epochs?[shared.description] == 2)
        _ = try await world.sealed.notes.add(NoteRequest(title: "Own", body: ""), peer: alice)
        try await founded.hasSent()
        await eventually {
            try await phone.sync()
            return try await phone.notes().map(\.title) == ["Before", "Own", "Since"]
        }
        try await founded.expectNoViolation()
    }

    @Test func anUnlockedComputerMakesTheKeysThatNobodyElseHasMade() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        let second = try await founded.secondPhone()
        _ = try await second.write(title: "Theirs", body: "of the phone that is revoked")
        try await world.openVault()
        await eventually { try await world.notes() == ["Before", "Theirs"] }
        try await phone.revoke(await second.device, settles: false)
        try await founded.follows()
        await eventually("the computer has made the keys") { await founded.keysRecord(2) != nil }
        let own = HubID(world.key.publicKey.id)
        #expect(await founded.keysRecord(2)?.author == own)
        try await founded.hasSent()
        await eventually("what the revoked phone wrote is the computer's") {
            founded.hub.records(in: "notes").filter { $0.author == own }.count == 1
        }
        try await phone.sync()
        #expect(try await phone.notes().map(\.title) == ["Before", "Theirs"])
        #expect(await phone.report().epoch == 2)
        _ = try await phone.write(title: "Since", body: "")
        await eventually { try await world.notes() == ["Before", "Since", "Theirs"] }
        try await founded.expectNoViolation()
    }

    @Test func aLockedComputerLeavesNewKeysToTheOthersUntilItIsOpened() async throws {
        let founded = try await PhoneFounded.joined()
        let second = try await founded.secondPhone()
        try await founded.phone.revoke(await second.device, settles: false)
        try await founded.follows()
        #expect(await founded.keysRecord(2) == nil)
        #expect(await founded.household.session?.secrets.epoch == 1)
        try await founded.world.openVault()
        await eventually("the computer has made the keys") { await founded.keysRecord(2) != nil }
        await eventually { await founded.household.session?.secrets.epoch == 2 }
    }

    @Test func ofTwoMembersWhoMakeKeysAtOnceTheHubsAreUsed() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        let second = try await founded.secondPhone()
        try await world.openVault()
        await eventually { try await world.notes() == ["Before"] }
        let ring = try #require(await world.sealed.vault.openKeys()?.ring)
        // The computer doesn't receive the keys that the phone makes, and makes its own.
        _ = founded.hub.silence(HubID(world.key.publicKey.id))
        try await phone.revoke(await second.device)
        let writes = founded.hub.state.withLock { $0.writes }
        try await founded.household.followRoster()
        try await founded.household.settleEpochKeys(ring)
        #expect(founded.hub.state.withLock { $0.writes } > writes)
        #expect(await founded.household.session?.secrets.epoch == 2)
        let record = try #require(await founded.keysRecord(2))
        #expect(record.revision == 1)
        #expect(record.author == (await phone.device))
        let vault = EpochKeys.vault(of: await phone.roster.household)
        let key = await phone.secrets.ring.key(.vault, vault: vault, epoch: 2)
        #expect(await world.sealed.vault.openKeys()?.ring.key(.vault, vault: vault, epoch: 2) == key && key != nil)
    }

    @Test func theComputerRevokesAPhone() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        try await founded.household.sendVaultKeys(right, user: alice.user)
        let second = try await founded.secondPhone()
        let lost = await second.device
        await eventually("the computer knows its name or id") {
            await founded.household.session?.roster.member(lost.item) != nil
        }
        let sentences = try await world.control.devices.revoke(
            String(lost.description.prefix(8)), passcode: right, user: alice.user)
        #expect(sentences.first?.contains("is revoked") == true, "\(sentences)")
        await #expect(throws: HubError.self) { try await second.sync() }
        // The passcode opened the vault's keys, so the computer made those of the household too.
        #expect(await founded.keysRecord(2)?.author == HubID(world.key.publicKey.id))
        try await phone.sync()
        #expect(await phone.report().epoch == 2)
        _ = try await phone.write(title: "Since", body: "")
        try await world.openVault()
        await eventually { try await world.notes() == ["Before", "Since"] }
        try await founded.expectNoViolation()
    }

    @Test func aPhoneThatTheComputerPairsAdministersAndReadsEverything() async throws {
        let founded = try await PhoneFounded.joined()
        let world = founded.world
        let pairing = try await founded.household.makePairing(address: nil)
        let link = try #require(pairing.link)
        #expect(try Invitation.reading(link: link).invitation.role == .administrator)
        let (hub, directory) = (founded.hub, founded.directory.path("third"))
        async let joining = Companion.join(
            link, name: "Third", directory: directory, pause: .milliseconds(5)
        ) { hub.connection($1) }
        await eventually { try await founded.household.pairing(pairing.id, waitingUpTo: 0).name == "Third" }
        let device = try await founded.household.confirmPairing(pairing.id, passcode: right, user: alice.user)
        #expect(device.role == .administrator)
        try await founded.hasSent()
        let third = try await joining
        await eventually {
            try await third.sync()
            return try await third.notes().map(\.title) == ["Before"]
        }
        try await founded.phone.sync()
        // It can admit and revoke now.
        try await third.revoke(await founded.phone.device)
        try await founded.follows()
        #expect(await third.report().epoch == 2)
        await #expect(throws: ControlError.self) {
            try await ConnectedWorld().household.makePairing(address: nil, role: .administrator)
        }
        #expect(try await world.sync.status().misbehaviour == [])
    }
}
