import Crypto
import Foundation

/// A device's key for signatures: ECDSA with P-256 and SHA-256 (FIPS 186-5).
public struct DeviceSigningKey: Sendable {
    /// The private scalar, 32 bytes.
    public let privateKey: SecretBytes
    public let publicKey: DevicePublicKey
    private let key: P256.Signing.PrivateKey

    public init() {
        let key = P256.Signing.PrivateKey()
        var raw = key.rawRepresentation
        privateKey = raw.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
        publicKey = DevicePublicKey(key.publicKey)
        self.key = key
    }

    /// - Throws: `SealedFormatsError` with code `malformed` unless the bytes are a P-256 scalar.
    public init(privateKey: SecretBytes) throws(SealedFormatsError) {
        guard let key = try? privateKey.withUnsafeBytes({ try P256.Signing.PrivateKey(rawRepresentation: $0) }) else {
            throw SealedFormatsError(.malformed, "This is not a private key of P-256; restore it from a backup.")
        }
        self.privateKey = privateKey
        self.key = key
        publicKey = DevicePublicKey(key.publicKey)
    }

    /// 64 bytes, r and s.
    /// - Parameter purpose: what is signed for; the signature holds for no other.
    public func signature(of message: [UInt8], purpose: String) -> [UInt8] {
        guard let signature = try? key.signature(for: DevicePublicKey.signed(message, purpose)) else {
            preconditionFailure("P-256 could not sign")
        }
        return Array(signature.rawRepresentation)
    }
}

/// Checks what a device signed.
public struct DevicePublicKey: Hashable, Sendable {
    /// 65 bytes, X9.63 uncompressed.
    public let bytes: [UInt8]

    fileprivate init(_ key: P256.Signing.PublicKey) { bytes = Array(key.x963Representation) }

    /// - Throws: `SealedFormatsError` with code `malformed` unless the 65 bytes are a point of P-256.
    public init(bytes: [UInt8]) throws(SealedFormatsError) {
        guard let key = try? P256.Signing.PublicKey(x963Representation: bytes) else {
            throw SealedFormatsError(.malformed, "This is not a public key of P-256; restore it from a backup.")
        }
        self.init(key)
    }

    /// Names the device: the first 16 bytes of the key's SHA-256.
    public var id: ItemID {
        guard let id = ItemID(bytes: Array(SHA256.hash(data: bytes)).prefix(ItemID.length)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return id
    }

    public func verify(_ signature: [UInt8], of message: [UInt8], purpose: String) -> Bool {
        isSignature(signature, over: Self.signed(message, purpose))
    }

    /// ECDSA as it is, over bytes without a purpose.
    func isSignature(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: self.bytes),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: bytes)
    }

    fileprivate static func signed(_ message: [UInt8], _ purpose: String) -> [UInt8] {
        var fields = Fields("applocker/1/signature")
        fields.add(purpose)
        fields.add(message)
        return fields.bytes
    }
}
