import Crypto

/// 160 random bits that open the vault without any device: 36 digits of Crockford's base 32, the last four a check.
public struct RecoveryCode: Sendable {
    private static let secretLength = 20

    private let secret: SecretBytes

    /// A fresh one.
    public init() { secret = .random(count: Self.secretLength) }

    /// Reads a typed code: any case, spaces and dashes anywhere, I and L for 1, O for 0.
    /// - Throws: `SealedFormatsError` with code `malformed`, saying what is wrong with it.
    public init(text: SecretBytes) throws(SealedFormatsError) {
        var values: [UInt8] = []
        defer { values.withUnsafeMutableBytes { wipe($0) } }
        values.reserveCapacity(64)
        let isAllowed = text.withUnsafeBytes { bytes in
            for byte in bytes where byte != UInt8(ascii: "-") && !(9...13 ~= byte) && byte != UInt8(ascii: " ") {
                guard let value = Crockford.value(byte), values.count < 64 else { return false }
                values.append(value)
            }
            return true
        }
        guard isAllowed, values.count == 36 else {
            throw SealedFormatsError(
                .malformed, "A recovery code has 36 letters and digits in groups of four; type it as it is printed.")
        }
        secret = Crockford.secret(values.prefix(32), count: Self.secretLength)
        guard Self.check(secret) == Array(values[32...]) else {
            throw SealedFormatsError(.malformed, "The recovery code has a typing mistake; compare it with the sheet.")
        }
    }

    /// As printed: nine groups of four with dashes.
    public var printed: SecretBytes { spelled(dashes: true) }

    /// As the passcode of a key slot: 36 digits in upper case.
    public var passcode: SecretBytes { spelled(dashes: false) }

    private func spelled(dashes: Bool) -> SecretBytes {
        SecretBytes(capacity: 44) { buffer in
            var values = Crockford.values(of: secret, room: 4)
            values += Self.check(secret)
            var count = 0
            for (position, value) in values.enumerated() {
                if dashes, position > 0, position.isMultiple(of: 4) {
                    buffer[count] = UInt8(ascii: "-")
                    count += 1
                }
                buffer[count] = Crockford.digits[Int(value)]
                count += 1
            }
            values.withUnsafeMutableBytes { wipe($0) }
            return count
        }
    }

    /// Four digits: the first 20 bits of a hash.
    private static func check(_ secret: SecretBytes) -> [UInt8] {
        // The fields piece by piece: put together they would be a copy of the secret.
        var digest = SHA256()
        digest.update(data: Fields("applocker/1/recovery-check").bytes + UInt32(secret.count).bigEndianBytes)
        secret.withUnsafeBytes { digest.update(bufferPointer: $0) }
        let hash = Array(digest.finalize())
        let bits = UInt32(hash[0]) << 16 | UInt32(hash[1]) << 8 | UInt32(hash[2])
        return [19, 14, 9, 4].map { UInt8(truncatingIfNeeded: bits >> $0) & 31 }
    }
}
