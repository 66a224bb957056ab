import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync

/// Splits a note or moment that was changed here and elsewhere at the same time into two, as soon as the vault is open.
actor ConflictService {
    private let store: any SyncStore
    private let vault: VaultService
    private let household: HouseholdService
    private let deviceName: String
    private let sync: SyncEngine
    private let events: AsyncStream<DaemonEvent>

    init(
        store: any SyncStore, vault: VaultService, household: HouseholdService, sync: SyncEngine, deviceName: String,
        events: DaemonEvents
    ) {
        self.sync = sync
        self.events = events.subscribe()
        self.store = store
        self.vault = vault
        self.household = household
        self.deviceName = deviceName
    }

    /// Settles conflicts that arrive while the vault is open, for as long as the daemon runs.
    func followEvents() async {
        for await event in events {
            if case .vaultRecordsReceived = event { await settleConflicts() }
        }
    }

    /// Does the work that waited for the vault's keys.
    func vaultOpened(peer: ControlPeer) async {
        guard (try? await vault.keys(for: peer)) != nil else { return }
        try? await household.vaultOpened()
        await sync.unpark()
        await settleConflicts()
    }

    /// Keys were added, as by an import: reads skipped records, and sends companions the keys.
    func ringChanged() async {
        try? await sync.readAgain()
        try? await household.sendKeysOfOpenVault()
    }

    func settleConflicts() async {
        guard let keys = await vault.openKeys() else { return }
        await ConflictSettling(store: store, deviceName: deviceName).settle(keys)
    }
}
