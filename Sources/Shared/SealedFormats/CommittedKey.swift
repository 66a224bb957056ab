import Crypto
import Foundation

/// A key for one message, derived from a lasting one with a fresh salt, together with a commitment to it.
///
/// AES-GCM alone does not commit: a ciphertext can be made that opens under two keys. The commitment is stored and
/// compared before anything is opened.
struct CommittedKey {
    static let saltLength = 32
    static let commitmentLength = 32

    let key: SymmetricKey
    /// 32 bytes.
    let commitment: [UInt8]
    /// 7 bytes, for streams.
    let noncePrefix: [UInt8]

    /// - Parameter info: the purpose, and what is bound by it.
    init(_ secret: SecretBytes, salt: [UInt8], info: [UInt8]) {
        let input = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        let output = HKDF<SHA256>.deriveKey(inputKeyMaterial: input, salt: salt, info: info, outputByteCount: 71)
        (key, commitment, noncePrefix) = output.withUnsafeBytes { output in
            (
                SymmetricKey(data: UnsafeRawBufferPointer(rebasing: output[..<32])), Array(output[32..<64]),
                Array(output[64...])
            )
        }
    }

    /// Whether the stored commitment is this key's; in constant time.
    func matches(_ stored: [UInt8]) -> Bool {
        commitment.withUnsafeBytes { own in stored.withUnsafeBytes { equalInConstantTime(own, $0) } }
    }

    static func freshSalt() -> [UInt8] { randomBytes(saltLength) }
}

/// From the kernel's random number generator.
func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
}

/// AES-256-GCM as the formats use it: ciphertext and tag in one piece, nonces from outside.
enum GCM {
    static let tagLength = 16
    /// For a key that seals exactly one message.
    static let zeroNonce = [UInt8](repeating: 0, count: 12)

    /// - Returns: the ciphertext and the tag of 16 bytes.
    static func seal(
        _ plaintext: some DataProtocol, key: SymmetricKey, nonce: [UInt8] = zeroNonce, data: [UInt8] = []
    ) -> Data {
        // It fails only for nonces of a wrong length and for messages above 64 GiB; neither can happen here.
        guard let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.seal(plaintext, using: key, nonce: nonce, authenticating: data),
            let combined = box.combined
        else { preconditionFailure("AES-GCM refused a nonce of 12 bytes") }
        return combined.dropFirst(12)
    }

    /// Returns nil if the tag does not match. The caller must wipe secret bytes that it obtains.
    static func open(
        _ sealed: some DataProtocol, key: SymmetricKey, nonce: [UInt8] = zeroNonce, data: [UInt8] = []
    ) -> Data? {
        guard sealed.count >= tagLength, let nonce = try? AES.GCM.Nonce(data: nonce),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(tagLength), tag: sealed.suffix(tagLength))
        else { return nil }
        return try? AES.GCM.open(box, using: key, authenticating: data)
    }

    /// The same for a plaintext that is itself a key: only the result holds it.
    static func openSecret(_ sealed: [UInt8], key: SymmetricKey, data: [UInt8]) -> SecretBytes? {
        guard var plaintext = open(sealed, key: key, data: data) else { return nil }
        return plaintext.withUnsafeMutableBytes { SecretBytes(wiping: $0) }
    }

    static func seal(_ secret: SecretBytes, key: SymmetricKey, data: [UInt8]) -> Data {
        secret.withUnsafeBytes { bytes in
            seal(
                Data(
                    bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes.baseAddress!), count: bytes.count,
                    deallocator: .none), key: key, data: data)
        }
    }
}
