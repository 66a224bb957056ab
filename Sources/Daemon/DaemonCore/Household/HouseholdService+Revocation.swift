import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// Revoking a device.
extension HouseholdService {
    // MARK: Revocation

    /// Revokes a device: the hub ends its token, push subscription and PIN share, and its keys are replaced.
    ///
    /// Everything that does not need the hub is one transaction: new keys, every record sealed again under them, and
    /// the keys boxed to the remaining devices. The hub is informed afterwards, now or when it can be reached.
    ///
    /// - Parameter reader: reads the device's last records.
    /// - Returns: sentences about the outcome.
    /// - Throws: as `PasscodeService.verify`, or `ControlError` with `noSuchItem`, `badRequest` or `hub`.
    func revoke(
        _ reference: String, passcode: SecretBytes, user: UInt32, reader: SyncEngine
    ) async throws -> [String] {
        let (member, name) = try await member(reference)
        guard member.id != signingKey.publicKey.id else {
            throw ControlError(.badRequest, "This computer can't revoke itself. Leave with `applocker hub disconnect`.")
        }
        return try await memberships.perform {
            try await requireNoRevocation()
            let opened = try await passcodes.openRing(passcode, user: user)
            try? await reader.readUpToDate()
            let ring = try await retryingOnConflict {
                try await replaceKeys(without: member, name: name, ring: opened.ring, rootKey: opened.rootKey)
            }
            await log.append(.deviceRevoked, user: user, "\(name) was revoked: every key that it knew is replaced.")
            return await concludeRevocation(of: member.id, name: name, ring: ring, reader: reader)
        }
    }

    /// The departure of devices.
    enum Departure {
        /// This computer revoked it; the hub is informed afterwards.
        case decidedHere(ItemID, name: String)
        /// The roster revokes them, up to the entry of this number.
        case elsewhere(Set<ItemID>, upTo: UInt64)

        var devices: Set<ItemID> {
            switch self {
            case .decidedHere(let device, _): [device]
            case .elsewhere(let devices, _): devices
            }
        }
    }

    /// The names of the remaining devices under new keys, and a tombstone for the name of `gone`. In a household that a
    /// phone founded new members receive the earlier status keys too: only names that `gone` signed are written again.
    private func names(but gone: ItemID, _ session: Session, _ secrets: HouseholdSecrets) async throws -> [HubRecord] {
        var records: [HubRecord] = []
        for member in session.roster.members where member.id != gone {
            let stored = await storedName(of: member.id, session)
            if session.roster.isPhoneFounded {
                let author = try await store.householdRecord(.devices, member.id)?.author.item
                guard author == gone, stored != nil else { continue }
            }
            let body = stored ?? DeviceName(name: Self.unnamed)
            records.append(
                try secrets.seal(body, .devices, member.id, revision: try await nextRevision(.devices, member.id)))
        }
        let name = RecordName(
            vault: secrets.household, collection: .devices, id: gone,
            revision: try await nextRevision(.devices, gone))
        return records + [secrets.sign(name, epoch: secrets.epoch, sealed: nil)]
    }

    /// Tombstones of the keys that were boxed to departing devices.
    private func keysThatEnd(
        _ devices: Set<ItemID>, _ roster: Roster, _ secrets: HouseholdSecrets
    ) async throws -> [HubRecord] {
        var records: [HubRecord] = []
        for device in devices {
            let id = roster.keysRecord(from: secrets.device, to: device)
            guard let known = try await store.householdRecord(.keys, id), known.sealed != nil else { continue }
            let name = RecordName(
                vault: secrets.household, collection: .keys, id: id, revision: known.revision + 1)
            records.append(secrets.sign(name, epoch: secrets.epoch, sealed: nil))
        }
        return records
    }

    /// Revokes a companion at the request of another one, or of itself. Without the owner's passcode, new keys of the
    /// vaults are boxed to the vault's own inbox, which that passcode opens.
    ///
    /// - Parameters:
    ///   - author: the name of the requesting device.
    ///   - reader: reads the device's last records.
    /// - Returns: a sentence.
    /// - Throws: `ControlError` with `noSuchItem`, `notYours`, `busy` or `failed`.
    func revoke(_ device: ItemID, requestedBy author: String, reader: SyncEngine) async throws -> String {
        guard let member = try requireSession().roster.member(device) else {
            throw ControlError(.noSuchItem, "There is no such device; it may have been revoked already.")
        }
        guard member.role.isCompanion else {
            throw ControlError(
                .notYours, "A computer is revoked at a computer, with the passcode: `applocker devices revoke`.")
        }
        let name = await name(of: device)
        return try await memberships.perform {
            try await requireNoRevocation()
            try? await reader.readUpToDate()
            try await retryingOnConflict {
                try await replaceKeysWithoutPasscode(.decidedHere(member.id, name: name))
            }
            await log.append(
                .deviceRevoked, "\(name) was revoked by \(author): every key that it knew is replaced.")
            let ring = await vault.openKeys()?.ring
            return await concludeRevocation(of: member.id, name: name, ring: ring, reader: reader)
                .joined(separator: " ")
        }
    }

    private func requireNoRevocation() async throws {
        if revocation != nil { try? await finishRevocation() }
        guard revocation == nil else {
            throw ControlError(.busy, "The previous revocation has not reached the hub yet. Try again.")
        }
    }

    /// - Returns: the ring that is in force from now on.
    private func replaceKeys(
        without member: RosterMember, name: String, ring: KeyRing, rootKey: SecretBytes
    ) async throws -> KeyRing {
        // An import may have added keys since the passcode was checked.
        let stored = try await passcodes.storedRing(rootKey: rootKey)
        let ring = try ring.adding(stored.ring.entries)
        var fresh: [KeyRing.Entry] = []
        // Those of a household that a phone founded are made once the hub has the revocation.
        for vault in Set(ring.entries.map(\.vault)) where vault != sharedVault {
            for kind in [KeyRing.Kind.vault, .inbox] {
                guard let current = ring.current(kind, vault: vault) else { continue }
                guard current.epoch < .max else {
                    throw ControlError(.failed, "A vault has reached its last key epoch; its key can't be replaced.")
                }
                let key = kind == .inbox ? BoxKeyPair().privateKey : SecretBytes.random(count: 32)
                fresh.append(.init(kind: kind, vault: vault, epoch: current.epoch + 1, key: key))
            }
        }
        let newRing = try ring.adding(fresh)
        var document = try await passcodes.requireVaultDocument()
        if let inbox = newRing.current(.inbox, vault: document.vault) {
            document.inboxPublicKey = Data(try BoxKeyPair(privateKey: inbox.key).publicKey.bytes)
            document.inboxEpoch = inbox.epoch
        }
        document.epochs = newRing.vaultEpochs
        var change = StateChange(documents: [
            VaultDocuments.ring: newRing.sealed(under: rootKey),
            VaultDocuments.vault: try [UInt8](JSONEncoder().encode(document)),
            HouseholdDocuments.reseal: nil,
        ])
        change.unchanged[VaultDocuments.ring] = stored.bytes
        // Tombstones by devices that were revoked earlier may still need this computer's signature.
        let gone = try requireSession().roster.revoked.union([member.id])
        try await reseal(into: &change, under: newRing, vault: document.vault, without: gone)
        try await passcodes.whileRingIsStill { [change, newRing] in
            try await self.write(change, .decidedHere(member.id, name: name), vaultRing: newRing)
        }
        await vault.replaceRing(newRing)
        return newRing
    }

    /// The same while the vault may be locked. Then only the remaining devices have the new keys of the vaults, and
    /// local records are sealed again as soon as the vault is open.
    func replaceKeysWithoutPasscode(_ departure: Departure) async throws {
        try await passcodes.whileRingIsStill {
            let open = await self.vault.openKeys()?.ring
            var document = try await self.passcodes.requireVaultDocument()
            let (fresh, epochs) = try await self.freshKeys(document, open)
            var pending = try await self.passcodes.pendingKeys()
            try pending.add(fresh, to: document)
            guard let inbox = fresh.current(.inbox, vault: document.vault) else { throw ControlError.noVault }
            document.inboxPublicKey = Data(try BoxKeyPair(privateKey: inbox.key).publicKey.bytes)
            document.inboxEpoch = inbox.epoch
            document.epochs = epochs
            let newRing = try (open ?? KeyRing([])).adding(fresh.entries)
            var change = StateChange(documents: [
                PendingKeys.documentName: try [UInt8](JSONEncoder().encode(pending)),
                VaultDocuments.vault: try [UInt8](JSONEncoder().encode(document)),
            ])
            if open == nil {
                change.documents[HouseholdDocuments.reseal] = [1]
            } else {
                try await self.reseal(
                    into: &change, under: newRing, vault: document.vault, without: departure.devices)
            }
            try await self.write(change, departure, vaultRing: newRing)
            if open != nil { await self.vault.replaceRing(newRing) }
        }
    }

    /// The next key of every vault, and of the inbox of this computer's vault.
    private func freshKeys(
        _ document: VaultDocument, _ open: KeyRing?
    ) async throws -> (keys: KeyRing, epochs: [String: UInt32]) {
        var epochs = document.epochs ?? open?.vaultEpochs ?? [:]
        if epochs.isEmpty {
            let sealed = try await store.vaultRecords().filter { $0.name.vault == document.vault }.map(\.epoch)
            epochs[document.vault.description] = max(document.inboxEpoch, sealed.max() ?? 1)
        }
        // Authors choose the epochs of their records, so any number is possible.
        let shared = sharedVault?.description
        for (vault, epoch) in epochs where vault != shared { epochs[vault] = epoch == .max ? .max : epoch + 1 }
        var keys: [KeyRing.Entry] = []
        for (text, epoch) in epochs where text != shared {
            guard let vault = ItemID(text) else { continue }
            keys.append(.init(kind: .vault, vault: vault, epoch: epoch, key: .random(count: 32)))
            guard vault == document.vault else { continue }
            keys.append(.init(kind: .inbox, vault: vault, epoch: epoch, key: BoxKeyPair().privateKey))
        }
        return (try KeyRing([]).adding(keys), epochs)
    }

    /// Writes new keys with the records that inform the other devices, and uses them from then on.
    func write(_ written: StateChange, _ departure: Departure, vaultRing: KeyRing) async throws {
        try await keyChanges.perform { try await writeNext(written, departure, vaultRing) }
    }

    private func writeNext(_ written: StateChange, _ departure: Departure, _ vaultRing: KeyRing) async throws {
        let session = try requireSession()
        let roster = session.roster
        var secrets = session.secrets
        if !roster.isPhoneFounded {
            let epoch = roster.nextStatusEpoch(after: secrets.epoch, by: secrets.device)
            try secrets.add(
                KeyRing([.init(kind: .status, vault: secrets.household, epoch: epoch, key: .random(count: 32))]),
                madeHere: true)
        }
        var change = written
        change.documents[HouseholdDocuments.keys] = sealedKeys(secrets)
        var going = Set(revocation.map { [$0.device] } ?? [])
        var revocation = revocation
        switch departure {
        case .decidedHere(let device, let name):
            let decided = StoredRevocation(device: device, name: name)
            change.documents[HouseholdDocuments.revocation] = try [UInt8](JSONEncoder().encode(decided))
            change.documents[HouseholdDocuments.formerNames] = try await storedFormerNames(adding: device, name)
            revocation = decided
            going = [device]
            change.household += try await names(but: device, session, secrets)
        case .elsewhere(let devices, let number):
            change.documents[HouseholdDocuments.answered] = Array(String(number).utf8)
            going.formUnion(devices)
        }
        for other in roster.members where getsKeys(other) && !going.contains(other.id) {
            change.household.append(try await keysRecord(for: other, of: secrets, vaultRing: vaultRing))
        }
        change.household += try await keysThatEnd(going, roster, secrets)
        try await store.write(change)
        adopt(secrets, revocation: revocation)
    }

    /// Sends a pending revocation to the hub.
    func finishRevocation() async throws {
        guard let revocation else { return }
        let device = HubID(revocation.device)
        var change = HubAPI.RosterChange.revoke(device: device)
        for attempt in 1...4 {
            var roster = try await followRoster()
            guard roster.member(revocation.device) != nil else { break }
            let entry = roster.revoking(revocation.device, by: signingKey, at: clock / 1_000)
            do {
                try await requireSession().hub.append(
                    RosterAppendRequest(number: roster.head.number + 1, entry: Data(entry), change: change))
            } catch let error as HubError where error.code == .conflict && attempt < 4 {
                continue
            } catch let error as HubError where error.code == .notFound && attempt < 4 {
                // The hub has lost the device, as after a restored backup; the other devices still need the entry.
                change = .restore(revoked: device)
                continue
            }
            try roster.append(entry)
            try await store.save(Self.stored(roster), as: HouseholdDocuments.roster)
            takeOver(roster)
            break
        }
        try await store.write(StateChange(documents: [HouseholdDocuments.revocation: nil]))
        self.revocation = nil
        events.send(.recordsQueued)
    }
}
