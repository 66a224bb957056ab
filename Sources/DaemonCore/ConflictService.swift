import Foundation
import SealedFormats
import WireProtocol

/// Makes two notes, or two moments, of one that was changed here and elsewhere at the same time, as soon as the vault is open.
actor ConflictService {
    private let store: any SyncStore
    private let vault: VaultService
    private let household: HouseholdService
    private let deviceName: String
    /// Reads what was passed over before.
    private let readAgain: @Sendable () async throws -> Void

    init(
        store: any SyncStore, vault: VaultService, household: HouseholdService, deviceName: String,
        readAgain: @escaping @Sendable () async throws -> Void
    ) {
        self.readAgain = readAgain
        self.store = store
        self.vault = vault
        self.household = household
        self.deviceName = deviceName
    }

    /// What had to wait for the vault's keys.
    func vaultOpened(peer: ControlPeer) async {
        guard (try? await vault.keys(for: peer)) != nil else { return }
        try? await household.vaultOpened()
        await recordsTaken()
    }

    /// Keys were added, as by an import: companions get them too.
    func ringChanged() async {
        try? await readAgain()
        try? await household.giveKeysOfOpenVault()
    }

    /// The same, where a conflict came while the vault was open.
    func recordsTaken() async {
        guard let keys = await vault.openKeys() else { return }
        await settle(keys)
    }

    private func settle(_ keys: VaultKeys) async {
        guard let conflicts = try? await store.conflicts() else { return }
        for conflict in conflicts {
            // What can't be opened with these keys waits for those it belongs to.
            guard let body = try? keys.open(conflict) else { continue }
            if conflict.name.collection == .moments {
                await settle(moment: body, conflict, keys)
                continue
            }
            guard var note = try? JSONDecoder().decode(NoteService.Content.self, from: body) else { continue }
            note.title += " (conflict, \(deviceName))"
            guard let bytes = try? JSONEncoder().encode(note), let id = await freeID(of: conflict) else {
                try? await store.write(StateChange(), resolving: [conflict])
                continue
            }
            guard let record = try? keys.seal(bytes, .notes, id, revision: 1, in: conflict.name.vault) else { continue }
            try? await store.write(StateChange(records: [record]), resolving: [conflict])
        }
    }

    /// Of the copy; nil where another device made it already.
    private func freeID(of conflict: StoredRecord) async -> ItemID? {
        let id = ConflictCopy.id(of: conflict.name.id, sealed: conflict.sealed ?? [])
        return (try? await store.record(conflict.name.collection, id)) == .some(nil) ? id : nil
    }

    /// Going to the trash gives way, as a removal does; and two may have written the same.
    private func settle(moment bytes: Data, _ conflict: StoredRecord, _ keys: VaultKeys) async {
        guard var body = try? MomentBody(bytes: bytes) else { return }
        var change = StateChange()
        let record = try? await store.record(.moments, conflict.name.id)
        var taken = record.flatMap { try? MomentBody(bytes: keys.open($0)) }
        taken?.modified = body.modified
        if body.removed == nil, taken != body, let id = await freeID(of: conflict) {
            body.title += " (conflict, \(deviceName))"
            guard let bytes = try? body.bytes(),
                let copy = try? keys.seal(bytes, .moments, id, revision: 1, in: conflict.name.vault)
            else { return }
            change.records = [copy]
        }
        try? await store.write(change, resolving: [conflict])
    }
}
