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

/// Computers with real services and databases, phones, and a hub that may lie, beside the model of what they wrote.
actor HouseholdUnderTest {
    struct Computer {
        var world: World
        var process: LyingHub.Process
        var screen = NoteScreen()
        var isAway = false
        var id: HubID { HubID(world.key.publicKey.id) }
        var devices: HouseholdServices { world.control.devices }
        var household: HouseholdService { world.household }
        var sync: SyncService { world.sync }
    }

    struct Phone {
        let companion: Companion
        let id: HubID
        let name: String
        /// What it shows.
        var notes: [Companion.Note] = []
        var screen = NoteScreen()
        var isAway = false
        /// A computer has decided that it goes; the hub may not know it yet.
        var isRevoked = false
        /// The hub refuses it.
        var isOut = false
    }

    enum Device {
        case computer(Int)
        case phone(Int)
    }

    /// What must not happen did.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    let lying = LyingHub()
    var hub: MemoryHub { lying.hub }
    var computers: [Computer] = []
    var phones: [Phone] = []
    var model = HouseholdModel()
    /// The longest list of devices that each device has shown.
    var rosters: [HubID: Roster] = [:]
    /// How many of the written records were tried with the keys of removed phones.
    var tried = 0
    /// Of moments at which all devices had the same. None is from before the last pairing: the hub would have no token of that phone.
    var backups: [MemoryHub.State] = []
    private var pairings = 0

    private static let keys = (DeviceSigningKey(), DeviceSigningKey())
    private static let vaults = (World.newVault(), World.newVault())
    /// As the computers' clocks.
    private static let clock: @Sendable () -> UInt64 = { 1_800_000_000_000 }
    static let passcode = "right"

    /// - Parameter count: of computers, 1 or 2. Each has a vault of its own.
    init(computers count: Int) async throws {
        let (lying, first) = (lying, LyingHub.Process())
        let den = try await World(
            listed: [], hasVault: true, vault: Self.vaults.0, hub: { lying.connection($0, of: first) },
            key: Self.keys.0, name: "den")
        try await den.household.connect(HubSettings(url: "https://hub.test"), registrationToken: nil, user: alice.user)
        computers = [Computer(world: den, process: first)]
        try await connect(0)
        if count > 1 { try await join() }
        for index in computers.indices { try await openVault(index) }
    }

    private func join() async throws {
        let (lying, process) = (lying, LyingHub.Process())
        let attic = try await World(
            listed: [], hasVault: true, vault: Self.vaults.1, hub: { lying.connection($0, of: process) },
            key: Self.keys.1, name: "attic")
        let den = computers[0]
        let pairing = try await den.household.makePairing(address: nil, role: .computer)
        _ = try await attic.household.join(try #require(pairing.link), HubSettings(url: ""))
        try await until("the attic asks") {
            try await den.household.pairing(pairing.id, waitingUpTo: 0).name == "attic"
        }
        _ = try await den.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: Self.passcode), user: alice.user)
        computers.append(Computer(world: attic, process: process))
        try await connect(1)
        try await attic.household.sendVaultKeys(SecretBytes(utf8: Self.passcode), user: alice.user)
    }

    // MARK: Waiting

    /// - Throws: `Violation` where it does not come to be.
    func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        var problem = ""
        while true {
            let isLast = ContinuousClock.now >= end
            do {
                if try await condition() { return }
            } catch {
                problem = " (\(error))"
            }
            if isLast {
                throw Violation(description: "It never came to be that \(what)\(problem).\n\(await state())")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Of all devices, for who reads of a failure.
    func state() async -> String {
        var lines = ["The hub's list has \(hub.backup().roster.count) entries."]
        for computer in computers {
            let (household, status) = (computer.household, try? await computer.sync.status())
            let session = await household.session
            lines.append(
                """
                \(computer.world.name): answered \(await household.answered) of \(session?.roster.head.number ?? 0) entries, \
                status key \(session?.secrets.epoch ?? 0), \(status.map { "\($0)" } ?? "no status"), \
                shows \((try? await computer.world.notes()) ?? [])
                """)
        }
        for phone in phones {
            let keys = await phone.companion.secrets.ring.entries.map {
                "\($0.kind) \($0.epoch) of \($0.vault.description.prefix(4))"
            }
            let standing = phone.isOut ? "out" : phone.isRevoked ? "revoked" : "a member"
            lines.append(
                "\(phone.name), \(phone.id): \(standing), keys \(keys), "
                    + "shows \(phone.notes.map { "\($0.title): \($0.id) \($0.revision)" })")
        }
        let keys = await vaultKeys()
        lines += lying.written.filter { $0.collection == "notes" }.map { record in
            "written: note \(record.id), revision \(record.revision), epoch \(record.epoch), by \(record.author), number "
                + "\(record.sequence ?? 0): \(record.sealed == nil ? "removed" : Self.title(of: record, keys) ?? "not readable")"
        }
        return lines.joined(separator: "\n")
    }

    /// Of the computers whose vaults are open.
    func vaultKeys() async -> [KeyRing.Entry] {
        var keys: [KeyRing.Entry] = []
        for computer in computers { keys += await computer.world.sealed.vault.openKeys()?.ring.entries ?? [] }
        return keys.filter { $0.kind == .vault }
    }

    func connect(_ index: Int) async throws {
        let computer = computers[index]
        try await until("\(computer.world.name) is connected") {
            if await computer.sync.engine.isConnected { return true }
            computer.world.time.wakeNext(within: .seconds(120))
            return false
        }
    }

    // MARK: Computers

    /// It has told the hub everything, and answered every removal.
    func isSettled(_ computer: Computer) async throws -> Bool {
        let status = try await computer.sync.status()
        let answered = await computer.household.answered
        return status.connected && status.waiting == 0 && status.conflicts == 0 && status.revoking == nil
            && answered == UInt64(hub.state.withLock { $0.roster.count })
    }

    func openVault(_ index: Int) async throws {
        let world = computers[index].world
        if (try? await world.sealed.vault.keys(for: alice)) == nil { try await world.openVault() }
    }

    func notes(_ index: Int) async throws -> [NoteReport] {
        let list = try await computers[index].world.sealed.notes.list(search: nil, peer: alice)
        return list.notes.sorted { $0.title < $1.title }
    }

    /// The program ends between two instructions, and begins again with what is on disk.
    func kill(_ index: Int) async throws {
        let (lying, process, killed) = (lying, LyingHub.Process(), computers[index])
        killed.process.kill()
        await killed.world.ended()
        computers[index].world = try await World(
            hasVault: true, hub: { lying.connection($0, of: process) }, after: killed.world)
        computers[index].process = process
    }

    func setAway(_ device: Device, _ isAway: Bool) {
        switch device {
        case .computer(let index):
            guard computers[index].isAway != isAway else { return }
            computers[index].isAway = isAway
            hub.setAway(computers[index].id, isAway)
        case .phone(let index):
            phones[index].isAway = isAway
            hub.setAway(phones[index].id, isAway)
        }
    }

    // MARK: Phones

    func pair(at index: Int) async throws {
        let computer = computers[index]
        guard await computer.sync.engine.isConnected, !computer.isAway else { return }
        pairings += 1
        let (name, lying, process) = ("phone \(pairings)", lying, LyingHub.Process())
        let pairing = try await computer.household.makePairing(address: nil)
        let (link, directory) = (try #require(pairing.link), computer.world.directory.path("phone-\(pairings)"))
        async let joining = Companion.join(
            link, name: name, directory: directory, patience: .seconds(30), pause: .milliseconds(2), clock: Self.clock
        ) { lying.connection($1, of: process) }
        try await until("\(name) asks") {
            try await computer.household.pairing(pairing.id, waitingUpTo: 0).name == name
        }
        _ = try await computer.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: Self.passcode), user: alice.user)
        // What cut it off a moment ago it may notice only now.
        try await until("\(computer.world.name) has sent the keys") {
            let status = try await computer.sync.status()
            if status.connected, status.waiting == 0 { return true }
            computer.world.time.wakeNext(within: .seconds(400))
            return false
        }
        let companion = try await joining
        phones.append(Phone(companion: companion, id: await companion.device, name: name))
        backups = []
    }

    /// What a phone asks of the hub.
    /// - Returns: whether it was done. It may have been done all the same where the answer was lost.
    func ask(_ index: Int, _ work: (Companion) async throws -> Void) async throws -> Bool {
        let isDone = try await isDone(index, work)
        try await observe(index)
        return isDone
    }

    private func isDone(_ index: Int, _ work: (Companion) async throws -> Void) async throws -> Bool {
        do {
            try await work(phones[index].companion)
            return true
        } catch let error as HubError where error.code == .unauthorized && phones[index].isRevoked {
            phones[index].isOut = true
        } catch let error as HubError where error.code == .unauthorized {
            throw Violation(description: "The hub refuses \(phones[index].name), which nobody revoked.")
        } catch is CompanionError {
            // Changed elsewhere meanwhile, or a list of devices that is not believed.
        } catch is HubUnreachable {
        } catch is HubError {}
        return false
    }

    func read(_ index: Int) async throws {
        // Where every computer has told the hub all, and the hub serves it, the phone reads the new keys and of every removal.
        let isLiedTo = lying.isPrepared(for: phones[index].id)
        let areTold = try await areSettled()
        guard try await ask(index, { try await $0.sync() }), areTold, !isLiedTo else { return }
        model.learn(phones[index].id, that: Set(phones.filter(\.isRevoked).map(\.id)))
    }

    func areSettled() async throws -> Bool {
        for computer in computers where try await !isSettled(computer) { return false }
        return true
    }

    /// Those that can do something: computers, and phones that the hub does not refuse.
    var devices: [Device] {
        computers.indices.map { .computer($0) } + phones.indices.filter { !phones[$0].isOut }.map { .phone($0) }
    }

    /// Those that belong.
    var members: [Int] { phones.indices.filter { !phones[$0].isRevoked } }
}
