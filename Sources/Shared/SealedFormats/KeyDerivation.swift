import Crypto
import CryptoExtras

/// The functions that turn a passcode into key bytes, without opinions: who calls them bounds the parameters.
///
/// Each result is copied to memory of its own and the library's key object wipes itself, but a buffer that CryptoExtras
/// uses on the way is freed unwiped; that is why a passcode alone must never open anything without the machine secret.
package enum KeyDerivation {
    /// scrypt, RFC 7914. Needs 128 * rounds * blockSize bytes while it runs; the library checks no limit.
    package static func scrypt(
        _ passcode: SecretBytes, salt: [UInt8], rounds: Int, blockSize: Int, parallelism: Int, count: Int
    ) throws(SealedFormatsError) -> SecretBytes {
        try derive {
            try passcode.withUnsafeBytes { passcode in
                try KDF.Scrypt.deriveKey(
                    from: bytes(passcode), salt: salt, outputByteCount: count, rounds: rounds, blockSize: blockSize,
                    parallelism: parallelism)
            }
        }
    }

    /// PBKDF2 with HMAC-SHA-256, RFC 8018 section 5.2.
    package static func pbkdf2(
        _ passcode: SecretBytes, salt: [UInt8], rounds: Int, count: Int
    ) throws(SealedFormatsError) -> SecretBytes {
        try derive {
            try passcode.withUnsafeBytes { passcode in
                try KDF.Insecure.PBKDF2.deriveKey(
                    from: bytes(passcode), salt: salt, using: .sha256, outputByteCount: count,
                    unsafeUncheckedRounds: rounds)
            }
        }
    }

    /// SHA-256 of the passcode followed by the salt; 32 bytes.
    package static func sha256(_ passcode: SecretBytes, salt: [UInt8]) -> SecretBytes {
        var hash = SHA256()
        passcode.withUnsafeBytes { hash.update(bufferPointer: $0) }
        salt.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize().withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// HKDF with SHA-256, RFC 5869, the optional secret as its salt; 32 bytes.
    package static func hkdf(_ material: SecretBytes, salt: SecretBytes?, info: String) -> SecretBytes {
        hkdf(material, salt: salt, info: Array(info.utf8), count: 32)
    }

    /// The same with any context, and `count` bytes.
    static func hkdf(_ material: SecretBytes, salt: SecretBytes?, info: [UInt8], count: Int) -> SecretBytes {
        let key = material.withUnsafeBytes { SymmetricKey(data: $0) }
        func derive(salt: UnsafeBufferPointer<UInt8>) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: salt, info: info, outputByteCount: count)
        }
        let result = salt?.withUnsafeBytes { derive(salt: bytes($0)) } ?? derive(salt: .init(start: nil, count: 0))
        return result.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    private static func derive(_ body: () throws -> SymmetricKey) throws(SealedFormatsError) -> SecretBytes {
        do {
            return try body().withUnsafeBytes { SecretBytes(copying: $0) }
        } catch {
            throw SealedFormatsError(
                .derivationFailed, "The passcode could not be turned into a key; the machine may be short of memory.",
                cause: error)
        }
    }

    private static func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafeBufferPointer<UInt8> {
        buffer.assumingMemoryBound(to: UInt8.self)
    }
}
