import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// The keys of a household that a phone founded. Each member may make those of an epoch, and all use the record that the hub
// has. Their vault is one more vault of this computer. docs/formats.md, "Shared vaults".
extension HouseholdService {
    private static let attempts = 8

    /// The vault that this computer shares with the phones; nil in a household that a computer founded.
    var sharedVault: ItemID? {
        session.flatMap { $0.roster.isPhoneFounded ? EpochKeys.vault(of: $0.roster.household) : nil }
    }

    // MARK: Receiving

    /// Stores the keys of an epoch, if the record has a box for this computer.
    /// - Throws: `RecordRefusal` for keys that were made ahead, and as `EpochKeys.open`.
    func ingestEpochKeys(_ record: CheckedRecord) async throws {
        guard let session else { return }
        let roster = record.isAhead(of: session.roster) ? try await followRoster() : session.roster
        // Other records of keys are those of a computer's own vault, for phones.
        guard let keys = try record.epochKeys(for: session.secrets, roster) else { return }
        try await adopt(keys)
    }

    private func adopt(_ keys: KeyRing) async throws {
        guard let secrets = session?.secrets else { return }
        let statusKeys = KeyRing(keys.entries.filter { $0.kind == .status })
        var checked = secrets
        try checked.add(statusKeys)
        let vaultKeys = KeyRing(keys.entries.filter { $0.kind == .vault })
        try await requireFirstKey(vaultKeys, of: secrets.household)
        try await keepVaultKeys(vaultKeys, of: secrets.household)
        try await add(statusKeys)
    }

    /// A phone that is unlocked with a decoy PIN signs as the phone and has the status keys, but none of the vault: keys that
    /// it made don't contain the first one that this computer received. Of that, only a hash is readable while it is locked.
    /// - Throws: `RecordRefusal.unreadable`.
    private func requireFirstKey(_ keys: KeyRing, of household: ItemID) async throws {
        let vault = EpochKeys.vault(of: household)
        let known = try await store.decoded(FirstVaultKey.self, HouseholdDocuments.firstVaultKey)
        guard let known, known.vault == vault else { return }
        guard keys.key(.vault, vault: vault, epoch: known.epoch).map({ FirstVaultKey.hash(of: $0) }) == known.hash
        else { throw RecordRefusal.unreadable }
    }

    /// Adds keys to the vault's ring. As the passcode is not here, they are boxed to the vault's inbox, and enter the stored
    /// ring with the next passcode. A known epoch stays as it is.
    func keepVaultKeys(_ keys: KeyRing, of household: ItemID) async throws {
        let vault = EpochKeys.vault(of: household)
        guard let newest = keys.current(.vault, vault: vault)?.epoch else { return }
        try await passcodes.whileRingIsStill {
            var document = try await self.passcodes.requireVaultDocument()
            var epochs = document.epochs ?? [document.vault.description: document.inboxEpoch]
            guard epochs[vault.description] ?? 0 < newest else { return }
            epochs[vault.description] = newest
            var pending = try await self.passcodes.pendingKeys()
            try pending.add(keys, to: document)
            document.epochs = epochs
            var change = StateChange(documents: [
                PendingKeys.documentName: try [UInt8](JSONEncoder().encode(pending)),
                VaultDocuments.vault: try [UInt8](JSONEncoder().encode(document)),
            ])
            let first = try await self.store.decoded(FirstVaultKey.self, HouseholdDocuments.firstVaultKey)
            if first?.vault != vault, let first = FirstVaultKey(keys, of: vault) {
                change.documents[HouseholdDocuments.firstVaultKey] = try [UInt8](JSONEncoder().encode(first))
            }
            try await self.store.write(change)
            if let open = await self.vault.openKeys()?.ring {
                await self.vault.replaceRing(try open.adding(keys.entries))
            }
        }
    }

    // MARK: Making

    /// Ensures that the members have boxes in the record of the current epoch, and makes its keys if no other member has. It
    /// needs the keys of all epochs, so it waits for the vault to be opened.
    /// - Parameter opened: the vault's keys; nil while it is locked.
    /// - Throws: what the connection throws, and `ControlError` with `hub` if the hub accepts none.
    func settleEpochKeys(_ opened: KeyRing?) async throws {
        guard var opened, sharedVault != nil else { return }
        if try await isSettled(opened) { return }
        var atHub: UInt64?
        for _ in 0..<Self.attempts {
            let roster = try await followRoster()
            guard let session, roster.member(session.secrets.device) != nil else { return }
            if try await isSettled(opened) { return }
            let household = roster.household
            let id = EpochKeys.recordID(household: household, epoch: roster.keysEpoch)
            let known = try await store.householdRecord(.keys, id)
            guard let keys = try await keys(of: roster.keysEpoch, mayMake: known == nil, opened) else { return }
            let replaced = atHub ?? known?.revision ?? 0
            let name = RecordName(
                vault: household, collection: .keys, id: id, revision: max(known?.revision ?? 0, replaced) + 1)
            let record = session.secrets.sign(
                name, epoch: roster.keysEpoch,
                sealed: try EpochKeys.seal(keys, as: name, to: await recipients(roster)),
                replaces: replaced)
            let outcome = try await session.hub.write([record]).first ?? HubWriteOutcome()
            if let sequence = outcome.sequence {
                try await adopt(keys)
                // While the vault is locked they are in its inbox alone.
                opened = try opened.adding(keys.entries.filter { $0.kind == .vault })
                try await remember(record, sequence)
                atHub = nil
            } else if let conflict = outcome.conflict,
                conflict.revision <= (known?.revision ?? 0) + HubRecord.largestStep
            {
                // Another member was faster. A record that no device accepts is replaced.
                if let checked = try? RecordCheck(roster).check(conflict, known: known?.revision ?? 0),
                    checked.name.id == id, (try? await ingestEpochKeys(checked)) != nil
                {
                    try await remember(conflict, checked.sequence)
                    atHub = nil
                } else {
                    atHub = conflict.revision
                }
            } else if outcome.error?.code == .conflict {
                atHub = 0
            } else {
                break
            }
        }
        throw ControlError(.hub, "The hub did not accept the household's new keys. AppLocker tries again.")
    }

    /// Whether all recipients have a box. If so, records of former members are sealed again.
    private func isSettled(_ opened: KeyRing) async throws -> Bool {
        guard let roster = session?.roster else { return true }
        // Where there is a record of this epoch, its boxes are the newest ones.
        let (record, boxes) = try await boxes(of: roster.keysEpoch, roster)
        guard let record, roster.members.map(\.id).filter(admittedHere(roster).contains).allSatisfy(boxes.contains)
        else { return false }
        try await adoptRecordsOfFormerMembers(record, opened)
        return true
    }

    private func boxes(of epoch: UInt32, _ roster: Roster) async throws -> (record: HubRecord?, members: Set<ItemID>) {
        let record = try await store.householdRecord(
            .keys, EpochKeys.recordID(household: roster.household, epoch: epoch))
        let boxes = record?.sealed.flatMap { try? EpochKeys.boxes([UInt8]($0)) }
        return (record, Set((boxes ?? [:]).keys))
    }

    /// The recipients: members that had the newest keys, those that this computer admitted, and itself. A phone that is
    /// unlocked with a decoy PIN can admit devices too; a session with keys has to send them theirs.
    private func recipients(_ roster: Roster) async throws -> [RosterMember] {
        var chosen = admittedHere(roster)
        for epoch in (1...roster.keysEpoch).reversed() {
            let (record, members) = try await boxes(of: epoch, roster)
            guard record != nil else { continue }
            chosen.formUnion(members)
            break
        }
        return roster.members.filter { chosen.contains($0.id) }
    }

    /// This computer, and the devices that it admitted.
    private func admittedHere(_ roster: Roster) -> Set<ItemID> {
        let own = signingKey.publicKey.id
        return Set(roster.history.filter { $0.kind == .admit && $0.author == own }.map(\.device)).union([own])
    }

    /// The open vault's keys and these.
    func ring(with opened: KeyRing) async throws -> KeyRing {
        try (await vault.openKeys()?.ring ?? opened).adding(opened.entries)
    }

    private func remember(_ record: HubRecord, _ sequence: UInt64) async throws {
        var incoming = IncomingChange()
        var stored = record
        (stored.sequence, stored.replaces) = (sequence, nil)
        incoming.householdRecords = [stored]
        try await store.ingest(incoming)
    }

    /// The keys of all epochs up to one.
    /// - Returns: nil if others have made this epoch's keys, and this computer has not received them.
    private func keys(of epoch: UInt32, mayMake: Bool, _ opened: KeyRing) async throws -> KeyRing? {
        guard let secrets = session?.secrets, let vault = sharedVault else { return nil }
        let ring = try await ring(with: opened)
        var entries =
            ring.entries.filter { $0.kind == .vault && $0.vault == vault && $0.epoch <= epoch }
            + secrets.ring.entries.filter { $0.kind == .status && $0.vault == secrets.household && $0.epoch <= epoch }
        for (kind, vault) in [(KeyRing.Kind.vault, vault), (.status, secrets.household)]
        where !entries.contains(where: { $0.kind == kind && $0.epoch == epoch }) {
            guard mayMake else { return nil }
            entries.append(.init(kind: kind, vault: vault, epoch: epoch, key: .random(count: 32)))
        }
        return try KeyRing([]).adding(entries)
    }

    // MARK: Records of former members

    /// What nobody adopts of the vault that this computer shares with phones: a device that left has read the secrets of
    /// "vaults", which phones replace, and remarks stay those of their author. So do companions
    /// (Web/sync/former-members.js).
    var keptByAuthor: Set<RecordCollection> { sharedVault == nil ? [.audit] : [.audit, .vaults, .remarks] }

    /// The author of the newest keys signs what former members wrote as its own next revision, so that later members accept
    /// it too. Queued changes are sealed again, so that none is sent under keys that a former
    /// member has.
    private func adoptRecordsOfFormerMembers(_ keys: HubRecord?, _ opened: KeyRing) async throws {
        guard let session, let shared = sharedVault, session.roster.keysEpoch > 1 else { return }
        let gone = keys?.author.item == session.secrets.device ? session.roster.revoked : []
        let ring = try await ring(with: opened)
        guard ring.key(.vault, vault: shared, epoch: session.roster.keysEpoch) != nil else { return }
        let document = try await passcodes.requireVaultDocument()
        try await retryingOnConflict {
            var change = StateChange()
            let ofGone =
                try await store.countRecords(by: gone, but: keptByAuthor) == 0
                ? [] : try await store.vaultRecords().filter { gone.contains($0.author) } + store.tombstones(by: gone)
            let queued = try await store.outbox(limit: 10_000, but: []).map(\.record)
                .filter { $0.sealed != nil && !gone.contains($0.author) && $0.name.collection != .vaults }
            let due = (ofGone.filter { !keptByAuthor.contains($0.name.collection) } + queued)
                .filter { $0.name.vault == shared }
            try reseal(due, into: &change, under: ring, vault: document.vault) {
                gone.contains($0.author) || $0.epoch < $1
            }
            if !change.resealed.isEmpty { try await store.write(change) }
        }
    }
}

/// What identifies the first key of the vault that this computer shares with phones, without revealing it.
private struct FirstVaultKey: Codable {
    var vault: ItemID
    var epoch: UInt32
    /// 32 bytes.
    var hash: Data

    /// Nil without a key of the vault.
    init?(_ keys: KeyRing, of vault: ItemID) {
        guard let first = keys.entries.first(where: { $0.kind == .vault && $0.vault == vault }) else { return nil }
        self.vault = vault
        epoch = first.epoch
        hash = Self.hash(of: first.key)
    }

    static func hash(of key: SecretBytes) -> Data {
        KeyDerivation.hkdf(key, salt: nil, info: "applocker/1/first-vault-key").withUnsafeBytes { Data($0) }
    }
}
