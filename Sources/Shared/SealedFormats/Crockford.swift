/// Crockford's base 32: digits of five bits, without I, L, O and U.
enum Crockford {
    static let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    static func value(_ digit: UInt8) -> UInt8? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(digit) ? digit - 32 : digit
        switch upper {
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case UInt8(ascii: "O"): return 0
        default: return Crockford.digits.firstIndex(of: upper).map { UInt8($0) }
        }
    }

    /// The secret of so many bytes whose digits have these values: eight digits of five bits are five bytes.
    static func secret(_ values: some RandomAccessCollection<UInt8>, count: Int) -> SecretBytes {
        SecretBytes(capacity: count) { buffer in
            for index in 0..<count {
                let bit = index * 8
                let window = (0..<3).reduce(UInt32(0)) { sum, step in
                    let position = bit / 5 + step
                    let value =
                        position < values.count ? values[values.index(values.startIndex, offsetBy: position)] : 0
                    return sum << 5 | UInt32(value)
                }
                buffer[index] = UInt8(truncatingIfNeeded: window >> UInt32(15 - 8 - bit % 5))
            }
            return count
        }
    }

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
