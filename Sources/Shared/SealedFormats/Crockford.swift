/// Crockford's base 32: digits of five bits, without I, L, O and U.
enum Crockford {
    static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The values of a secret's digits, which the caller wipes.
    /// - Parameter room: how many can be appended without growing, which would leave a copy behind.
    static func values(of secret: SecretBytes, room: Int = 0) -> [UInt8] {
        var values: [UInt8] = []
        values.reserveCapacity((secret.count * 8 + 4) / 5 + room)
        secret.withUnsafeBytes { bytes in
            for bit in stride(from: 0, to: bytes.count * 8, by: 5) {
                let next = bit / 8 + 1 < bytes.count ? bytes[bit / 8 + 1] : 0
                let pair = UInt16(bytes[bit / 8]) << 8 | UInt16(next)
                values.append(UInt8(truncatingIfNeeded: pair >> UInt16(11 - bit % 8)) & 31)
            }
        }
        return values
    }
}
