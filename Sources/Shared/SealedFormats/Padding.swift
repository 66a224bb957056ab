import Foundation

/// Hides the size of small content: at least 256 bytes, above that Padmé (Nikitin and others, PETS 2019), which adds at
/// most 12 %.
enum Padding {
    static let minimumLength = 256
    /// Of a padded body, in bytes.
    static let maximumLength = 16 << 20

    static func paddedLength(of count: Int) -> Int {
        let length = count + 4
        guard length > minimumLength else { return minimumLength }
        let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (length + mask) & ~mask
    }

    /// - Throws: `SealedFormatsError` with code `tooLarge`.
    static func pad(_ body: some Collection<UInt8>) throws(SealedFormatsError) -> Data {
        let length = paddedLength(of: body.count)
        guard length <= maximumLength else {
            throw SealedFormatsError(
                .tooLarge, "This has \(body.count) bytes, a record has at most 16 MiB; add it as a file instead.")
        }
        var padded = Data(capacity: length)
        padded.append(contentsOf: UInt32(body.count).bigEndianBytes)
        padded.append(contentsOf: body)
        padded.append(contentsOf: repeatElement(0, count: length - padded.count))
        return padded
    }

    /// Wipes the padded bytes. Returns nil where the padding is not exactly what `pad` writes.
    static func unpad(wiping padded: inout Data) -> Data? {
        defer { padded.withUnsafeMutableBytes { wipe($0) } }
        // A copy with indices from 0, so that it does not keep the padded bytes alive.
        return unpad(padded).map { Data($0) }
    }

    /// Returns nil where the padding is not exactly what `pad` writes.
    private static func unpad(_ padded: Data) -> Data? {
        guard padded.count >= minimumLength else { return nil }
        let count = Int(padded.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        guard count <= padded.count - 4, paddedLength(of: count) == padded.count,
            padded.dropFirst(4 + count).allSatisfy({ $0 == 0 })
        else { return nil }
        return padded.dropFirst(4).prefix(count)
    }
}
