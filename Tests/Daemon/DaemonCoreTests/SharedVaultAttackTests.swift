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
@testable import Sync

/// A malicious hub, and members of a shared vault who don't follow its rules.
@Suite struct SharedVaultAttackTests {
    private func isReported(_ computer: SharedVaultComputer) async {
        await eventually("it is reported") { try await computer.world.events(.hubMisbehaved).count == 1 }
    }

    // MARK: Keys

    /// A member who makes keys ahead would know what is written after its removal.
    @Test(arguments: [(UInt32(2), UInt64(1)), (1, 99)])
    func keysMadeAheadAndOtherKeysOfAKnownEpochAreRefused(epoch: UInt32, revision: UInt64) async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        let ben = try await founder.member("Ben")
        let forged = KeyRing([
            .init(kind: .vault, vault: founder.vault, epoch: epoch, key: .random(count: 32)),
            .init(kind: .status, vault: founder.household, epoch: epoch, key: .random(count: 32)),
        ])
        let name = RecordName(
            vault: founder.household, collection: .keys,
            id: EpochKeys.recordID(household: founder.household, epoch: epoch), revision: revision)
        let sealed = try EpochKeys.seal(forged, as: name, to: await founder.phone.roster.members)
        let (member, engine) = (try await computer.opened().member, try await computer.opened().engine)
        founder.serve(ben.sign(name, epoch: epoch, sealed: sealed))
        await eventually("the record is refused") { await engine.state.refused == 1 }
        await isReported(computer)
        let ring = try await member.openKeys().ring
        let real = await founder.phone.secrets.ring.key(.vault, vault: founder.vault, epoch: 1)
        #expect(ring.current(.vault, vault: founder.vault)?.epoch == 1)
        #expect(real != nil && ring.key(.vault, vault: founder.vault, epoch: 1) == real)

        try await computer.add("By the computer")
        await eventually("the phone opens it") { try await founder.titles() == ["Before", "By the computer"] }
        #expect(founder.hub.hub.records(in: "moments").allSatisfy { $0.epoch == 1 })
    }

    /// A member could take all keys from a computer otherwise: it opens those of the stored record after each unlocking.
    @Test(arguments: [true, false])
    func aRecordWithoutKeysThatAComputerHasDoesNotReplaceTheOneWithThem(isTombstone: Bool) async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        let ben = try await founder.member("Ben")
        try await founder.phone.revoke(HubID(ben.device))
        try await founder.phone.writeMoment(title: "After", words: "")
        await eventually("the new keys arrive") { try await computer.titles() == ["After", "Before"] }
        let (roster, secrets) = (await founder.phone.roster, await founder.phone.secrets)
        let id = EpochKeys.recordID(household: founder.household, epoch: 2)
        let known = try #require(founder.hub.hub.records(in: "keys").first { $0.id == HubID(id) })
        let name = RecordName(
            vault: founder.household, collection: .keys, id: id, revision: known.revision + 1)
        let newest = KeyRing(secrets.ring.entries.filter { $0.kind != .device && $0.epoch == 2 })
        let sealed = isTombstone ? nil : try EpochKeys.seal(newest, as: name, to: roster.members)
        let engine = try await computer.opened().engine
        founder.serve(secrets.sign(name, epoch: 2, sealed: sealed))
        await eventually("the record is refused") { await engine.state.refused == 1 }

        await computer.world.sealed.vault.lock(user: alice.user, "The vault was locked.")
        await eventually("the keys are forgotten") { await !computer.holdsKeys() }
        try await computer.world.openVault()
        #expect(try await computer.titles() == ["After", "Before"])
        try await computer.add("By the computer")
    }

    // MARK: Records

    @Test func recordsOfAnotherVaultAndOfAHouseholdAreNotKept() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (founder, secrets) = (computer.founder, await computer.founder.phone.secrets)
        let (store, engine) = (try await computer.opened().member.store, try await computer.opened().engine)
        let other = RecordName(vault: .random(), collection: .moments, id: .random(), revision: 1)
        founder.serve(secrets.sign(other, epoch: 1, sealed: [UInt8](repeating: 7, count: 64)))
        let own: [RecordCollection] = [.status, .apps, .icons]
        let others: [RecordCollection] = [.events, .requests, .commands]
        for collection in own { founder.serve(try secrets.seal("x", collection, secrets.device, revision: 1)) }
        for collection in others {
            founder.serve(try secrets.seal("x", collection, .random(), revision: collection == .commands ? 2 : 1))
        }
        try await founder.phone.writeMoment(title: "After", words: "")
        await eventually("what was sent afterwards arrives") { try await computer.titles() == ["After", "Before"] }
        #expect(await engine.state.refused == 0)
        #expect(try await store.record(.moments, other.id) == nil)
        for collection in own + others { #expect(try await store.householdRecords(in: collection).isEmpty) }
    }

    @Test func aRecordOfAStrangerIsRefused() async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        let (store, engine) = (try await computer.opened().member.store, try await computer.opened().engine)
        let stranger = HouseholdSecrets(
            household: founder.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        let name = RecordName(vault: founder.vault, collection: .moments, id: .random(), revision: 1)
        founder.serve(stranger.sign(name, epoch: 1, sealed: [UInt8](repeating: 7, count: 64)))
        await eventually("the record is refused") { await engine.state.refused == 1 }
        await isReported(computer)
        #expect(try await store.record(.moments, name.id) == nil)
        #expect(try await computer.titles() == ["Before"])
    }

    @Test func aFormerMembersRecordIsKeptOnlyUnderKeysThatItHad() async throws {
        let computer = try await SharedVaultComputer.joined()
        let founder = computer.founder
        let store = try await computer.opened().member.store
        let ben = try await founder.member("Ben")
        try await founder.phone.revoke(HubID(ben.device))
        let ids = [UInt32(1): ItemID.random(), 2: .random()]
        for (epoch, id) in ids {
            let name = RecordName(vault: founder.vault, collection: .moments, id: id, revision: 1)
            founder.serve(ben.sign(name, epoch: epoch, sealed: [UInt8](repeating: 7, count: 64)))
        }
        try await founder.phone.writeMoment(title: "After", words: "")
        await eventually("what was sent afterwards arrives") { try await computer.titles() == ["After", "Before"] }
        for (epoch, id) in ids {
            let isKept = try await store.record(.moments, id) != nil
            #expect(isKept == (epoch == 1), "epoch \(epoch)")
        }
    }

    // MARK: Joining

    enum ServedMembers: CaseIterable {
        case older, ofAnotherHousehold, withoutTheInviter, withAnotherKey
    }

    @Test(arguments: ServedMembers.allCases)
    func aComputerDoesNotJoinByAnInvalidListOfMembers(served: ServedMembers) async throws {
        let computer = try await SharedVaultComputer()
        let (founder, service) = (computer.founder, computer.service)
        let ben = try await founder.member("Ben")
        let (invitation, link) = try await founder.invite()
        _ = try await service.join(JoinHubRequest(link: link), peer: alice)
        let joining = try #require(try await computer.entries().first).secrets
        let (before, phone) = (await founder.phone.roster, await founder.phone.secrets)
        #expect(try await founder.phone.admit(by: invitation) == "den")
        let now = await founder.phone.roster
        let otherKey = BoxKeyPair().publicKey
        let entries: [[UInt8]] =
            switch served {
            case .older: before.entries
            case .ofAnotherHousehold: Roster(founder: DeviceSigningKey(), boxKey: otherKey, at: 1).entries
            case .withoutTheInviter: now.entries + [now.revoking(phone.device, by: ben.signingKey, at: 1)]
            case .withAnotherKey:
                before.entries + [
                    before.admitting(
                        RosterMember(role: .computer, signingKey: joining.signingKey.publicKey, boxKey: otherKey),
                        by: phone.signingKey, at: 1)
                ]
            }
        let page = try JSONEncoder().encode(RosterPage(entries: entries.map { Data($0) }))
        founder.hub.prepare(.init(route: .roster) { _, _ in page }, for: HubID(joining.device))
        #expect(await refusal { _ = try await service.read(founder.id, peer: alice) } == .hub)
        #expect(!founder.hub.isPrepared(for: HubID(joining.device)))
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
        // A member may remove the one that invited.
        let reports = try await computer.world.events(.hubMisbehaved).count
        #expect(reports == (served == .withoutTheInviter ? 0 : 1))
    }

    @Test func aComputerDoesNotJoinWithKeysOfAStranger() async throws {
        let computer = try await SharedVaultComputer()
        let (founder, service) = (computer.founder, computer.service)
        let (invitation, link) = try await founder.invite()
        _ = try await service.join(JoinHubRequest(link: link), peer: alice)
        #expect(try await founder.phone.admit(by: invitation) == "den")
        let id = EpochKeys.recordID(household: founder.household, epoch: 1)
        let real = try #require(founder.hub.hub.records(in: "keys").first { $0.id == HubID(id) })
        let stranger = HouseholdSecrets(
            household: founder.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        let name = RecordName(vault: founder.household, collection: .keys, id: id, revision: real.revision)
        founder.serve(stranger.sign(name, epoch: 1, sealed: real.sealed.map { [UInt8]($0) }))
        #expect(await refusal { _ = try await service.read(founder.id, peer: alice) } == .hub)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
        await isReported(computer)
    }

    // MARK: The list of members

    @Test func anEntryThatTheHubLostIsSentAgain() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (founder, hub) = (computer.founder, computer.founder.hub.hub)
        let member = try await computer.opened().member
        let ben = try await founder.member("Ben").device
        await eventually("the computer has read it") { await member.session?.roster.member(ben) != nil }
        let count = hub.state.withLock { $0.roster.count }
        hub.state.withLock { _ = $0.roster.removeLast() }
        hub.stream(.roster(number: UInt64(count)))
        await eventually("the hub has it again") { hub.state.withLock { $0.roster.count } == count }
        #expect(await member.session?.roster.member(ben) != nil)
        #expect(try await computer.world.events(.hubMisbehaved).isEmpty)
    }

    @Test func anotherListOfMembersIsRefused() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (founder, hub) = (computer.founder, computer.founder.hub.hub)
        let member = try await computer.opened().member
        let (before, key) = (await founder.phone.roster, await founder.phone.secrets.signingKey)
        let ben = try await founder.member("Ben").device
        await eventually("the computer has read it") { await member.session?.roster.member(ben) != nil }
        let carl = RosterMember(
            role: .computer, signingKey: DeviceSigningKey().publicKey, boxKey: BoxKeyPair().publicKey)
        let entry = Data(before.admitting(carl, by: key, at: 1))
        hub.state.withLock { state in
            state.roster.removeLast()
            state.roster.append(entry)
        }
        hub.stream(.roster(number: before.head.number + 1))
        await isReported(computer)
        let roster = try #require(await member.session?.roster)
        #expect(roster.member(ben) != nil && roster.member(carl.id) == nil)
        #expect(try await computer.titles() == ["Before"])
    }
}
