import Foundation
import Household
import SealedFormats
import WireProtocol

// What a revoked device wrote while it belonged stays: it is read up to the end and becomes this computer's own.
extension HouseholdService {
    /// Revoked devices whose records were not all read yet.
    func departing() -> Set<ItemID> {
        guard let session else { return [] }
        return Set(
            session.roster.history.filter { $0.kind == .revoke && $0.number > answered }.map(\.device))
    }

    /// Reports a revocation to the hub, which takes nothing more from the device then, and reads what it wrote until that moment.
    ///
    /// - Parameter ring: the vaults' keys, where they are open.
    /// - Returns: sentences: what was done, and what could not be.
    func concludeRevocation(of device: ItemID, name: String, ring: KeyRing?) async -> [String] {
        var sentences: [String] = []
        do {
            try await finishRevocation()
            sentences.append("\(name) is revoked: it reads nothing that is written from now on.")
        } catch {
            sentences.append(
                "\(name) opens nothing that is written from now on. The hub could not be told yet "
                    + "(\(ControlError(hub: error).message)); AppLocker goes on trying.")
        }
        if revocation == nil {
            do {
                let number = try requireSession().roster.head.number
                try await readUpToDate()
                try await answer(upTo: number, vaultRing: ring)
            } catch {
                sentences.append(
                    "What \(name) wrote last could not be read yet (\(ControlError(hub: error).message)); "
                        + "AppLocker goes on trying.")
            }
        } else {
            sentences.append("What it wrote and this computer has not read is read with the next connection.")
        }
        if ring != nil, let unreadable = try? await store.countRecords(by: [device]), unreadable > 0 {
            sentences.append(
                unreadable == 1
                    ? "1 record of \(name) does not open and stays as it is."
                    : "\(unreadable) records of \(name) do not open and stay as they are.")
        }
        return sentences
    }

    /// Everything that the hub had when the roster was that long is read: what devices that it revokes wrote is sealed anew, now or
    /// when the vault is open. From then on nothing more is accepted from them.
    func concludeDepartures(upTo number: UInt64, vaultRing: KeyRing?) async throws {
        guard number > answered else { return }
        let gone = departing()
        if !gone.isEmpty, let vault = try await passcodes.vaultDocument()?.vault {
            if let ring = vaultRing {
                try await untilNobodyInterferes {
                    var change = StateChange()
                    try await reseal(into: &change, under: ring, vault: vault, without: gone)
                    try await store.write(change)
                }
            } else if try await store.countRecords(by: gone) > 0 {
                try await store.save([1], as: HouseholdDocuments.sealAnew)
            }
        }
        try await store.save(Array(String(number).utf8), as: HouseholdDocuments.answered)
        setAnswered(number)
    }

    /// Seals and sends what needs the keys of the open vault. It runs in `memberships` because keys are replaced there: an
    /// older ring would overwrite the newest keys that companions have received.
    func vaultOpened() async throws {
        try await memberships.perform {
            guard let ring = await vault.openKeys()?.ring else { return }
            try? await sealAnewWhereItWaits(ring)
            try await giveMissingKeys(ring)
        }
    }

    /// Keys were added to the ring of the open vault: companions get them too.
    func giveKeysOfOpenVault() async throws {
        try await memberships.perform {
            if let ring = await vault.openKeys()?.ring { try await giveKeysToAll(ring) }
        }
    }

    /// What is still sealed under keys that a revoked device knew, or signed by it, is sealed anew, and the companions get the
    /// whole ring.
    private func sealAnewWhereItWaits(_ ring: KeyRing) async throws {
        guard let session, try await store.document(HouseholdDocuments.sealAnew) != nil else { return }
        try await untilNobodyInterferes {
            let document = try await requireVaultDocument()
            var change = StateChange(documents: [HouseholdDocuments.sealAnew: nil])
            try await reseal(into: &change, under: ring, vault: document.vault, without: session.roster.revoked)
            try await store.write(change)
        }
        try await giveKeysToAll(ring)
    }

    /// Every record that is under older keys than the newest, or by a device that goes, as its next revision under the newest keys,
    /// by this computer. What does not open, as when a device wrote nonsense, stays as it is: it keeps no device from being revoked.
    /// The change is refused where another version has come in the place of one that was sealed anew.
    func reseal(
        into change: inout StateChange, under ring: KeyRing, vault: ItemID, without gone: Set<ItemID>
    ) async throws {
        let own = signingKey.publicKey.id
        let keys = VaultKeys(vault: vault, ring: ring, device: own)
        for record in try await store.vaultRecords() + store.tombstones(by: gone) {
            let kind: KeyRing.Kind = record.name.collection == .intruders ? .inbox : .vault
            guard let current = ring.current(kind, vault: record.name.vault)?.epoch,
                record.epoch < current || gone.contains(record.author), record.name.revision < HubRecord.maximumNumber
            else { continue }
            var resealed: StoredRecord?
            if record.sealed == nil {
                resealed = record.removed(by: own)
                resealed?.epoch = current
            } else {
                resealed = try keys.resealed(record, revision: record.name.revision + 1)
            }
            guard let resealed else { continue }
            change.resealed.append(resealed)
            change.replaced[resealed.name] = RecordStamp(of: record)
        }
    }
}
