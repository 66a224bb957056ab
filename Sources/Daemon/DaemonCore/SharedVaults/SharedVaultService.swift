import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

/// What requests about moments use: of this computer's own vault, or of a shared one.
public struct MomentVault: Sendable {
    public let moments: MomentService
    public let contents: ContentService
}

/// The vaults that this computer shares with devices of other households. They are synchronised while this computer's own
/// vault is open, whose keys seal their list.
public actor SharedVaultService {
    /// A device can be in this many.
    static let maximumVaults = 8
    /// How long requests wait for the hub after the vault was opened.
    private static let patience = Duration.seconds(5)

    /// A replica in use. It stays until the daemon ends or the vault is left, without keys while those are locked.
    struct SharedVault {
        let member: SharedVaultMember
        let engine: SyncEngine
        let services: MomentVault
        /// Synchronises it until it is cancelled.
        let synchronising: Task<Void, Never>
        /// Until when requests wait for the hub, since boot.
        var waitsUntil: Duration
    }

    let vault: VaultService
    let household: HouseholdService
    let replicas: any VaultReplicas
    let deviceName: String
    let time: any TimeSource
    let log: ActivityLog
    private let documents: any DocumentStore
    private let changes: StateChanges
    /// By this computer's id in each.
    private(set) var vaults: [ItemID: SharedVault] = [:]
    /// When a request to join was first seen, since boot.
    var asked: [ItemID: Duration] = [:]
    /// Changes the list, and opens vaults, one after the other. Nothing in it waits for a hub.
    let steps = AsyncSerialQueue()

    init(
        vault: VaultService, household: HouseholdService, documents: any DocumentStore, replicas: any VaultReplicas,
        deviceName: String, time: any TimeSource, log: ActivityLog, changes: StateChanges
    ) {
        self.vault = vault
        self.household = household
        self.documents = documents
        self.replicas = replicas
        self.deviceName = deviceName
        self.time = time
        self.log = log
        self.changes = changes
    }

    func connection(_ entry: SharedVaultEntry) -> any HubConnection {
        household.ports.connection(
            household.ports.withTodaysAddress(entry.stored.settings), entry.secrets.token)
    }

    // MARK: The list

    /// - Throws: as `StoredSharedVaults`.
    func entries(with own: VaultKeys) async throws -> [SharedVaultEntry] {
        try await documents.decoded(StoredSharedVaults.self, StoredSharedVaults.documentName)?.entries(with: own) ?? []
    }

    /// Changes the list in one write; inside `steps`.
    /// - Throws: as `entries`, `ControlError` with `failed`.
    func change(with own: VaultKeys, _ body: (inout [SharedVaultEntry]) -> Void) async throws {
        var entries = try await entries(with: own)
        body(&entries)
        let stored = try StoredSharedVaults(entries, under: own)
        do {
            try await documents.save([UInt8](JSONEncoder().encode(stored)), as: StoredSharedVaults.documentName)
        } catch {
            throw ControlError(
                .failed, "AppLocker could not write its state (\(error)). Free some disk space and try again.")
        }
    }

    /// Changes the entry of this computer's id in the vault, unless it was removed meanwhile.
    func change(_ device: ItemID, with own: VaultKeys, _ body: (inout StoredSharedVault) -> Void) async throws {
        try await change(with: own) { entries in
            guard let index = entries.firstIndex(where: { $0.device == device }) else { return }
            body(&entries[index].stored)
        }
    }

    /// Finds a vault by id, by the first digits of it (at least 4), or by its name.
    /// - Throws: `ControlError` with `vaultLocked`, `noSuchItem` or `ambiguousItem`; as `entries`.
    func entry(_ reference: String, for peer: ControlPeer) async throws -> SharedVaultEntry {
        let entries = try await entries(with: try await vault.keys(for: peer))
        if let entry = entries.first(where: { $0.household.description == reference }) { return entry }
        var found: [SharedVaultEntry] = []
        for entry in entries {
            let name = await name(of: entry)
            let isNamed = !name.isEmpty && name.lowercased() == reference.lowercased()
            if isNamed || reference.count >= 4 && entry.household.description.hasPrefix(reference) {
                found.append(entry)
            }
        }
        switch found.count {
        case 1: return found[0]
        case 0: throw ControlError.noSuchSharedVault
        default:
            throw ControlError(
                .ambiguousItem, "This matches \(found.count) vaults; use an id of `applocker moments vaults`.")
        }
    }

    private func name(of entry: SharedVaultEntry) async -> String {
        let name = await vaults[entry.device]?.member.name() ?? ""
        return name.isEmpty ? entry.stored.name : name
    }

    // MARK: Opening

    /// The services of a shared vault.
    ///
    /// - Parameter isChange: of this computer's part in it, as adding a moment.
    /// - Throws: as `entry`; `ControlError` with `hub` before this computer is a member, and for a change after it was
    ///   removed.
    func open(_ reference: String, isChange: Bool, for peer: ControlPeer) async throws -> MomentVault {
        let entry = try await entry(reference, for: peer)
        guard entry.stored.state != .waiting else {
            throw ControlError(
                .hub, "The member that invited this computer has not confirmed yet; see `applocker moments vaults`.")
        }
        let vault = try await opened(entry)
        await awaitHub(vault)
        if isChange, await vault.member.isRemoved { throw ControlError.removedFromSharedVault }
        return vault.services
    }

    /// Synchronises every vault, once this computer's own vault is open.
    func vaultOpened() async {
        guard let own = await vault.openKeys(), let entries = try? await entries(with: own) else { return }
        for entry in entries where entry.stored.state != .waiting { _ = try? await opened(entry) }
        // Of a vault that was left, if the computer stopped in the middle of it.
        try? await steps.perform {
            try replicas.removeAll(but: Set(try await self.entries(with: own).map(\.stored.replica)))
        }
    }

    /// - Throws: `ControlError` with `vaultLocked`, or `noSuchItem` where it was left meanwhile; what the disk throws.
    func opened(_ entry: SharedVaultEntry) async throws -> SharedVault {
        if let shared = vaults[entry.device], await shared.member.isOpen { return shared }
        return try await steps.perform {
            guard let own = await vault.openKeys() else { throw ControlError.vaultIsLocked }
            guard let entry = try await entries(with: own).first(where: { $0.device == entry.device }) else {
                throw ControlError.noSuchSharedVault
            }
            var shared = if let known = vaults[entry.device] { known } else { try await make(entry) }
            if await shared.member.isOpen { return shared }
            // First: what fails below is tried again with the same replica.
            vaults[entry.device] = shared
            let roster = try await roster(of: entry, shared.member.store)
            try await shared.member.open(
                SyncSession(hub: connection(entry), secrets: entry.secrets, roster: roster),
                owner: await household.session?.secrets.device, isRemoved: entry.stored.state == .removed)
            shared.waitsUntil = time.elapsed() + Self.patience
            vaults[entry.device] = shared
            guard await vault.openKeys() != nil else {
                await lock(shared)
                throw ControlError.vaultIsLocked
            }
            await shared.engine.householdChanged()
            return shared
        }
    }

    private func make(_ entry: SharedVaultEntry) async throws -> SharedVault {
        let replica = try replicas.open(entry.stored.replica, signingKey: entry.secrets.signingKey)
        let (store, blobs, vault, device) = (replica.store, replica.blobs, vault, entry.device)
        try await store.pruneEarlierVersions(at: time.wallClock())
        try await blobs.sweep(keeping: store.blobsOfRecords())
        let member = SharedVaultMember(
            household: entry.household, device: device, store: store, deviceName: deviceName, log: log,
            // Not part of the engine's task, which may be waited for in `steps`.
            removed: { [weak self] in Task { await self?.markRemoved(device) } })
        let engine = SyncEngine(
            delegate: SharedVaultDelegate(
                member: member, notices: SharedVaultNotices(deviceName: deviceName, time: time), log: log),
            store: store, blobs: blobs, time: time)
        let contents = ContentService(records: store, blobs: blobs) { peer in
            _ = try await vault.keys(for: peer)
            _ = try await member.openKeys()
        } fetch: {
            try await engine.fetch($0)
        }
        let moments = MomentService(records: store, blobs: blobs, time: time) { peer in
            _ = try await vault.keys(for: peer)
            return try await member.openKeys()
        }
        let synchronising = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                group.addTask {
                    for await _ in member.work.raised {
                        if await member.settle() { await engine.unpark() }
                        await engine.queued()
                    }
                }
            }
        }
        return SharedVault(
            member: member, engine: engine, services: MomentVault(moments: moments, contents: contents),
            synchronising: synchronising, waitsUntil: .zero)
    }

    /// The list of members that was seen.
    private func roster(of entry: SharedVaultEntry, _ store: any HouseholdStore) async throws -> Roster {
        guard let stored = try await store.decoded(StoredRoster.self, HouseholdDocuments.roster) else {
            throw ControlError(
                .failed,
                "This computer's copy of the vault is lost. Remove it with `applocker moments leave --forget`, and join "
                    + "again by an invitation.")
        }
        return try Roster(entries: stored.entries.map { [UInt8]($0) })
    }

    /// Until the hub's stream is live, or the hub can't be reached; after the vault was opened, for a short time.
    private func awaitHub(_ vault: SharedVault) async {
        while time.elapsed() < vault.waitsUntil {
            let state = await vault.engine.state
            let isSynchronised = await vault.member.session != nil
            if state.isConnected || state.problem != nil || !isSynchronised { return }
            do { try await time.sleep(until: time.elapsed() + .milliseconds(20)) } catch { return }
        }
    }

    private func markRemoved(_ device: ItemID) async {
        guard let own = await vault.openKeys() else { return }
        // If the write fails, the next connection finds it removed again.
        try? await steps.perform {
            try await change(device, with: own) { $0.state = .removed }
        }
    }

    // MARK: Closing

    /// Forgets the keys when this computer's own vault is locked. Runs until the task is cancelled, and ends all work then.
    func followLocking() async {
        for await _ in changes.follow() where await vault.openKeys() == nil {
            for vault in vaults.values { await lock(vault) }
        }
        for vault in vaults.values { vault.synchronising.cancel() }
        vaults = [:]
    }

    private func lock(_ vault: SharedVault) async {
        await vault.member.forget()
        await vault.engine.householdChanged()
        await vault.services.contents.endFetching()
    }

    /// Removes what this computer has of a vault; inside `steps`, after the list was written.
    /// - Throws: `ControlError` with `failed`; the next opening tries it again.
    func discard(_ entry: SharedVaultEntry) async throws {
        asked[entry.device] = nil
        if let vault = vaults.removeValue(forKey: entry.device) {
            await lock(vault)
            vault.synchronising.cancel()
            await vault.synchronising.value
        }
        do {
            try replicas.remove(entry.stored.replica)
        } catch {
            throw ControlError(
                .failed,
                "What is stored of the vault could not be removed (\(error)). AppLocker tries again when the vault is "
                    + "opened.")
        }
    }

    // MARK: For people

    /// - Parameter problem: of a vault that is waiting.
    func report(_ entry: SharedVaultEntry, problem: String? = nil, with own: VaultKeys) async throws
        -> SharedVaultReport
    {
        let stored = entry.stored
        var report = briefReport(entry, problem: problem)
        guard stored.state != .waiting else {
            report.words = stored.words
            return report
        }
        let vault = try await opened(entry)
        await awaitHub(vault)
        let state = await vault.engine.state
        if await vault.member.isRemoved { report.state = .removed }
        report.name = await name(of: entry)
        report.members = await vault.member.memberNames()
        report.isConnected = state.isConnected
        report.waiting = try await vault.member.store.waitingCount()
        report.problem = report.state == .removed ? ControlError.removedFromSharedVault.message : state.problem
        if report.name != stored.name {
            // Shown while it is not known from the vault itself.
            try? await steps.perform {
                try await change(entry.device, with: own) { [name = report.name] in $0.name = name }
            }
        }
        return report
    }
}

extension ControlError {
    static var noSuchSharedVault: ControlError {
        ControlError(.noSuchItem, "There is no such vault. `applocker moments vaults` shows all.")
    }
}
