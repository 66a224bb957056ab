import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore
@testable import Sync

/// Members, and sessions of a decoy PIN, that try to know what is written in a household that a phone founded.
@Suite struct PhoneFoundedAttackTests {
    /// A member who makes keys ahead would know what is written after its removal.
    @Test func keysOfALaterEpochAndOfANonMemberAreRefused() async throws {
        let founded = try await PhoneFounded.joined()
        let (phone, world) = (founded.phone, founded.world)
        try await world.openVault()
        let (roster, secrets) = (await phone.roster, await phone.secrets)
        let household = roster.household
        func record(_ epoch: UInt32, by author: HouseholdSecrets, revision: UInt64 = 1) throws -> HubRecord {
            let name = RecordName(
                vault: household, collection: .keys, id: EpochKeys.recordID(household: household, epoch: epoch),
                revision: revision)
            let ring = KeyRing([
                .init(kind: .vault, vault: EpochKeys.vault(of: household), epoch: epoch, key: .random(count: 32)),
                .init(kind: .status, vault: household, epoch: epoch, key: .random(count: 32)),
            ])
            return author.sign(name, epoch: epoch, sealed: try EpochKeys.seal(ring, as: name, to: roster.members))
        }
        for ahead in [UInt32(2), 3] {
            let checked = try RecordCheck(roster).check(try record(ahead, by: secrets), known: 0)
            await #expect(throws: RecordRefusal.unreadable) { try await founded.household.ingestEpochKeys(checked) }
        }
        // Other keys under a known epoch.
        let replaced = try RecordCheck(roster).check(try record(1, by: secrets, revision: 9), known: 0)
        await #expect(throws: RecordRefusal.unreadable) { try await founded.household.ingestEpochKeys(replaced) }
        #expect(await founded.household.session?.secrets.epoch == 1)
        // A device that has keys always has a box.
        let name = RecordName(
            vault: household, collection: .keys, id: EpochKeys.recordID(household: household, epoch: 1), revision: 9)
        let without = secrets.sign(
            name, epoch: 1, sealed: try EpochKeys.seal(secrets.ring, as: name, to: [roster.members[0]]))
        await #expect(throws: RecordRefusal.unreadable) {
            try await founded.household.ingestEpochKeys(try RecordCheck(roster).check(without, known: 0))
        }
        // As the phone reports it: made by a device that was revoked since.
        let second = try await founded.secondPhone()
        let theirs = try record(2, by: await second.secrets)
        let longer = await founded.household.session?.roster
        let accepted = try RecordCheck(try #require(longer)).check(theirs, known: 0)
        try await phone.revoke(await second.device, settles: false)
        await #expect(throws: RecordRefusal.unknownAuthor) {
            try await founded.household.ingestEpochKeys(accepted)
        }
    }

    /// Read past, they would be missing until the vault is opened.
    @Test func keysThatCannotBeCheckedWithoutTheHubAreReadAgain() async throws {
        let founded = try await PhoneFounded.joined()
        let (roster, secrets) = (await founded.phone.roster, await founded.phone.secrets)
        let name = RecordName(
            vault: roster.household, collection: .keys, id: EpochKeys.recordID(household: roster.household, epoch: 2),
            revision: 1)
        let record = secrets.sign(
            name, epoch: 2, sealed: try EpochKeys.seal(secrets.ring, as: name, to: roster.members))
        founded.hub.setDown(true)
        await #expect(throws: HubUnreachable.self) { try await founded.world.sync.engine.receive([record]) }
        #expect(try await founded.world.sync.status().refused == 0)
    }

    /// Such a session has the status keys and signs as the phone.
    @Test func keysThatADecoySessionMadeAreRefused() async throws {
        let founded = try await PhoneFounded.joined()
        let second = try await founded.secondPhone()
        try await founded.phone.revoke(await second.device, settles: false)
        try await founded.follows()
        let (roster, secrets) = (await founded.phone.roster, await founded.phone.secrets)
        let household = roster.household
        let vault = EpochKeys.vault(of: household)
        let name = RecordName(
            vault: household, collection: .keys, id: EpochKeys.recordID(household: household, epoch: 2), revision: 1)
        func record(_ earlier: [KeyRing.Entry]) throws -> CheckedRecord {
            let ring = KeyRing(
                earlier + secrets.ring.entries.filter { $0.kind == .status } + [
                    .init(kind: .vault, vault: vault, epoch: 2, key: .random(count: 32)),
                    .init(kind: .status, vault: household, epoch: 2, key: .random(count: 32)),
                ])
            let sealed = try EpochKeys.seal(ring, as: name, to: roster.members)
            return try RecordCheck(roster).check(secrets.sign(name, epoch: 2, sealed: sealed), known: 0)
        }
        let other = KeyRing.Entry(kind: .vault, vault: vault, epoch: 1, key: .random(count: 32))
        for entries in [[], [other]] {
            let decoy = try record(entries)
            await #expect(throws: RecordRefusal.unreadable) { try await founded.household.ingestEpochKeys(decoy) }
        }
        #expect(await founded.household.session?.secrets.epoch == 1)
        try await founded.household.ingestEpochKeys(try record(secrets.ring.entries.filter { $0.kind == .vault }))
        #expect(await founded.household.session?.secrets.epoch == 2)
    }

    @Test func theComputerSendsNoKeysToADeviceThatASessionWithoutKeysAdmitted() async throws {
        let founded = try await PhoneFounded.joined()
        let second = try await founded.secondPhone()
        let third = try await founded.admittedWithoutKeys()
        try await founded.world.openVault()
        try await founded.phone.revoke(await second.device, settles: false)
        try await founded.follows()
        await eventually("the computer has made the keys") { await founded.keysRecord(2) != nil }
        let boxes = try EpochKeys.boxes([UInt8](try #require(await founded.keysRecord(2)?.sealed)))
        let own = founded.world.key.publicKey.id
        #expect(Set(boxes.keys) == [own, await founded.phone.device.item] && boxes[third] == nil)
    }

    @Test func aComputerDoesNotJoinWithKeysOfAStranger() async throws {
        let founded = try await PhoneFounded()
        let (invitation, link) = try await founded.phone.invite(.computer)
        _ = try await founded.household.join(link, HubSettings(url: ""))
        // Before the phone sends the real ones, the hub replaces the record of keys.
        let roster = await founded.phone.roster
        let stranger = HouseholdSecrets(
            household: roster.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: .random(count: 32), ring: KeyRing([]))
        _ = try await founded.phone.admit(by: invitation)
        let id = HubID(EpochKeys.recordID(household: roster.household, epoch: 1))
        founded.hub.state.withLock { state in
            guard let index = state.records.firstIndex(where: { $0.id == id }) else { return }
            let real = state.records[index]
            let name = RecordName(
                vault: roster.household, collection: .keys, id: real.id.item, revision: real.revision)
            var forged = stranger.sign(name, epoch: 1, sealed: real.sealed.map { [UInt8]($0) })
            forged.sequence = real.sequence
            state.records[index] = forged
        }
        await eventually("joining ends") {
            founded.world.time.advance(by: .seconds(1))
            return await founded.household.joiningOutcome != nil
        }
        let outcome = try await founded.household.joiningReport(waitingUpTo: 0)
        #expect(outcome.state == .failed && outcome.sentence.contains("can't be trusted"), "\(outcome)")
        #expect(await founded.household.session == nil)
    }
}
