import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import SealedFormats
import SealedStore
import Sync
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A computer as a member of a vault that a phone of another household founded.
@Suite struct SharedVaultTests {
    // MARK: Joining

    @Test func aComputerJoinsAndExchangesMomentsWithAPhone() async throws {
        let computer = try await SharedVaultComputer()
        let founder = computer.founder
        let (invitation, link) = try await founder.invite()
        let waiting = try await computer.service.join(JoinHubRequest(link: link), peer: alice)
        #expect(waiting.state == .waiting && waiting.id == founder.id && waiting.vault == founder.vault.description)
        let request = try #require(try await founder.phone.hub.invitation(HubID(invitation.id)).join)
        let joining = try invitation.open([UInt8](request.sealed))
        #expect(waiting.words == invitation.words(signingKey: joining.signingKey, boxKey: joining.boxKey))
        #expect(try await computer.reports() == [waiting])
        #expect(await refusal { _ = try await computer.titles() } == .hub)

        #expect(try await founder.phone.admit(by: invitation) == "den")
        await eventually("the moment from before arrives") {
            _ = try await computer.reports()
            return try await computer.titles() == ["Before"]
        }
        await eventually("the members' names arrive") {
            try await computer.report().members == ["den", "Anna's phone"]
        }
        let report = try await computer.report()
        #expect(report.state == .member && report.name == SharedVaultFounder.vaultName && report.words == nil)
        #expect(report.hub == founder.url)
        try await computer.add("By the computer")
        await eventually("the phone has it") { try await founder.titles() == ["Before", "By the computer"] }
        try await founder.phone.writeMoment(title: "Later", words: "")
        await eventually("the computer has it") {
            try await computer.titles() == ["Before", "By the computer", "Later"]
        }
        // Apart from its own vault.
        let own = try await computer.world.sealed.own.moments.list(MomentFilter(), peer: alice)
        #expect(own.moments.isEmpty && own.unreadable == 0)
        #expect(await founder.phone.report().misbehaviour == [])
        #expect(try await computer.world.events(.hubMisbehaved).isEmpty)
        #expect(try await computer.world.events(.hubConnected).count == 1)
    }

    @Test(arguments: [true, false])
    func onlyTheOwnHouseholdRecognisesAComputer(isInHousehold: Bool) async throws {
        let computer = try await SharedVaultComputer.joined(isInHousehold: isInHousehold)
        let device = try await computer.device()
        let name = try await computer.founder.name(of: device)
        let owner = EpochKeys.owner(
            household: computer.founder.household, member: device, device: computer.world.key.publicKey.id)
        #expect(name.name == "den" && name.owner != nil)
        #expect((name.owner == HubID(owner)) == isInHousehold)
    }

    @Test func aRequestThatTheMemberRefusedEnds() async throws {
        let computer = try await SharedVaultComputer()
        let (invitation, link) = try await computer.founder.invite()
        _ = try await computer.service.join(JoinHubRequest(link: link), peer: alice)
        let device = HubID(try await computer.device())
        try await computer.founder.phone.hub.withdrawInvitation(HubID(invitation.id))
        computer.founder.hub.hub.state.withLock { $0.devices[device] = nil }
        #expect(await refusal { _ = try await computer.service.read(computer.founder.id, peer: alice) } == .hub)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
        // The invitation can't be used again.
        #expect(
            await refusal { _ = try await computer.service.join(JoinHubRequest(link: link), peer: alice) } == .hub)
        #expect(try await computer.reports().isEmpty)
    }

    @Test func aRequestThatIsNotConfirmedInTimeEnds() async throws {
        let computer = try await SharedVaultComputer()
        let (_, link) = try await computer.founder.invite()
        _ = try await computer.service.join(JoinHubRequest(link: link), peer: alice)
        // Each request uses the vault, which would be locked otherwise.
        for _ in 0..<4 {
            #expect(try await computer.service.read(computer.founder.id, peer: alice).state == .waiting)
            computer.world.time.advance(by: .seconds(239))
        }
        // A wall clock that is set wrongly ends nothing.
        computer.world.time.set(wall: computer.world.time.wallClock() + 1_000_000)
        #expect(try await computer.service.read(computer.founder.id, peer: alice).state == .waiting)
        computer.world.time.advance(by: .seconds(4))
        #expect(await refusal { _ = try await computer.service.read(computer.founder.id, peer: alice) } == .hub)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
    }

    @Test func aVaultIsJoinedOnce() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (_, link) = try await computer.founder.invite()
        let refused = await #expect(throws: ControlError.self) {
            _ = try await computer.service.join(JoinHubRequest(link: link), peer: alice)
        }
        #expect(refused?.message.hasPrefix("This computer is a member of this vault") == true)
        #expect(try await computer.reports().map(\.state) == [.member])
        #expect(try await computer.titles() == ["Before"])
    }

    private func founders(_ count: Int) async throws -> [SharedVaultFounder] {
        var founders: [SharedVaultFounder] = []
        for number in 1...count { founders.append(try await SharedVaultFounder(url: "https://vault\(number).test")) }
        return founders
    }

    @Test func aComputerIsInAtMostEightVaults() async throws {
        let founders = try await self.founders(9)
        let hubs = Dictionary(uniqueKeysWithValues: founders.map { ($0.url, $0.hub.hub) })
        let world = try await World(
            hasVault: true,
            hubAt: { settings, token in
                guard let hub = hubs[settings.url] else { throw HubUnreachable(.offline, "No hub.") }
                return hub.connection(token)
            })
        try await world.openVault()
        func join(_ founder: SharedVaultFounder) async throws {
            let (_, link) = try await founder.invite()
            _ = try await world.sealed.shared.join(JoinHubRequest(link: link), peer: alice)
        }
        for founder in founders.dropLast() { try await join(founder) }
        let refused = await #expect(throws: ControlError.self) { try await join(founders[8]) }
        #expect(refused?.message.hasPrefix("This computer is in 8 vaults") == true)
        // Another invitation replaces the one that it waits for.
        try await join(founders[0])
        let states = try await world.sealed.shared.list(peer: alice).vaults.map(\.state)
        #expect(states.count == 8 && states.allSatisfy { $0 == .waiting })
        try await world.sealed.shared.leave(founders[0].id, forgets: false, peer: alice)
        try await join(founders[8])
        #expect(try await world.sealed.shared.list(peer: alice).vaults.contains { $0.id == founders[8].id })
    }

    // MARK: Locking

    @Test func nothingOfASharedVaultIsReadableWhileTheOwnVaultIsLocked() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (service, id) = (computer.service, computer.founder.id)
        #expect(try await computer.report().name == SharedVaultFounder.vaultName)
        let entry = try #require(try await computer.entries().first)
        #expect(entry.stored.name == SharedVaultFounder.vaultName)
        let services = try await service.open(id, isChange: true, for: alice)
        let (_, link) = try await computer.founder.invite()
        #expect(await refusal { _ = try await service.list(peer: bob) } == .vaultLocked)

        await computer.world.sealed.vault.lock(user: alice.user, "The vault was locked.")
        await eventually("the keys are forgotten") { await !computer.holdsKeys() }
        #expect(await refusal { _ = try await service.list(peer: alice) } == .vaultLocked)
        #expect(await refusal { _ = try await service.read(id, peer: alice) } == .vaultLocked)
        #expect(
            await refusal { _ = try await service.join(JoinHubRequest(link: link), peer: alice) } == .vaultLocked)
        #expect(await refusal { try await service.leave(id, forgets: true, peer: alice) } == .vaultLocked)
        #expect(await refusal { _ = try await service.open(id, isChange: false, for: alice) } == .vaultLocked)
        #expect(
            await refusal { _ = try await services.moments.list(MomentFilter(), peer: alice) } == .vaultLocked)
        #expect(
            await refusal {
                _ = try await services.contents.read(ItemID.random().description, offset: 0, length: 1, peer: alice)
            } == .vaultLocked)

        let bytes = try #require(try await computer.world.database.document(StoredSharedVaults.documentName))
        let stored = try JSONDecoder().decode(StoredSharedVaults.self, from: Data(bytes))
        let keys = [entry.secrets.token, entry.secrets.signingKey.privateKey, entry.secrets.boxKey.privateKey]
        let names = [SharedVaultFounder.vaultName, entry.household.description, computer.founder.url]
        let secrets: [Data] =
            keys.map { $0.withUnsafeBytes { Data($0) } } + names.map { Data($0.utf8) } + [Data(entry.household.bytes)]
        for secret in secrets {
            for part in [Data(bytes), stored.list, stored.keys] { #expect(part.range(of: secret) == nil) }
        }
        // Opened again, it continues.
        try await computer.world.openVault()
        #expect(try await computer.titles() == ["Before"])
    }

    @Test func aMembershipContinuesAfterARestartWithoutTheHub() async throws {
        let before = try await SharedVaultComputer.joined()
        try await before.setUnreachable(true)
        let computer = try await before.restarted()
        #expect(try await computer.titles() == ["Before"])
        try await computer.add("Offline")
        #expect(try await computer.titles() == ["Before", "Offline"])
        await eventually("it waits") {
            let report = try await computer.report()
            return report.state == .member && !report.isConnected && report.waiting == 1 && report.problem != nil
        }
        #expect(try await computer.founder.titles() == ["Before"])
        try await computer.setUnreachable(false)
        try await computer.connects()
        await eventually("the phone has it") { try await computer.founder.titles() == ["Before", "Offline"] }
        await eventually("nothing waits") { try await computer.report().waiting == 0 }
    }

    // MARK: Members who leave

    @Test func whatWaitsIsSentOnlyUnderTheKeysFromAfterADeparture() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (founder, hub) = (computer.founder, computer.founder.hub)
        let ben = try await founder.member("Ben")
        let engine = try await computer.opened().engine
        try await computer.setUnreachable(true)
        await eventually("it is not connected") { await !engine.isConnected }
        try await computer.add("Between")
        try await founder.phone.revoke(HubID(ben.device), settles: false)
        let earlier = hub.written.count
        try await computer.setUnreachable(false)
        try await computer.connects()
        await eventually("it waits for the new keys") {
            let report = try await computer.report()
            return report.isConnected && report.problem != nil && report.waiting == 1
        }
        #expect(try await founder.titles() == ["Before"])

        try await founder.phone.settleKeys()
        await eventually("the phone has it") { try await founder.titles() == ["Before", "Between"] }
        let sent = hub.written.dropFirst(earlier)
        #expect(sent.contains { $0.collection == "moments" } && sent.allSatisfy { $0.epoch == 2 })
        #expect(try await computer.report().problem == nil)
        #expect(try await computer.titles() == ["Before", "Between"])
    }

    @Test func aComputerThatWasRemovedReadsWhatItHasAndAddsNothing() async throws {
        let computer = try await SharedVaultComputer.joined()
        let device = try await computer.device()
        try await computer.founder.phone.revoke(HubID(device))
        await eventually("the computer is removed") {
            computer.world.time.wakeNext(within: .seconds(60))
            return try await computer.report().state == .removed
        }
        await eventually("that is stored") {
            try await computer.entries().map(\.stored.state) == [.removed]
        }
        try await computer.founder.phone.writeMoment(title: "After", words: "")
        #expect(try await computer.titles() == ["Before"])
        #expect(await refusal { try await computer.add("By the computer") } == .hub)
        await eventually("it is logged") { try await computer.world.events(.hubDisconnected).count == 1 }

        let restarted = try await computer.restarted()
        let report = try await restarted.report()
        #expect(report.state == .removed && report.problem != nil && report.name == SharedVaultFounder.vaultName)
        #expect(try await restarted.titles() == ["Before"])
        #expect(await refusal { try await restarted.add("By the computer") } == .hub)
    }

    /// Its copy would be gone before a member has confirmed.
    @Test func aComputerThatWasRemovedJoinsAgainOnceItsCopyIsRemoved() async throws {
        let computer = try await SharedVaultComputer.joined()
        let device = try await computer.device()
        let folders = computer.folders
        try await computer.founder.phone.revoke(HubID(device))
        await eventually("that is stored") {
            computer.world.time.wakeNext(within: .seconds(60))
            _ = try await computer.reports()
            return try await computer.entries().map(\.stored.state) == [.removed]
        }
        let (_, link) = try await computer.founder.invite()
        #expect(
            await refusal { _ = try await computer.service.join(JoinHubRequest(link: link), peer: alice) } == .hub)
        #expect(try await computer.titles() == ["Before"])
        try await computer.service.leave(computer.founder.id, forgets: false, peer: alice)
        try await computer.join()
        #expect(try await computer.reports().map(\.state) == [.member])
        #expect(try await computer.device() != device)
        #expect(computer.folders.count == 1 && computer.folders != folders)
    }

    // MARK: Leaving

    @Test func aComputerThatLeavesIsNoMemberAndKeepsNothing() async throws {
        let computer = try await SharedVaultComputer.joined()
        let device = try await computer.device()
        #expect(computer.folders.count == 1)
        try await computer.service.leave(SharedVaultFounder.vaultName, forgets: false, peer: alice)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
        #expect(await computer.service.vaults.isEmpty)
        #expect(await refusal { _ = try await computer.titles() } == .noSuchItem)
        try await computer.founder.phone.sync()
        #expect(await computer.founder.phone.roster.revoked == [device])
        #expect(try await computer.world.events(.hubDisconnected).count == 1, "nobody else removed it")
    }

    @Test func aVaultWhoseCopyIsLostIsReportedAndCanBeLeft() async throws {
        let before = try await SharedVaultComputer.joined()
        #expect(try await before.report().name == SharedVaultFounder.vaultName)
        for folder in before.folders {
            try FileManager.default.removeItem(atPath: before.world.directory.path("vaults/\(folder)"))
        }
        let computer = try await before.restarted()
        let report = try await computer.report()
        #expect(report.name == SharedVaultFounder.vaultName && report.problem?.contains("is lost") == true)
        #expect(await refusal { _ = try await computer.titles() } == .failed)
        #expect(await refusal { try await computer.service.leave(report.id, forgets: false, peer: alice) } == .failed)
        #expect(await computer.service.vaults.count == 1, "each attempt uses the same replica")
        try await computer.service.leave(report.id, forgets: true, peer: alice)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
    }

    /// What arrives as the vault is locked is read again afterwards, not skipped.
    @Test func whatArrivesWhileTheVaultIsLockedIsReadOnceItIsOpen() async throws {
        let computer = try await SharedVaultComputer.joined()
        let member = try await computer.opened().member
        // The keys are forgotten first, and the connection ends a moment later.
        await member.forget()
        try await computer.founder.phone.writeMoment(title: "Meanwhile", words: "")
        await computer.world.sealed.vault.lock(user: alice.user, "The vault was locked.")
        let engine = try #require(await computer.service.vaults.values.first).engine
        await eventually("the connection ends") { await !engine.isConnected }
        try await computer.world.openVault()
        await eventually("it is here") { try await computer.titles() == ["Before", "Meanwhile"] }
    }

    @Test func leavingWithoutTheHubChangesNothingUnlessTheVaultIsForgotten() async throws {
        let computer = try await SharedVaultComputer.joined()
        let (service, id, device) = (computer.service, computer.founder.id, try await computer.device())
        try await computer.setUnreachable(true)
        #expect(await refusal { try await service.leave(id, forgets: false, peer: alice) } == .hub)
        #expect(try await computer.reports().map(\.state) == [.member])
        #expect(try await computer.titles() == ["Before"])
        try await service.leave(id, forgets: true, peer: alice)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
        try await computer.founder.phone.sync()
        #expect(await computer.founder.phone.roster.member(device) != nil)
    }

    @Test func theLastMemberRemovesTheVaultAtTheHub() async throws {
        let computer = try await SharedVaultComputer.joined()
        let hub = computer.founder.hub.hub
        let phone = computer.founder.phone
        let device = await phone.device
        try await phone.revoke(device, settles: false)
        #expect(hub.state.withLock { $0.household } == HubID(computer.founder.household))
        try await computer.service.leave(computer.founder.id, forgets: false, peer: alice)
        #expect(hub.state.withLock { $0.household } == nil)
        #expect(try await computer.reports().isEmpty && computer.folders.isEmpty)
    }

    @Test func erasingEverythingRemovesSharedVaults() async throws {
        let computer = try await SharedVaultComputer.joined()
        #expect(computer.folders.count == 1)
        let body = ResetRequest(passcode: "right", confirmation: ResetRequest.confirmationText)
        _ = try await computer.world.control.respond(
            to: ControlRequest(route: .reset, peer: alice, body: [UInt8](JSONEncoder().encode(body))))
        #expect(computer.folders.isEmpty)
    }
}
