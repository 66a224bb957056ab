import Foundation

/// The keys of one epoch of a household whose keys no single computer makes: a shared vault, or a household that a phone
/// founded. One record has a box for each member, so that two members can't make two sets. docs/formats.md, "Shared vaults".
public enum EpochKeys {
    private static let magic = "APVK"

    /// The one vault of such a household.
    public static func vault(of household: ItemID) -> ItemID {
        var fields = Fields("applocker/1/shared-vault")
        fields.add(household.bytes)
        return fields.id
    }

    /// The id of the record with an epoch's keys.
    public static func recordID(household: ItemID, epoch: UInt32) -> ItemID {
        var fields = Fields("applocker/1/vault-keys")
        fields.add(household.bytes)
        fields.add(epoch)
        return fields.id
    }

    /// Identifies a member to the devices of its own household: to others it is a random number, as they don't know the id of
    /// the device there.
    public static func owner(household: ItemID, member: ItemID, device: ItemID) -> ItemID {
        var fields = Fields("applocker/1/vault-owner")
        for id in [household, member, device] { fields.add(id.bytes) }
        return fields.id
    }

    /// The box of each member.
    /// - Throws: `SealedFormatsError` with code `malformed` or `unknownVersion`.
    public static func boxes(_ sealed: [UInt8]) throws(SealedFormatsError) -> [ItemID: [UInt8]] {
        var reader = ByteReader(sealed, subject: "record of keys")
        try reader.magic(magic)
        let count = Int(try reader.number(UInt16.self))
        var boxes: [ItemID: [UInt8]] = [:]
        for _ in 0..<count {
            let member = try reader.id()
            let length = try reader.number(UInt32.self)
            boxes[member] = try reader.bytes(Int(length))
        }
        try reader.end()
        return boxes
    }

    /// - Parameter name: of collection "keys", the household as its vault, `recordID` as its id.
    /// - Throws: `SealedFormatsError` with code `tooLarge`.
    public static func seal(
        _ ring: KeyRing, as name: RecordName, to members: [RosterMember]
    ) throws(SealedFormatsError) -> [UInt8] {
        var sealed = Array(magic.utf8) + [1] + UInt16(members.count).bigEndianBytes
        for member in members {
            let box = try DeviceKeys.seal(ring, as: name.with(id: member.id), to: member.boxKey)
            sealed += member.id.bytes + UInt32(box.count).bigEndianBytes + box
        }
        return sealed
    }

    /// The keys in a member's box: those of the household, of every epoch up to this one.
    /// - Returns: nil where there is no box for the member.
    /// - Throws: `SealedFormatsError`; with code `malformed` also for keys of another household or of a later epoch.
    public static func open(
        _ sealed: [UInt8], as name: RecordName, epoch: UInt32, for member: ItemID, with keys: BoxKeyPair
    ) throws(SealedFormatsError) -> KeyRing? {
        guard let box = try boxes(sealed)[member] else { return nil }
        let ring = try DeviceKeys.open(box, as: name.with(id: member), with: keys)
        let (household, vault) = (name.vault, vault(of: name.vault))
        let areOurs = ring.entries.allSatisfy { entry in
            entry.epoch <= epoch
                && (entry.kind == .vault && entry.vault == vault || entry.kind == .status && entry.vault == household)
        }
        guard name.collection == .keys, name.id == recordID(household: household, epoch: epoch), areOurs,
            ring.key(.vault, vault: vault, epoch: epoch) != nil,
            ring.key(.status, vault: household, epoch: epoch) != nil
        else {
            throw SealedFormatsError(.malformed, "The record of keys has keys of another household or epoch.")
        }
        return ring
    }
}

extension Roster {
    /// The current epoch of the keys: each revocation or departure begins one.
    public var keysEpoch: UInt32 { UInt32(clamping: revoked.count) + 1 }

    /// The last epoch whose keys a former member had; nil for any other device.
    public func lastKeysEpoch(of device: ItemID) -> UInt32? {
        let revocations = history.filter { $0.kind == .revoke }
        return revocations.firstIndex { $0.device == device }.map { UInt32(clamping: $0) + 1 }
    }
}

extension RecordName {
    fileprivate func with(id: ItemID) -> RecordName {
        var name = self
        name.id = id
        return name
    }
}
