/// What names a vault, a record or a blob: 16 random bytes, written as 32 lower-case hexadecimal digits.
public struct ItemID: Hashable, Sendable, LosslessStringConvertible, Codable, Comparable {
    /// In bytes.
    public static let length = 16

    private let high: UInt64
    private let low: UInt64

    /// A fresh one from the kernel's random number generator.
    public static func random() -> ItemID {
        var generator = SystemRandomNumberGenerator()
        return ItemID(high: generator.next(), low: generator.next())
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Returns nil unless there are 16 bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns nil for anything but 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Hexadecimal.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// 16 bytes.
    public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    public var description: String { Hexadecimal.encode(bytes) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = ItemID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 hexadecimal digits")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    public static func < (left: ItemID, right: ItemID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
