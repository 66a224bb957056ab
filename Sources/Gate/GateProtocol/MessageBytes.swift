/// Why a message was refused. A peer that sends one is disconnected: both ends are built from the same sources.
public enum GateProtocolError: Error, Equatable, Sendable {
    /// The message ends before the field that was being read.
    case truncated
    /// Bytes are left over after the last field.
    case trailingBytes(Int)
    /// The first byte names no message of this version.
    case unknownKind(UInt8)
    /// A field holds a value that this version does not define.
    case unknownValue(field: StaticString, value: UInt8)
    /// The peer speaks another version.
    case version(UInt16)
    /// The parts of an exec request exceed `GateProtocol.maximumExecRequestBytes`.
    case execRequestTooLong

    public static func == (left: GateProtocolError, right: GateProtocolError) -> Bool {
        switch (left, right) {
        case (.truncated, .truncated), (.execRequestTooLong, .execRequestTooLong): true
        case (.trailingBytes(let a), .trailingBytes(let b)): a == b
        case (.unknownKind(let a), .unknownKind(let b)): a == b
        case (.unknownValue(_, let a), .unknownValue(_, let b)): a == b
        case (.version(let a), .version(let b)): a == b
        default: false
        }
    }
}

/// Appends fixed-width little-endian fields.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    init(kind: UInt8) {
        bytes.reserveCapacity(64)
        bytes.append(kind)
    }

    mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// The rest of the message: a path, an argument block. It needs no length, it is always the last field.
    mutating func writeRest(_ value: [UInt8]) { bytes.append(contentsOf: value) }
}

/// Reads what `MessageWriter` wrote, and nothing else.
struct MessageReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) throws(GateProtocolError)
        -> Integer
    {
        let width = Integer.bitWidth / 8
        guard bytes.count - position >= width else { throw .truncated }
        var value: Integer = 0
        for index in (0..<width).reversed() {
            value = (width == 1 ? 0 : value << 8) | Integer(truncatingIfNeeded: bytes[position + index])
        }
        position += width
        return value
    }

    mutating func readFlag(_ field: StaticString) throws(GateProtocolError) -> Bool {
        let value: UInt8 = try read()
        guard value <= 1 else { throw .unknownValue(field: field, value: value) }
        return value == 1
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func read(count: Int) throws(GateProtocolError) -> [UInt8] {
        guard bytes.count - position >= count else { throw .truncated }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func readRest() -> [UInt8] {
        defer { position = bytes.count }
        return Array(bytes[position...])
    }

    func finish() throws(GateProtocolError) {
        guard isAtEnd else { throw .trailingBytes(bytes.count - position) }
    }
}
