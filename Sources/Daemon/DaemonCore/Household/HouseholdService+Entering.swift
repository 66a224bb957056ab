import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// The end of joining: the hub's data is checked before it is used.
extension HouseholdService {
    /// Makes this computer a member of the household.
    /// - Parameter vaultKeys: of the vault that it shares with the phones.
    func enter(
        _ joining: Joining, _ roster: Roster, _ secrets: HouseholdSecrets, _ vaultKeys: KeyRing
    ) async throws {
        do {
            try requireFree(for: joining.stored.household)
        } catch {
            throw JoiningRefusal(ControlError(hub: error).message)
        }
        if let old = session {
            // No other device was ever in it, and everything of it is here.
            try? await old.hub.removeHousehold()
            try await store.forgetHub(removing: HouseholdDocuments.ofHub)
            session = nil
        }
        let settings = joining.stored.settings
        // Before any record is read: those of a vault without keys here are not kept.
        try await keepVaultKeys(vaultKeys, of: roster.household)
        var change = StateChange(documents: [
            HouseholdDocuments.settings: try [UInt8](JSONEncoder().encode(settings)),
            HouseholdDocuments.keys: sealedKeys(secrets),
            HouseholdDocuments.roster: try Self.stored(roster),
            // Devices that were revoked before this computer joined never had its keys.
            HouseholdDocuments.answered: Array(String(roster.head.number).utf8),
            HouseholdDocuments.joining: nil, HouseholdDocuments.revocationNotice: nil,
        ])
        // A computer that admits another one sends its name too.
        if roster.isPhoneFounded {
            change.household = [
                try secrets.seal(DeviceName(name: shortName), .devices, secrets.device, revision: 1)
            ]
        }
        try await store.write(change)
        pairings = [:]
        revocationNotice = nil
        self.joining = nil
        answered = roster.head.number
        session = Session(settings: settings, secrets: secrets, roster: roster, hub: joining.hub)
        end(.joined, "This computer is in the household at \(settings.url).", url: settings.url)
        await log.append(.hubConnected, "This computer joined the household at \(settings.url).")
        events.send(.householdChanged)
    }

    /// Sends the keys of this computer's vaults to the household's phones, which can read them from then on.
    ///
    /// - Throws: as `PasscodeService.verify`, or `ControlError` with `hub`.
    func sendVaultKeys(_ passcode: SecretBytes, user: UInt32) async throws {
        _ = try requireSession()
        try await memberships.perform {
            try await sendMissingKeys(try await passcodes.openRing(passcode, user: user).ring)
        }
    }
}
