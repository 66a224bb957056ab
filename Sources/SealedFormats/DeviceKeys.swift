import Foundation

/// The keys that a household gives to one of its devices, boxed to it.
public enum DeviceKeys {
    /// - Parameters:
    ///   - name: of collection "keys", the household as its vault and the device as its id.
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
