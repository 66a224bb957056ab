import Foundation
import Household
import SealedFormats
import WireProtocol

// What other computers of the household decide, and what this one does about it.
extension HouseholdService {
    /// Answers roster entries that other computers signed. A device that they revoked, or that left by itself, knew keys of this
    /// computer too, so it makes new ones; a device that they admitted receives its keys. Call it after everything is read that
    /// the hub had when the roster was followed: it seals anew what the devices that go wrote before.
    ///
    /// Two computers may revoke devices at the same moment, and each give its new keys to the device that the other one
    /// revokes. Both then run this and make newer keys, which neither of the two devices gets.
    ///
    /// - Parameter number: of the roster's newest entry then.
    func answerOthers(upTo number: UInt64) async throws {
        guard session != nil else { return }
        try await memberships.perform { try await answer(upTo: number, vaultRing: await vault.openKeys()?.ring) }
    }

    /// The same, for a caller that already runs in `memberships.perform`.
    func answer(upTo number: UInt64, vaultRing: KeyRing?) async throws {
        guard let session else { return }
        let (own, answered) = (session.secrets.device, answered)
        let news = session.roster.history.filter {
            $0.number > answered && $0.number <= number && $0.author != own && $0.device != own
        }
        let gone = news.filter { $0.kind == .revoke }
        if !gone.isEmpty {
            let departure = Departure.elsewhere(Set(gone.map(\.device)), upTo: number)
            try await untilNobodyInterferes {
                // A computer never had keys of this one's vaults.
                if gone.contains(where: { $0.role == .companion }), try await passcodes.vaultDocument() != nil {
                    try await replaceKeysWithoutPasscode(departure)
                } else {
                    try await replaceStatusKey(departure)
                }
            }
            await log.record(
                .deviceRevoked,
                "Another computer's word: \(gone.count) "
                    + (gone.count == 1 ? "device is" : "devices are") + " gone; this one has replaced its keys.")
        }
        try await welcome(news.filter { $0.kind == .admit }.map(\.device))
        try await concludeDepartures(upTo: number, vaultRing: gone.isEmpty ? vaultRing : await vault.openKeys()?.ring)
    }

    private func replaceStatusKey(_ departure: Departure) async throws {
        let ring = await vault.openKeys()?.ring
        try await write(
            StateChange(documents: ring == nil ? [HouseholdDocuments.keysOwed: [1]] : [:]), departure,
            vaultRing: ring ?? KeyRing([]))
    }

    /// Gives this computer's keys to devices that another one let in: of its vaults as soon as they are open.
    private func welcome(_ devices: [ItemID]) async throws {
        guard let session, !devices.isEmpty else { return }
        let ring = await vault.openKeys()?.ring
        var change = StateChange()
        for member in keyHolders where devices.contains(member.id) {
            change.household.append(
                try await keysRecord(for: member, of: session.secrets, vaultRing: ring ?? KeyRing([])))
            if ring == nil, member.role == .companion { change.documents[HouseholdDocuments.keysOwed] = [1] }
        }
        try await store.write(change)
        if !change.household.isEmpty { await queued() }
    }

    /// The vaults whose records are kept here; nil: of all, as long as it is not known which this computer has keys of.
    func keepsRecords() async throws -> @Sendable (ItemID) -> Bool {
        guard let document = try await passcodes.vaultDocument() else { return { _ in true } }
        return { document.isOwn($0) }
    }

    /// The hub does not know this computer any more. Where the list of devices has the entry by which another computer revoked
    /// it, which a hub serves it all the same, the household is forgotten. What is here stays.
    ///
    /// - Returns: false where there is no such entry: the hub's word alone proves nothing.
    func forgetWhereItWasPutOut() async throws -> Bool {
        guard let session, session.roster.revoked.contains(session.secrets.device) else { return false }
        let sentence =
            "Another computer removed this one from the household at \(session.settings.url). Notes, files and photos of this "
            + "computer are still here; phones don't hear of it any more."
        try await rememberLeaving(session.roster.household)
        try await store.forgetHub(removing: HouseholdDocuments.ofHub)
        try await store.write(
            StateChange(documents: [
                HouseholdDocuments.declined: [1], HouseholdDocuments.putOut: Array(sentence.utf8),
            ]))
        self.session = nil
        revocation = nil
        pairings = [:]
        putOut = sentence
        await onSession?()
        await log.record(.hubDisconnected, sentence)
        return true
    }
}
