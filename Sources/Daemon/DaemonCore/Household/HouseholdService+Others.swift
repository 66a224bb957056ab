import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync

// Decisions of other computers of the household, and how this one answers them.
extension HouseholdService {
    /// Answers roster entries that other computers signed. Devices that they revoked, or that left, had keys of this
    /// computer too, so it makes new ones; devices that they admitted receive its keys. Call it after everything is
    /// read that the hub had when the roster was followed: earlier records of departing devices are sealed again.
    ///
    /// Two computers may revoke devices at the same moment, and each send its new keys to the device that the other one
    /// revokes. Both then run this and make newer keys, which neither of the two devices gets.
    ///
    /// - Parameter number: the number of the roster's newest entry then.
    func answerOthers(upTo number: UInt64) async throws {
        guard session != nil else { return }
        try await memberships.perform {
            let ring = await vault.openKeys()?.ring
            try await answer(upTo: number, vaultRing: ring)
            // What the hub refuses, such as for its quota, must not end the connection.
            try? await settleEpochKeys(ring)
        }
    }

    /// The same, for a caller that already runs in `memberships.perform`.
    func answer(upTo number: UInt64, vaultRing: KeyRing?) async throws {
        guard let session else { return }
        let (own, answered) = (session.secrets.device, answered)
        let newEntries = session.roster.history.filter {
            $0.number > answered && $0.number <= number && $0.author != own && $0.device != own
        }
        let revoked = newEntries.filter { $0.kind == .revoke }
        if !revoked.isEmpty {
            let departure = Departure.elsewhere(Set(revoked.map(\.device)), upTo: number)
            try await retryingOnConflict {
                // A computer never had keys of this one's vaults.
                if revoked.contains(where: { $0.role.isCompanion }), try await passcodes.vaultDocument() != nil {
                    try await replaceKeysWithoutPasscode(departure)
                } else {
                    try await replaceStatusKey(departure)
                }
            }
            await log.append(
                .deviceRevoked,
                revoked.count == 1
                    ? "Another device revoked a device; this computer replaced its keys."
                    : "Another device revoked \(revoked.count) devices; this computer replaced its keys.")
        }
        try await welcome(newEntries.filter { $0.kind == .admit }.map(\.device))
        try await concludeDepartures(
            upTo: number, vaultRing: revoked.isEmpty ? vaultRing : await vault.openKeys()?.ring)
    }

    private func replaceStatusKey(_ departure: Departure) async throws {
        let ring = await vault.openKeys()?.ring
        try await write(
            StateChange(documents: ring == nil ? [HouseholdDocuments.keysOwed: [1]] : [:]), departure,
            vaultRing: ring ?? KeyRing([]))
    }

    /// Sends this computer's keys to devices that another one admitted; keys of its vaults follow once they are open.
    private func welcome(_ devices: [ItemID]) async throws {
        guard let session, !devices.isEmpty else { return }
        let ring = await vault.openKeys()?.ring
        var change = StateChange()
        for member in keyHolders where devices.contains(member.id) {
            change.household.append(
                try await keysRecord(for: member, of: session.secrets, vaultRing: ring ?? KeyRing([])))
            if ring == nil, member.role.isCompanion { change.documents[HouseholdDocuments.keysOwed] = [1] }
        }
        try await store.write(change)
        if !change.household.isEmpty { events.send(.recordsQueued) }
    }

    /// Whether records of a vault are kept here: of this computer's own vaults, or of all as long as it has none.
    func keepsRecords() async throws -> @Sendable (ItemID) -> Bool {
        guard let document = try await passcodes.vaultDocument() else { return { _ in true } }
        return { document.isOwn($0) }
    }

    /// Forgets the household after the hub has rejected this computer, if the roster, which a hub still serves to it,
    /// has the entry by which another computer revoked it. Local data stays.
    ///
    /// - Returns: false if there is no such entry: the rejection alone proves nothing.
    func leaveIfRevoked() async throws -> Bool {
        guard let session, session.roster.revoked.contains(session.secrets.device) else { return false }
        let sentence =
            "Another device removed this one from the household at \(session.settings.url). Notes, files and photos of this "
            + "computer are still here; phones are no longer notified by it."
        try await rememberLeaving(session.roster.household)
        try await store.forgetHub(removing: HouseholdDocuments.ofHub)
        try await store.write(
            StateChange(documents: [
                HouseholdDocuments.declined: [1], HouseholdDocuments.revocationNotice: Array(sentence.utf8),
            ]))
        self.session = nil
        revocation = nil
        pairings = [:]
        revocationNotice = sentence
        events.send(.householdChanged)
        await log.append(.hubDisconnected, sentence)
        return true
    }
}
