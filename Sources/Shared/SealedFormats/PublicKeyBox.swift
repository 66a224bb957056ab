import Crypto
public import Foundation

/// A key pair for sealing to the holder of the private key: P-256, for HPKE (RFC 9180).
public struct BoxKeyPair: Sendable {
    /// The private scalar, 32 bytes.
    public let privateKey: SecretBytes
    public let publicKey: BoxPublicKey

    public init() {
        let key = P256.KeyAgreement.PrivateKey()
        var raw = key.rawRepresentation
        privateKey = raw.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
        publicKey = BoxPublicKey(key.publicKey)
    }

    /// - Throws: `SealedFormatsError` with code `malformed` unless the bytes are a P-256 scalar.
    public init(privateKey: SecretBytes) throws(SealedFormatsError) {
        guard let key = try? privateKey.withUnsafeBytes({ try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) })
        else {
            throw SealedFormatsError(.malformed, "This is not a private key of P-256; restore it from a backup.")
        }
        self.privateKey = privateKey
        publicKey = BoxPublicKey(key.publicKey)
    }
}

/// Seals what only the private half opens.
public struct BoxPublicKey: Hashable, Sendable {
    /// 65 bytes, X9.63 uncompressed.
    public let bytes: [UInt8]

    fileprivate init(_ key: P256.KeyAgreement.PublicKey) { bytes = Array(key.x963Representation) }

    /// - Throws: `SealedFormatsError` with code `malformed` unless the 65 bytes are a point of P-256.
    public init(bytes: [UInt8]) throws(SealedFormatsError) {
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: bytes) else {
            throw SealedFormatsError(.malformed, "This is not a public key of P-256; restore it from a backup.")
        }
        self.init(key)
    }

    /// The first 8 bytes of the key's SHA-256.
    var fingerprint: [UInt8] { Array(SHA256.hash(data: bytes).prefix(8)) }
}

/// What was sealed to a public key: HPKE base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
public enum PublicKeyBox {
    private static let suite = HPKE.Ciphersuite(
        kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .AES_GCM_256)
    private static let encapsulatedKeyLength = 65

    /// A record's body, padded, bound to the record's name. At most 16 MiB less the padding.
    /// - Throws: `SealedFormatsError` with code `tooLarge`.
    public static func seal(
        _ body: some Collection<UInt8>, as name: RecordName, to recipient: BoxPublicKey
    ) throws(SealedFormatsError) -> [UInt8] {
        var padded = try Padding.pad(body)
        defer { padded.withUnsafeMutableBytes { wipe($0) } }
        return try seal(padded, purpose: "record", data: boundData(name), to: recipient)
    }

    /// - Throws: `SealedFormatsError` with code `malformed`, `unknownVersion`, `wrongKey` or `damaged`.
    public static func open(
        _ box: [UInt8], as name: RecordName, with keys: BoxKeyPair
    ) throws(SealedFormatsError) -> Data {
        var padded = try open(box, purpose: "record", data: boundData(name), with: keys)
        guard let body = Padding.unpad(wiping: &padded) else { throw damaged }
        return body
    }

    /// - Parameters:
    ///   - purpose: what the message is for; it opens for no other.
    ///   - data: what else is bound.
    static func seal(
        _ message: some DataProtocol, purpose: String, data: [UInt8], to recipient: BoxPublicKey
    ) throws(SealedFormatsError) -> [UInt8] {
        do {
            let key = try P256.KeyAgreement.PublicKey(x963Representation: recipient.bytes)
            var sender = try HPKE.Sender(recipientKey: key, ciphersuite: suite, info: info(purpose))
            let sealed = try sender.seal(message, authenticating: data)
            return Array("APBX".utf8) + [1] + recipient.fingerprint + sender.encapsulatedKey + sealed
        } catch {
            throw SealedFormatsError(
                .malformed, "This public key can't be used for sealing; restore it from a backup.", cause: error)
        }
    }

    static func open(
        _ box: [UInt8], purpose: String, data: [UInt8], with keys: BoxKeyPair
    ) throws(SealedFormatsError) -> Data {
        var reader = ByteReader(box, subject: "sealed box")
        try reader.magic("APBX")
        guard try reader.bytes(8) == keys.publicKey.fingerprint else {
            throw SealedFormatsError(.wrongKey, "The box was sealed to another key; it can't be opened here.")
        }
        let encapsulated = try reader.bytes(encapsulatedKeyLength)
        return try openMessage(
            reader.rest(), encapsulatedKey: encapsulated, info: info(purpose), data: data, with: keys)
    }

    /// RFC 9180 as it is: the first message of a context in base mode.
    static func openMessage(
        _ sealed: [UInt8], encapsulatedKey: [UInt8], info: Data, data: [UInt8], with keys: BoxKeyPair
    ) throws(SealedFormatsError) -> Data {
        do {
            let key = try keys.privateKey.withUnsafeBytes {
                try P256.KeyAgreement.PrivateKey(rawRepresentation: $0)
            }
            var recipient = try HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: info, encapsulatedKey: Data(encapsulatedKey))
            return try recipient.open(sealed, authenticating: data)
        } catch {
            throw damaged
        }
    }

    private static var damaged: SealedFormatsError {
        SealedFormatsError(.damaged, "The box was changed, truncated or moved from another record; it can't be opened.")
    }

    private static func info(_ purpose: String) -> Data {
        var fields = Fields("applocker/1/box")
        fields.add(purpose)
        return Data(fields.bytes)
    }

    private static func boundData(_ name: RecordName) -> [UInt8] {
        var fields = Fields()
        fields.add(name.vault.bytes)
        fields.add(name.collection.rawValue)
        fields.add(name.id.bytes)
        fields.add(name.revision)
        return fields.bytes
    }
}
