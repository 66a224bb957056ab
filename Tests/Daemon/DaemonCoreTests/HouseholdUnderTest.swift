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

/// Computers with real services and databases, phones and a misbehaving hub, with the model of the notes they wrote.
actor HouseholdUnderTest {
    struct Computer {
        var world: World
        var process: MisbehavingHub.Process
        var screen = NoteScreen()
        var isUnreachable = false
        var id: HubID { HubID(world.key.publicKey.id) }
        var devices: HouseholdServices { world.control.devices }
        var household: HouseholdService { world.household }
        var sync: SyncService { world.sync }
    }

    struct Phone {
        let companion: Companion
        let id: HubID
        let name: String
        /// The notes that it shows.
        var notes: [Companion.Note] = []
        var screen = NoteScreen()
        var isUnreachable = false
        /// A computer has revoked it; the hub may not have received the revocation yet.
        var isRevoked = false
        /// The hub refuses it.
        var isRefused = false
    }

    enum Device {
        case computer(Int)
        case phone(Int)
    }

    /// An invariant does not hold.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    let misbehavingHub = MisbehavingHub()
    var hub: MemoryHub { misbehavingHub.hub }
    var computers: [Computer] = []
    var phones: [Phone] = []
    var model = HouseholdModel()
    /// The last roster of each device.
    var rosters: [HubID: Roster] = [:]
    /// The number of written records that were tried with the keys of revoked phones.
    var tried = 0
    /// Backups from moments at which all devices had the same notes. Pairing clears them, because the hub would not
    /// have the new phone's token.
    var backups: [MemoryHub.State] = []
    private var pairings = 0

    private static let keys = (DeviceSigningKey(), DeviceSigningKey())
    private static let vaults = (World.newVault(), World.newVault())
    /// The time of the computers' clocks.
    private static let clock: @Sendable () -> UInt64 = { 1_800_000_000_000 }
    static let passcode = "right"

    /// - Parameter count: the number of computers, 1 or 2. Each has its own vault.
    init(computers count: Int) async throws {
        let (misbehavingHub, first) = (misbehavingHub, MisbehavingHub.Process())
        let den = try await World(
            listed: [], hasVault: true, vault: Self.vaults.0, hub: { misbehavingHub.connection($0, of: first) },
            key: Self.keys.0, name: "den")
        try await den.household.connect(HubSettings(url: "https://hub.test"), registrationToken: nil, user: alice.user)
        computers = [Computer(world: den, process: first)]
        try await connect(0)
        if count > 1 { try await join() }
        for index in computers.indices { try await openVault(index) }
    }

    private func join() async throws {
        let (misbehavingHub, process) = (misbehavingHub, MisbehavingHub.Process())
        let attic = try await World(
            listed: [], hasVault: true, vault: Self.vaults.1, hub: { misbehavingHub.connection($0, of: process) },
            key: Self.keys.1, name: "attic")
        let den = computers[0]
        let pairing = try await den.household.makePairing(address: nil, role: .computer)
        _ = try await attic.household.join(try #require(pairing.link), HubSettings(url: ""))
        try await until("the attic has asked to join") {
            try await den.household.pairing(pairing.id, waitingUpTo: 0).name == "attic"
        }
        _ = try await den.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: Self.passcode), user: alice.user)
        computers.append(Computer(world: attic, process: process))
        try await connect(1)
        try await attic.household.sendVaultKeys(SecretBytes(utf8: Self.passcode), user: alice.user)
    }

    // MARK: Waiting

    /// How long a computer or phone may take on a busy machine, in real time.
    static let patience = Duration.seconds(120)

    /// - Throws: `Violation` if the condition does not become true within `patience`.
    func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + Self.patience
        var problem = ""
        while true {
            let isLast = ContinuousClock.now >= end
            do {
                if try await condition() { return }
            } catch {
                problem = " (\(error))"
            }
            if isLast {
                throw Violation(description: "Not within \(Self.patience): \(what)\(problem).\n\(await state())")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// A description of all devices for the report of a failure.
    func state() async -> String {
        var lines = ["The hub's roster has \(hub.backup().roster.count) entries."]
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
            let standing = phone.isRefused ? "refused by the hub" : phone.isRevoked ? "revoked" : "a member"
            lines.append(
                "\(phone.name), \(phone.id): \(standing), keys \(keys), "
                    + "shows \(phone.notes.map { "\($0.title): \($0.id) \($0.revision)" })")
        }
        let keys = await vaultKeys()
        lines += misbehavingHub.written.filter { $0.collection == "notes" }.map { record in
            "written: note \(record.id), revision \(record.revision), epoch \(record.epoch), by \(record.author), number "
                + "\(record.sequence ?? 0): \(record.sealed == nil ? "removed" : Self.title(of: record, keys) ?? "not readable")"
        }
        return lines.joined(separator: "\n")
    }

    /// The vault keys of the computers whose vaults are open.
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

    /// Until the task is cancelled, connects the computer again each time it has noticed a disconnection.
    func keepConnected(_ index: Int) async {
        let computer = computers[index]
        while !Task.isCancelled {
            if await !computer.sync.engine.isConnected { computer.world.time.wakeNext(within: .seconds(120)) }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    // MARK: Computers

    /// Whether it has sent everything to the hub, and answered every revocation.
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

    /// Kills the program, and starts it again with the state on disk.
    func kill(_ index: Int) async throws {
        let (misbehavingHub, process, killed) = (misbehavingHub, MisbehavingHub.Process(), computers[index])
        killed.process.kill()
        await killed.world.ended()
        computers[index].world = try await World(
            hasVault: true, hub: { misbehavingHub.connection($0, of: process) }, after: killed.world)
        computers[index].process = process
    }

    func setUnreachable(_ device: Device, _ isUnreachable: Bool) {
        switch device {
        case .computer(let index):
            guard computers[index].isUnreachable != isUnreachable else { return }
            computers[index].isUnreachable = isUnreachable
            hub.setUnreachable(computers[index].id, isUnreachable)
        case .phone(let index):
            phones[index].isUnreachable = isUnreachable
            hub.setUnreachable(phones[index].id, isUnreachable)
        }
    }

    // MARK: Phones

    func pair(at index: Int) async throws {
        let computer = computers[index]
        guard await computer.sync.engine.isConnected, !computer.isUnreachable else { return }
        pairings += 1
        let (name, misbehavingHub, process) = ("phone \(pairings)", misbehavingHub, MisbehavingHub.Process())
        let pairing = try await computer.household.makePairing(address: nil)
        let (link, directory) = (try #require(pairing.link), computer.world.directory.path("phone-\(pairings)"))
        async let joining = Companion.join(
            link, name: name, directory: directory, patience: Self.patience, pause: .milliseconds(2), clock: Self.clock
        ) { misbehavingHub.connection($1, of: process) }
        try await until("\(name) has asked to join") {
            try await computer.household.pairing(pairing.id, waitingUpTo: 0).name == name
        }
        _ = try await computer.household.confirmPairing(
            pairing.id, passcode: SecretBytes(utf8: Self.passcode), user: alice.user)
        // The computer may notice an earlier disconnection only now.
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

    /// Performs a phone's requests to the hub.
    /// - Returns: whether they succeeded. If the answer was lost, they may have been performed.
    func attempt(_ index: Int, _ work: (Companion) async throws -> Void) async throws -> Bool {
        let isDone = try await isDone(index, work)
        try await observe(index)
        return isDone
    }

    private func isDone(_ index: Int, _ work: (Companion) async throws -> Void) async throws -> Bool {
        do {
            try await work(phones[index].companion)
            return true
        } catch let error as HubError where error.code == .unauthorized && phones[index].isRevoked {
            phones[index].isRefused = true
        } catch let error as HubError where error.code == .unauthorized {
            throw Violation(description: "The hub refuses \(phones[index].name), which was not revoked.")
        } catch is CompanionError {
            // A note was changed elsewhere meanwhile, or a roster was refused.
        } catch is HubUnreachable {
        } catch is HubError {}
        return false
    }

    func read(_ index: Int) async throws {
        // If every computer has sent everything and the hub answers regularly, the phone reads the new keys and every
        // revocation.
        let isAnswerAltered = misbehavingHub.isPrepared(for: phones[index].id)
        let areSettled = try await areSettled()
        guard try await attempt(index, { try await $0.sync() }), areSettled, !isAnswerAltered else { return }
        model.receive(revocationsOf: Set(phones.filter(\.isRevoked).map(\.id)), at: phones[index].id)
    }

    func areSettled() async throws -> Bool {
        for computer in computers where try await !isSettled(computer) { return false }
        return true
    }

    /// The computers, and the phones that the hub does not refuse.
    var devices: [Device] {
        computers.indices.map { .computer($0) } + phones.indices.filter { !phones[$0].isRefused }.map { .phone($0) }
    }

    /// The phones that are not revoked.
    var members: [Int] { phones.indices.filter { !phones[$0].isRevoked } }
}
