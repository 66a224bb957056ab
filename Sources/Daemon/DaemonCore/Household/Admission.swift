import ControlAPI
import Household
import HubAPI
import SealedFormats

/// What the hub serves to this computer once it was admitted: checked before it is used.
struct Admission {
    let hub: any HubConnection
    let secrets: HouseholdSecrets
    /// The device that invited.
    let inviter: ItemID
    /// Whether it is a shared vault; a household that a phone founded is recognised by its list of devices.
    let usesEpochKeys: Bool

    struct Keys {
        /// The record that has them.
        let record: HubRecord
        /// With the status keys.
        let secrets: HouseholdSecrets
        /// Keys of vaults.
        let ofVault: KeyRing
    }

    private var own: RosterMember {
        RosterMember(role: .computer, signingKey: secrets.signingKey.publicKey, boxKey: secrets.boxKey.publicKey)
    }

    /// The list of devices, if it is the one of the link and contains this computer's own keys.
    /// - Throws: `JoiningRefusal`, and what the connection throws.
    func roster() async throws -> Roster {
        let entries = try await hub.roster(after: 0)
        guard let roster = try? Roster(entries: entries) else {
            throw Self.untrusted("The hub returned a tampered list of devices.")
        }
        guard roster.household == secrets.household else {
            throw Self.untrusted("The hub returned another household's devices.")
        }
        guard roster.member(inviter)?.role.administers == true else {
            throw JoiningRefusal(
                "The device that showed the link is not in the household any more. Nothing was changed here.")
        }
        guard !roster.revoked.contains(own.id) else {
            throw JoiningRefusal(
                usesEpochKeys
                    ? "Another member removed this computer meanwhile; ask for another invitation."
                    : HouseholdService.neverComesBack.message)
        }
        guard roster.member(own.id) == own else {
            throw Self.untrusted("The hub returned wrong keys for this computer.")
        }
        return roster
    }

    /// - Returns: nil if the other device has not sent the keys yet.
    /// - Throws: as `roster`.
    func keys(_ roster: Roster) async throws -> Keys? {
        let usesEpochKeys = usesEpochKeys || roster.isPhoneFounded
        let id =
            usesEpochKeys ? EpochKeys.recordID(household: roster.household, epoch: roster.keysEpoch) : own.id
        let record: HubRecord
        do {
            record = try await hub.record(RecordCollection.keys.rawValue, HubID(id))
        } catch let error as HubError where error.code == .notFound {
            return nil
        }
        var secrets = secrets
        do {
            let checked = try RecordCheck(roster).check(record, known: 0)
            guard checked.name.collection == .keys, checked.name.id == id else { throw RecordRefusal.malformed }
            guard let sealed = checked.sealed else { return nil }
            let ring: KeyRing
            if usesEpochKeys {
                guard checked.epoch == roster.keysEpoch else { throw RecordRefusal.malformed }
                let opened = try EpochKeys.open(
                    sealed, as: checked.name, epoch: checked.epoch, for: own.id, with: secrets.boxKey)
                guard let opened else { return nil }
                ring = opened
            } else {
                ring = try DeviceKeys.open(sealed, as: checked.name, with: secrets.boxKey)
            }
            try secrets.add(KeyRing(ring.entries.filter { $0.kind == .status && $0.vault == secrets.household }))
            guard secrets.epoch > 0 else { return nil }
            return Keys(
                record: record, secrets: secrets, ofVault: KeyRing(ring.entries.filter { $0.kind == .vault }))
        } catch {
            throw Self.untrusted("The keys from the hub are not from a device of the household.")
        }
    }

    private static func untrusted(_ sentence: String) -> JoiningRefusal {
        JoiningRefusal("\(sentence) It can't be trusted; nothing was changed here.", isHubsFault: true)
    }
}
