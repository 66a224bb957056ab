import Crypto

/// Bytes that name what is sealed, put together so that no two lists of fields give the same bytes: each field's length
/// as u32, then the field.
struct Fields {
    private(set) var bytes: [UInt8] = []

    init(_ label: String) { add(label) }

    init() {}

    mutating func add(_ field: some Collection<UInt8>) {
        bytes += UInt32(field.count).bigEndianBytes
        bytes += field
    }

    mutating func add(_ text: String) { add(Array(text.utf8)) }

    mutating func add(_ number: some FixedWidthInteger & UnsignedInteger) { add(number.bigEndianBytes) }
}

extension Fields {
    /// The first 16 bytes of SHA-256: an id that every device derives alike.
    var id: ItemID {
        guard let id = ItemID(bytes: Array(SHA256.hash(data: bytes)).prefix(ItemID.length)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return id
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Most significant first.
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}

/// Reads bytes from the front and refuses what is not there.
struct ByteReader {
    private var unread: ArraySlice<UInt8>
    private let subject: String

    /// - Parameter subject: what is being read, for the sentence of an error: "backup".
    init(_ bytes: [UInt8], subject: String) {
        unread = bytes[...]
        self.subject = subject
    }

    var remaining: Int { unread.count }

    mutating func bytes(_ count: Int) throws(SealedFormatsError) -> [UInt8] {
        guard count >= 0, unread.count >= count else {
            throw SealedFormatsError(.malformed, "The \(subject) is truncated or invalid.")
        }
        defer { unread = unread.dropFirst(count) }
        return Array(unread.prefix(count))
    }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type = Number.self
    ) throws(SealedFormatsError) -> Number {
        // By way of 64 bits: a number of 8 bits can't be shifted by 8.
        Number(truncatingIfNeeded: try bytes(Number.bitWidth / 8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    mutating func id() throws(SealedFormatsError) -> ItemID {
        guard let id = ItemID(bytes: try bytes(ItemID.length)) else { throw malformed() }
        return id
    }

    /// The magic and the version that every format begins with.
    mutating func magic(_ magic: String, version: UInt8 = 1) throws(SealedFormatsError) {
        guard try bytes(magic.utf8.count) == Array(magic.utf8) else {
            throw SealedFormatsError(.malformed, "This is not a \(subject) of AppLocker.")
        }
        let found = try bytes(1)[0]
        guard found == version else {
            throw SealedFormatsError(
                .unknownVersion,
                "The \(subject) has version \(found), this AppLocker reads version \(version); install a newer one.")
        }
    }

    mutating func zeros(_ count: Int) throws(SealedFormatsError) {
        guard try bytes(count).allSatisfy({ $0 == 0 }) else { throw malformed() }
    }

    mutating func rest() -> [UInt8] {
        defer { unread = [] }
        return Array(unread)
    }

    func end() throws(SealedFormatsError) {
        guard unread.isEmpty else { throw malformed() }
    }

    func malformed() -> SealedFormatsError {
        SealedFormatsError(.malformed, "The \(subject) is damaged or was not made by AppLocker.")
    }
}
