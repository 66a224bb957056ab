import Foundation
import SealedFormats
import WireProtocol

/// Makes two notes of one that was changed here and elsewhere at the same time, as soon as the vault is open.
actor ConflictService {
    private let store: any SyncStore
    private let vault: VaultService
    private let household: HouseholdService
    private let deviceName: String

    init(store: any SyncStore, vault: VaultService, household: HouseholdService, deviceName: String) {
        self.store = store
        self.vault = vault
        self.household = household
        self.deviceName = deviceName
    }

    /// What had to wait for the vault's keys.
    func vaultOpened(peer: ControlPeer) async {
        guard let keys = try? await vault.keys(for: peer) else { return }
        try? await household.giveMissingKeys(keys.ring)
        await settle(keys)
    }

    /// Keys were added, as by an import: companions get them too.
    func ringChanged() async {
        guard let keys = await vault.openKeys() else { return }
        try? await household.giveKeysToAll(keys.ring)
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
            guard let body = try? keys.open(conflict),
                var note = try? JSONDecoder().decode(NoteService.Content.self, from: body)
            else { continue }
            note.title += " (conflict, \(deviceName))"
            guard let bytes = try? JSONEncoder().encode(note),
                let record = try? keys.seal(bytes, .notes, .random(), revision: 1, in: conflict.name.vault)
            else { continue }
            try? await store.write(StateChange(records: [record]), resolving: [conflict])
        }
    }
}
