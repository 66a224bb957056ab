/// Why a message was refused. A peer that sends one is disconnected: both ends are built from the same sources.
public enum GateProtocolError: Error, Equatable, Sendable {
    /// The message ends before the field that was being read.
    case truncated
    /// Bytes are left over after the last field.
    case trailingBytes(Int)
    /// The first byte names no message of this version.
    case unknownKind(UInt8)
    /// A field holds a value that this version does not define.
    case unknownValue(field: String, value: UInt8)
    /// The peer speaks another version.
    case version(UInt16)
    /// The parts of an exec request exceed `GateProtocol.maximumExecRequestBytes`.
    case execRequestTooLong
}

/// A field of a message: an integer of fixed width, little-endian; a flag of one byte; or bytes without a length, which
/// can only be the last field.
protocol MessageField {
    func append(to bytes: inout [UInt8])
}

extension FixedWidthInteger where Self: MessageField {
    func append(to bytes: inout [UInt8]) { withUnsafeBytes(of: littleEndian) { bytes.append(contentsOf: $0) } }
}

extension UInt8: MessageField {}
extension UInt16: MessageField {}
extension UInt32: MessageField {}
extension Int32: MessageField {}
extension UInt64: MessageField {}

extension Bool: MessageField {
    func append(to bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
}

extension [UInt8]: MessageField {
    func append(to bytes: inout [UInt8]) { bytes.append(contentsOf: self) }
}

enum MessageWriter {
    static func message(_ kind: UInt8, _ fields: any MessageField...) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        bytes.append(kind)
        for field in fields { field.append(to: &bytes) }
        return bytes
    }
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

    mutating func readFlag(_ field: String) throws(GateProtocolError) -> Bool {
        let value: UInt8 = try read()
        guard value <= 1 else { throw .unknownValue(field: field, value: value) }
        return value == 1
    }

    mutating func readCase<Value: RawRepresentable<UInt8>>(
        _ field: String
    ) throws(GateProtocolError) -> Value {
        let raw: UInt8 = try read()
        guard let value = Value(rawValue: raw) else { throw .unknownValue(field: field, value: raw) }
        return value
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
