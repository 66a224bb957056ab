import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// Records that a revoked device wrote as a member stay: they are read to the last one and become this computer's own.
extension HouseholdService {
    /// Revoked devices whose records were not all read yet.
    func departing() -> Set<ItemID> {
        guard let session else { return [] }
        return Set(
            session.roster.history.filter { $0.kind == .revoke && $0.number > answered }.map(\.device))
    }

    /// Reports a revocation to the hub, which then accepts nothing more from the device, and reads its last records.
    ///
    /// - Parameter ring: the vaults' keys, where they are open.
    /// - Returns: sentences: what was done, and what could not be.
    func concludeRevocation(
        of device: ItemID, name: String, ring: KeyRing?, reader: SyncEngine
    ) async -> [String] {
        var sentences: [String] = []
        do {
            try await finishRevocation()
            sentences.append("\(name) is revoked: it can't read anything that is written from now on.")
        } catch {
            sentences.append(
                "\(name) can't open anything that is written from now on. The revocation has not reached the hub yet "
                    + "(\(ControlError(hub: error).message)); AppLocker keeps trying.")
        }
        if revocation == nil {
            do {
                let number = try requireSession().roster.head.number
                try await reader.readUpToDate()
                try await answer(upTo: number, vaultRing: ring)
                try await settleEpochKeys(ring)
            } catch {
                sentences.append(
                    "The last changes of \(name) could not be read yet (\(ControlError(hub: error).message)); "
                        + "AppLocker keeps trying.")
            }
        } else {
            sentences.append("Its unread changes are read with the next connection.")
        }
        if let ring, let unreadable = try? await countUnreadable(by: device, ring), unreadable > 0 {
            sentences.append(
                unreadable == 1
                    ? "1 record of \(name) does not open and stays as it is."
                    : "\(unreadable) records of \(name) do not open and stay as they are.")
        }
        return sentences
    }

    /// How many records of a device don't open. Others may stay under its name: in the vault that this computer shares
    /// with phones, the author of the newest keys adopts them.
    private func countUnreadable(by device: ItemID, _ ring: KeyRing) async throws -> Int {
        let ring = try await self.ring(with: ring)
        let document = try await passcodes.requireVaultDocument()
        let keys = VaultKeys(vault: document.vault, ring: ring, device: signingKey.publicKey.id)
        return try await store.vaultRecords().filter { $0.author == device && !keys.opens($0) }.count
    }

    /// Call it when all records from before this roster entry are read: those by revoked devices are sealed again, now
    /// or when the vault is open. From then on nothing more is accepted from these devices.
    func concludeDepartures(upTo number: UInt64, vaultRing: KeyRing?) async throws {
        guard number > answered else { return }
        let gone = departing()
        if !gone.isEmpty, let vault = try await passcodes.vaultDocument()?.vault {
            if let ring = vaultRing {
                try await retryingOnConflict {
                    var change = StateChange()
                    try await reseal(into: &change, under: ring, vault: vault, without: gone)
                    try await store.write(change)
                }
            } else if try await store.countRecords(by: gone, but: []) > 0 {
                try await store.save([1], as: HouseholdDocuments.reseal)
            }
        }
        try await store.save(Array(String(number).utf8), as: HouseholdDocuments.answered)
        answered = number
    }

    /// Seals and sends what needs the keys of the open vault. It runs in `memberships` because keys are replaced there:
    /// an older ring would overwrite the newest keys that companions have received.
    func vaultOpened() async throws {
        try await memberships.perform {
            guard let ring = await vault.openKeys()?.ring else { return }
            try? await resealPendingRecords(ring)
            try await sendMissingKeys(ring)
            // Without the hub it is done at the next connection.
            try? await settleEpochKeys(ring)
        }
    }

    /// Sends companions the keys that were added to the ring of the open vault.
    func sendKeysOfOpenVault() async throws {
        try await memberships.perform {
            if let ring = await vault.openKeys()?.ring { try await sendKeysToAll(ring) }
        }
    }

    /// Seals again what is still sealed under keys of a revoked device, or signed by it, and sends companions the whole
    /// ring.
    private func resealPendingRecords(_ ring: KeyRing) async throws {
        guard let session, try await store.document(HouseholdDocuments.reseal) != nil else { return }
        try await retryingOnConflict {
            let document = try await passcodes.requireVaultDocument()
            var change = StateChange(documents: [HouseholdDocuments.reseal: nil])
            try await reseal(into: &change, under: ring, vault: document.vault, without: session.roster.revoked)
            try await store.write(change)
        }
        try await sendKeysToAll(ring)
    }

    /// Seals every record that is under an older key, or by a device of `gone`, as its next revision under the newest
    /// keys, by this computer; of the vault that it shares with phones, `HouseholdService+EpochKeys` does that. Entries of
    /// a vault's log stay as they are. So does a record that does not open, such as an invalid one, and prevents no
    /// revocation. The write fails if a sealed record was replaced meanwhile.
    func reseal(
        into change: inout StateChange, under ring: KeyRing, vault: ItemID, without gone: Set<ItemID>
    ) async throws {
        let records = try await store.vaultRecords() + store.tombstones(by: gone)
        try reseal(records.filter { $0.name.vault != sharedVault }, into: &change, under: ring, vault: vault) {
            $0.epoch < $1 || gone.contains($0.author)
        }
    }

    /// The same for the records for which `isDue` returns true, with the epoch of the newest key.
    func reseal(
        _ records: [StoredRecord], into change: inout StateChange, under ring: KeyRing, vault: ItemID,
        where isDue: (StoredRecord, UInt32) -> Bool
    ) throws {
        try VaultKeys(vault: vault, ring: ring, device: signingKey.publicKey.id)
            .reseal(records, into: &change, where: isDue)
    }
}
