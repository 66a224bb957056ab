import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

// The end of joining: the hub's data is checked before it is used.
extension HouseholdService {
    /// The list of devices, if it is the one of the link and contains this computer's own keys.
    /// - Throws: `JoiningRefusal`, and what the connection throws.
    func checkedRoster(_ joining: Joining) async throws -> Roster {
        let entries = try await joining.hub.roster(after: 0)
        guard let roster = try? Roster(entries: entries) else {
            throw Self.untrusted("The hub returned a tampered list of devices.")
        }
        guard roster.household == joining.stored.household else {
            throw Self.untrusted("The hub returned another household's devices.")
        }
        guard roster.member(joining.stored.computer)?.role.administers == true else {
            throw JoiningRefusal(
                "The device that showed the link is not in the household any more. Nothing was changed here.")
        }
        guard !roster.revoked.contains(joining.own.id) else {
            throw JoiningRefusal(Self.neverComesBack.message)
        }
        guard roster.member(joining.own.id) == joining.own else {
            throw Self.untrusted("The hub returned wrong keys for this computer.")
        }
        return roster
    }

    /// The status keys, and those of the vault that the computer shares with the phones, if a phone founded the household.
    /// - Returns: nil if the other device has not sent the keys yet.
    /// - Throws: as `checkedRoster`.
    func checkedKeys(
        _ joining: Joining, _ roster: Roster
    ) async throws -> (secrets: HouseholdSecrets, ofVault: KeyRing)? {
        let id =
            roster.isPhoneFounded
            ? EpochKeys.recordID(household: roster.household, epoch: roster.keysEpoch) : joining.own.id
        let record: HubRecord
        do {
            record = try await joining.hub.record(RecordCollection.keys.rawValue, HubID(id))
        } catch let error as HubError where error.code == .notFound {
            return nil
        }
        var secrets = joining.secrets
        do {
            let checked = try RecordCheck(roster).check(record, known: 0)
            guard checked.name.collection == .keys, checked.name.id == id else { throw RecordRefusal.malformed }
            guard let sealed = checked.sealed else { return nil }
            let ring: KeyRing
            if roster.isPhoneFounded {
                guard checked.epoch == roster.keysEpoch else { throw RecordRefusal.malformed }
                let own = try EpochKeys.open(
                    sealed, as: checked.name, epoch: checked.epoch, for: joining.own.id, with: secrets.boxKey)
                guard let own else { return nil }
                ring = own
            } else {
                ring = try DeviceKeys.open(sealed, as: checked.name, with: secrets.boxKey)
            }
            try secrets.add(KeyRing(ring.entries.filter { $0.kind == .status && $0.vault == secrets.household }))
            guard secrets.epoch > 0 else { return nil }
            // Keys of other vaults are dropped: this computer must not have them while it is locked.
            return (secrets, KeyRing(roster.isPhoneFounded ? ring.entries.filter { $0.kind == .vault } : []))
        } catch {
            throw Self.untrusted("The keys from the hub are not from a device of the household.")
        }
    }

    private static func untrusted(_ sentence: String) -> JoiningRefusal {
        JoiningRefusal("\(sentence) " + "It can't be trusted; nothing was changed here.", isHubsFault: true)
    }

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
