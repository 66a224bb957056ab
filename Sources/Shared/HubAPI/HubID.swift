/// Names a household, a device, a record, an invitation or a blob at the hub: 16 bytes as 32 lower-case hexadecimal digits.
public struct HubID: Hashable, Sendable, Codable, LosslessStringConvertible, Comparable {
    private let text: String

    /// Returns nil for anything but 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        let digits = text.utf8
        guard digits.count == 32, digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
            return nil
        }
        self.text = text
    }

    public var description: String { text }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = HubID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 hexadecimal digits")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static func < (left: HubID, right: HubID) -> Bool { left.text < right.text }
}
