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

/// Anna's phone, which founded a shared vault with one moment, and the hub.
struct SharedVaultFounder {
    static let vaultName = "Our garden"

    let hub = MisbehavingHub()
    let url: String
    let phone: Companion
    let household: ItemID
    private let directory: TemporaryDirectory

    var vault: ItemID { EpochKeys.vault(of: household) }
    /// As the control socket names the vault.
    var id: String { household.description }

    init(url: String = "https://vault.test") async throws {
        let (hub, directory) = (hub, try TemporaryDirectory())
        let phone = try await Companion.found(
            at: .init(url: url), role: .computer, name: "Anna's phone", directory: directory.path("phone")
        ) { hub.hub.connection($1) }
        (self.url, self.phone, self.directory) = (url, phone, directory)
        household = await phone.roster.household
        let about = try JSONEncoder().encode(["name": Self.vaultName])
        try await phone.write(about, as: .about, id: EpochKeys.vault(of: household))
        try await phone.writeMoment(title: "Before", words: "")
    }

    func invite() async throws -> (invitation: Invitation, link: String) { try await phone.inviteToVault() }

    /// Another member, which does not run.
    func member(_ name: String) async throws -> HouseholdSecrets {
        let (invitation, _) = try await phone.invite(.computer)
        let secrets = HouseholdSecrets(
            household: household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: .random(count: HouseholdSecrets.tokenLength), ring: KeyRing([]))
        try await hub.hub.connection(secrets.token).join(
            HubID(invitation.id), secrets.joinRequest(to: invitation, as: .computer, name: name))
        #expect(try await phone.admit(by: invitation) == name)
        return secrets
    }

    // MARK: What the phone reads

    /// Of the moments at the hub that the phone accepts and opens.
    func titles() async throws -> [String] { try await moments().map { $0.body.title }.sorted() }

    private func moments() async throws -> [(name: RecordName, body: MomentBody)] {
        try await phone.sync()
        let (roster, ring) = (await phone.roster, await phone.secrets.ring)
        return hub.hub.records(in: "moments").compactMap { record -> (name: RecordName, body: MomentBody)? in
            guard let checked = try? RecordCheck(roster).check(record, known: 0), let sealed = checked.sealed,
                let envelope = try? RecordEnvelope(bytes: sealed),
                let key = ring.key(.vault, vault: checked.name.vault, epoch: envelope.wrapEpoch),
                let bytes = try? envelope.open(as: checked.name, vaultKey: key),
                let body = try? MomentBody(bytes: bytes)
            else { return nil }
            return (checked.name, body)
        }
    }

    /// The phone changes the title of a moment.
    func rename(_ title: String, to newTitle: String) async throws {
        let moments = try await self.moments()
        var (name, body) = try #require(moments.first { $0.body.title == title })
        body.title = newTitle
        name.revision += 1
        try await phone.write(try body.bytes(), as: .moments, id: name.id, revision: name.revision)
    }

    func names() async throws -> [String] {
        try await phone.sync()
        return await phone.report().devices.values.sorted()
    }

    func name(of member: ItemID) async throws -> DeviceName {
        try await phone.sync()
        let record = try #require(hub.hub.records(in: "devices").first { $0.id == HubID(member) })
        let checked = try RecordCheck(await phone.roster).check(record, known: 0)
        return try await phone.secrets.open(checked, as: DeviceName.self)
    }

    // MARK: What was pushed

    var pushes: [PushMessageRequest] { hub.hub.state.withLock { $0.pushes } }

    func notices() throws -> [RecordNotice] {
        try pushes.map { try JSONDecoder().decode(RecordNotice.self, from: $0.payload) }
    }

    /// Who signed a notice of what the hub has.
    func author(of notice: RecordNotice) async throws -> ItemID {
        let stored = try #require(hub.hub.records(in: notice.collection).first { $0.id == notice.id })
        let sealed = try #require(stored.sealed)
        var hash = ContentHash()
        hash.update([UInt8](sealed))
        #expect(notice.digest == hash.finished)
        let record = HubRecord(
            collection: notice.collection, id: notice.id, vault: notice.vault, revision: notice.revision,
            epoch: notice.epoch, author: notice.author, sealed: sealed, blobs: notice.blobs,
            signature: notice.signature)
        return try RecordCheck(await phone.roster).check(record, known: 0).author.id
    }

    // MARK: What the hub does

    /// Returns a record that no member sent it.
    func serve(_ record: HubRecord) {
        let served = hub.hub.state.withLock { state -> HubRecord in
            state.sequence += 1
            var numbered = record
            numbered.sequence = state.sequence
            state.records.removeAll { $0.collection == record.collection && $0.id == record.id }
            state.records.append(numbered)
            return numbered
        }
        hub.hub.stream(.record(served))
    }
}

/// A computer with an open vault of its own that can join a founder's vault.
struct SharedVaultComputer {
    let founder: SharedVaultFounder
    let world: World
    private let ownHub: MemoryHub
    private let passing: PassingTime

    var service: SharedVaultService { world.sealed.shared }

    /// - Parameter isInHousehold: whether it is in a household of its own, at another hub.
    init(isInHousehold: Bool = false) async throws {
        try await self.init(founder: SharedVaultFounder(), ownHub: MemoryHub(), after: nil)
        if isInHousehold {
            try await world.household.connect(
                HubSettings(url: "https://own.test"), registrationToken: nil, user: alice.user)
        }
    }

    private init(founder: SharedVaultFounder, ownHub: MemoryHub, after: World?) async throws {
        let (url, hub, process) = (founder.url, founder.hub, MisbehavingHub.Process())
        let world = try await World(
            hasVault: true,
            hubAt: { $0.url == url ? hub.connection($1, of: process) : ownHub.connection($1) }, name: "den",
            after: after)
        (self.founder, self.world, self.ownHub, passing) = (founder, world, ownHub, PassingTime(world.time))
        try await world.openVault()
        await world.sealed.shared.vaultOpened()
    }

    static func joined(isInHousehold: Bool = false) async throws -> SharedVaultComputer {
        let computer = try await SharedVaultComputer(isInHousehold: isInHousehold)
        try await computer.join()
        return computer
    }

    /// Returns once both have what the other one wrote.
    func join() async throws {
        let (invitation, link) = try await founder.invite()
        _ = try await service.join(JoinHubRequest(link: link), peer: alice)
        #expect(try await founder.phone.admit(by: invitation) == "den")
        let isMember = await eventually("the computer is a member") {
            try await service.read(founder.id, peer: alice).state == .member
        }
        try #require(isMember)
        let hasExchanged = await eventually("the names and the moment arrive") {
            guard try await founder.names().contains("den") else { return false }
            guard try await titles() == ["Before"] else { return false }
            return try await report().waiting == 0
        }
        try #require(hasExchanged)
    }

    /// Stops the daemon, starts it again, and opens its vault.
    func restarted() async throws -> SharedVaultComputer {
        await world.ended()
        return try await SharedVaultComputer(founder: founder, ownHub: ownHub, after: world)
    }

    // MARK: The hub

    /// Of the computer as a member.
    func device() async throws -> ItemID { try #require(try await entries().first).device }

    func entries() async throws -> [SharedVaultEntry] {
        try await service.entries(with: world.sealed.vault.keys(for: alice))
    }

    /// Whether keys of the vault are in memory.
    func holdsKeys() async -> Bool {
        for vault in await service.vaults.values where await vault.member.isOpen { return true }
        return false
    }

    func setUnreachable(_ isUnreachable: Bool) async throws {
        founder.hub.hub.setUnreachable(HubID(try await device()), isUnreachable)
    }

    /// Passes the time until the computer has connected again.
    func connects() async throws {
        let isConnected = await eventually("the computer is connected") {
            world.time.wakeNext(within: .seconds(60))
            return try await report().isConnected
        }
        try #require(isConnected)
    }

    // MARK: The vault

    func opened() async throws -> SharedVaultService.SharedVault {
        try #require(await service.vaults[try await device()])
    }

    func reports() async throws -> [SharedVaultReport] { try await service.list(peer: alice).vaults }

    func report() async throws -> SharedVaultReport { try #require(try await reports().first) }

    func titles() async throws -> [String] {
        let services = try await service.open(founder.id, isChange: false, for: alice)
        return try await services.moments.list(MomentFilter(), peer: alice).moments.map(\.title).sorted()
    }

    /// - Returns: its id.
    @discardableResult
    func add(_ title: String) async throws -> HubID {
        let services = try await service.open(founder.id, isChange: true, for: alice)
        let moment = NewMoment(
            id: ItemID.random().description, title: title, words: "", date: 1_715_961_600, offset: 120, mood: "",
            place: nil, favourite: false, photos: [])
        let report = try await services.moments.add(moment, peer: alice)
        return try #require(HubID(report.id))
    }

    func change(_ title: String, favourite: Bool? = nil, removed: Bool? = nil) async throws {
        let services = try await service.open(founder.id, isChange: true, for: alice)
        let change = ChangeMomentRequest(favourite: favourite, removed: removed)
        _ = try await services.moments.change(title, change, peer: alice)
    }

    /// The folders with what is stored of shared vaults.
    var folders: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: world.directory.path("vaults"))) ?? []
    }
}

/// Passes the time while a request waits for the hub, which it does in steps of 20 ms.
private final class PassingTime: Sendable {
    private let task: Task<Void, Never>

    init(_ time: TestTime) {
        task = Task {
            while !Task.isCancelled {
                time.wakeNext(within: .milliseconds(20))
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    deinit { task.cancel() }
}
