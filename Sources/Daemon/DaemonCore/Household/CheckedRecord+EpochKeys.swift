import Household
import SealedFormats

// Keys that all members of a household make. docs/formats.md, "Shared vaults".
extension CheckedRecord {
    /// Whether the entry of the list of members that begins its epoch may not have been read yet.
    func isAhead(of roster: Roster) -> Bool { epoch > roster.keysEpoch || roster.member(author.id) == nil }

    /// The keys of an epoch that this record has for a device.
    /// - Parameter roster: the newest one.
    /// - Returns: nil for another record of "keys", and for an epoch that ended before the device was admitted.
    /// - Throws: `RecordRefusal` for keys that were made ahead, and as `EpochKeys.open`.
    func epochKeys(for secrets: HouseholdSecrets, _ roster: Roster) throws -> KeyRing? {
        guard let sealed, name.id == EpochKeys.recordID(household: roster.household, epoch: epoch) else { return nil }
        // A member could make keys ahead otherwise, and open what is written after its own removal.
        guard epoch <= roster.keysEpoch else { throw RecordRefusal.unreadable }
        guard roster.member(author.id) != nil else { throw RecordRefusal.unknownAuthor }
        let keys = try EpochKeys.open(sealed, as: name, epoch: epoch, for: secrets.device, with: secrets.boxKey)
        if let keys { return keys }
        // Of later epochs, every member sends it the keys.
        let before = roster.history.prefix { $0.kind != .admit || $0.device != secrets.device }
        guard epoch <= UInt32(clamping: before.count { $0.kind == .revoke }) else { throw RecordRefusal.unreadable }
        return nil
    }
}
