import Foundation

/// The keys of a household, boxed to one of its devices.
public enum DeviceKeys {
    /// The id of the record with a computer's keys for a device that another computer admitted (docs/formats.md, "Keys of a
    /// household").
    public static func recordID(from sender: ItemID, to receiver: ItemID) -> ItemID {
        var fields = Fields("applocker/1/keys")
        fields.add(sender.bytes)
        fields.add(receiver.bytes)
        return fields.id
    }

    /// Whether a record of "keys" with this id and author is for this device.
    public static func isFor(_ receiver: ItemID, id: ItemID, author: ItemID) -> Bool {
        id == receiver || id == recordID(from: author, to: receiver)
    }

    /// - Parameters:
    ///   - name: of collection "keys", the household as its vault; the id is the device's, or `recordID`.
    ///   - recipient: the device's box key, from the roster.
    /// - Throws: `SealedFormatsError` with code `tooLarge`.
    public static func seal(
        _ ring: KeyRing, as name: RecordName, to recipient: BoxPublicKey
    ) throws(SealedFormatsError) -> [UInt8] {
        var body = ring.plaintext.withUnsafeBytes { Array($0) }
        defer { body.withUnsafeMutableBytes { wipe($0) } }
        return try PublicKeyBox.seal(body, as: name, to: recipient)
    }

    /// - Throws: `SealedFormatsError` as `PublicKeyBox.open`, or with code `malformed`.
    public static func open(
        _ box: [UInt8], as name: RecordName, with keys: BoxKeyPair
    ) throws(SealedFormatsError) -> KeyRing {
        var body = try PublicKeyBox.open(box, as: name, with: keys)
        return try KeyRing(plaintext: body.withUnsafeMutableBytes { SecretBytes(wiping: $0) })
    }
}
