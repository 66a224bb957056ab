import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

/// This computer as a member of a shared vault: its keys there, while they are in memory, and the list of members.
///
/// It makes no keys and admits nobody: what it writes after a member left is sent once another member has made the keys of
/// the new epoch.
actor SharedVaultMember {
    nonisolated let vault: ItemID
    nonisolated let store: any HouseholdStore
    /// Keys or records arrived, or a change waits for keys: `settle` has work.
    nonisolated let work = Signal()
    /// Another member removed this computer: what is here can be read, and nothing is synchronised.
    private(set) var isRemoved = false
    /// Nil while the keys are not in memory.
    private var current: SyncSession?
    /// Of the vault; every epoch that was received.
    private var ring = KeyRing([])
    private let household: ItemID
    private let device: ItemID
    private let deviceName: String
    /// Identifies this computer to its own household; nil where it is in none.
    private var owner: ItemID?
    private let log: ActivityLog
    /// Called once another member removed this computer.
    private let removed: @Sendable () -> Void

    init(
        household: ItemID, device: ItemID, store: any HouseholdStore, deviceName: String, log: ActivityLog,
        removed: @escaping @Sendable () -> Void
    ) {
        self.household = household
        self.device = device
        self.store = store
        self.deviceName = deviceName
        self.log = log
        self.removed = removed
        vault = EpochKeys.vault(of: household)
    }

    // MARK: Keys

    var isOpen: Bool { current != nil }

    /// Nil where nothing can be synchronised.
    var session: SyncSession? { isRemoved ? nil : current }

    /// - Throws: `ControlError` with `vaultLocked`, or `hub` after another member removed this computer.
    func requireSession() throws(ControlError) -> SyncSession {
        if isRemoved { throw .removedFromSharedVault }
        guard let current else { throw .vaultIsLocked }
        return current
    }

    /// - Throws: `ControlError` with `vaultLocked`.
    func openKeys() throws(ControlError) -> VaultKeys {
        guard isOpen else { throw .vaultIsLocked }
        return VaultKeys(vault: vault, ring: ring, device: device)
    }

    /// Takes the keys into memory: its own, and those that were received before.
    /// - Parameter owner: this computer's id in its own household.
    /// - Throws: what the store throws.
    func open(_ session: SyncSession, owner: ItemID?, isRemoved: Bool) async throws {
        let records = try await store.householdRecords(in: .keys).sorted { $0.epoch < $1.epoch }
        (current, ring) = (session, KeyRing([]))
        (self.owner, self.isRemoved) = (owner, isRemoved)
        for record in records {
            guard let sealed = record.sealed, record.epoch <= session.roster.keysEpoch else { continue }
            let name = RecordName(
                vault: household, collection: .keys, id: record.id.item, revision: record.revision)
            // What does not open was refused when it arrived.
            let keys = try? EpochKeys.open(
                [UInt8](sealed), as: name, epoch: record.epoch, for: device, with: session.secrets.boxKey)
            if let keys { try? add(keys) }
        }
        work.raise()
    }

    /// Forgets the keys. Work that has begun with them may finish.
    func forget() {
        current = nil
        ring = KeyRing([])
    }

    /// - Throws: as `CheckedRecord.epochKeys`. `RecordRefusal.unreadable` also for a record that lacks keys which this
    ///   computer has: stored in place of the one that had them, it would take them away.
    func ingestKeys(_ record: CheckedRecord) async throws {
        // What comes while the vault is locked is read again once it is open.
        guard let session else { throw CancellationError() }
        let roster = record.isAhead(of: session.roster) ? try await followRoster() : session.roster
        guard record.sealed != nil,
            record.name.id == EpochKeys.recordID(household: household, epoch: record.epoch)
        else { throw RecordRefusal.unreadable }
        guard let keys = try record.epochKeys(for: session.secrets, roster) else { return }
        guard let current else { throw CancellationError() }
        let known = ring.entries + current.secrets.ring.entries
        guard
            known.allSatisfy({
                $0.epoch > record.epoch || keys.key($0.kind, vault: $0.vault, epoch: $0.epoch) == $0.key
            })
        else { throw RecordRefusal.unreadable }
        try add(keys)
        work.raise()
    }

    /// - Throws: `RecordRefusal.unreadable` if a key differs from the known one of its epoch.
    private func add(_ keys: KeyRing) throws {
        guard var checked = current?.secrets else { return }
        try checked.add(KeyRing(keys.entries.filter { $0.kind == .status }))
        let fresh = keys.entries.filter { $0.kind == .vault }
        guard
            fresh.allSatisfy({
                ring.key(.vault, vault: vault, epoch: $0.epoch).map { [key = $0.key] in $0 == key } ?? true
            })
        else { throw RecordRefusal.unreadable }
        ring = try ring.adding(fresh)
        current = current.map { SyncSession(hub: $0.hub, secrets: checked, roster: $0.roster) }
    }

    // MARK: Members

    /// Reads new entries of the list of members from the hub.
    /// - Throws: `RosterViolation`, or what the connection throws.
    @discardableResult
    func followRoster() async throws -> Roster {
        let session = try requireSession()
        var roster = session.roster
        let hasGrown = try await roster.followRestoring(session.hub) { _ in }
        if hasGrown {
            try await store.save(HouseholdService.stored(roster), as: HouseholdDocuments.roster)
            // Another task may have read further.
            if let now = current, now.roster.head.number < roster.head.number {
                current = SyncSession(hub: now.hub, secrets: now.secrets, roster: roster)
            }
        }
        return current?.roster ?? roster
    }

    /// The members' names, this computer's first; spare members are not shown.
    func memberNames() async -> [String] {
        guard let session = current else { return [] }
        let admitters = Dictionary(
            session.roster.history.filter { $0.kind == .admit }.map { ($0.device, $0.author) }, uniquingKeysWith: { $1 }
        )
        var stored: [ItemID: DeviceName] = [:]
        for member in session.roster.members { stored[member.id] = await storedName(of: member.id, session) }
        let names = stored
        func isSpare(_ member: ItemID) -> Bool {
            guard let maker = names[member]?.spareOf?.item, maker != member, session.roster.member(maker) != nil
            else { return false }
            return names[maker]?.spareOf == nil && admitters[member] == maker
        }
        let others = session.roster.members.map(\.id).filter { $0 != device && !isSpare($0) }
            .map { names[$0]?.name ?? HouseholdService.unnamed }
        return [names[device]?.name ?? deviceName] + others.sorted()
    }

    private func storedName(of member: ItemID, _ session: SyncSession) async -> DeviceName? {
        guard let record = try? await store.householdRecord(.devices, member),
            let checked = try? RecordCheck(session.roster).check(record, known: 0),
            // A member could call another one a spare otherwise, and so hide it.
            checked.author.id == member
        else { return nil }
        return try? session.secrets.open(checked, as: DeviceName.self)
    }

    /// What the members call the vault; empty while that is not known here.
    func name() async -> String {
        struct About: Decodable { var name: String }
        guard let record = try? await store.record(.about, vault), let body = try? openKeys().open(record),
            let about = try? JSONDecoder().decode(About.self, from: body)
        else { return "" }
        return String(about.name.prefix(64))
    }

    // MARK: Work that waits for keys or records

    /// - Returns: whether changes were sealed under newer keys, which can be sent now.
    func settle() async -> Bool {
        guard let keys = try? openKeys() else { return false }
        // Without room on the disk the changes stay as they are, and are tried again with the next arrival.
        let hasResealed = (try? await resealQueued()) ?? false
        await ConflictSettling(store: store, deviceName: deviceName).settle(keys)
        try? await publishName()
        return hasResealed
    }

    /// Seals queued changes under the newest keys: a member that left has the older ones.
    private func resealQueued() async throws -> Bool {
        try await retryingOnConflict {
            guard let newest = session?.roster.keysEpoch, ring.key(.vault, vault: vault, epoch: newest) != nil else {
                return false
            }
            // A computer writes no remarks, and signs nobody else's.
            let queued = try await store.outbox(limit: 10_000, but: []).map(\.record)
                .filter { $0.sealed != nil && $0.name.collection != .remarks }
            var change = StateChange()
            try openKeys().reseal(queued, into: &change) { $0.epoch < $1 }
            guard !change.resealed.isEmpty else { return false }
            try await store.write(change)
            return true
        }
    }

    /// For the other members, once they can open it.
    private func publishName() async throws {
        guard let session, session.secrets.epoch > 0 else { return }
        let known = await storedName(of: device, session)
        // In no household it is a random number, which nobody recognises.
        let owner =
            owner.map { HubID(EpochKeys.owner(household: session.secrets.household, member: device, device: $0)) }
            ?? known?.owner ?? HubID(.random())
        let body = DeviceName(name: HouseholdService.shortened(deviceName), owner: owner)
        guard known != body else { return }
        let revision = try await store.known(.devices, device)?.revision ?? 0
        let record = try session.secrets.seal(body, .devices, device, revision: revision + 1)
        try await store.write(StateChange(household: [record]))
    }

    // MARK: The end

    /// - Returns: whether another member removed this computer.
    func leaveIfRevoked() async -> Bool {
        guard let session, session.roster.revoked.contains(device) else { return false }
        isRemoved = true
        removed()
        let last = session.roster.history.last { $0.kind == .revoke && $0.device == device }
        // Otherwise it is just leaving.
        if last?.author != device {
            await log.enqueue(.hubDisconnected, "Another member removed this computer from a shared vault.")
        }
        return true
    }

    /// Informs the other members. After the last one the hub deletes the vault.
    /// - Parameter clock: seconds since 1970.
    /// - Throws: what the connection throws.
    func leave(at clock: UInt64) async throws {
        if isRemoved { return }
        let session = try requireSession()
        try await leaveHousehold(at: session.hub, by: session.secrets.signingKey, clock: clock) {
            try await followRoster()
        }
    }
}

extension ControlError {
    static var removedFromSharedVault: ControlError {
        ControlError(
            .hub,
            "Another member removed this computer from this vault. What is here can be read; `applocker moments leave` "
                + "removes it.")
    }
}
