import CSystemd
import Glibc

/// A message while it is written or read. Used on its connection's thread alone.
struct BusMessage {
    /// `sd_bus_message *`, kept alive by the creator of this value.
    let pointer: OpaquePointer

    func append(_ values: [BusValue]) throws {
        for value in values { try append(value) }
    }

    // MARK: Writing

    private func append(_ value: BusValue) throws {
        switch value {
        case .byte(let number): try basic("y", number)
        case .bool(let flag): try basic("b", Int32(flag ? 1 : 0))
        case .int16(let number): try basic("n", number)
        case .uint16(let number): try basic("q", number)
        case .int32(let number): try basic("i", number)
        case .uint32(let number): try basic("u", number)
        case .int64(let number): try basic("x", number)
        case .uint64(let number): try basic("t", number)
        case .double(let number): try basic("d", number)
        case .string(let text): try string("s", text)
        case .objectPath(let text): try string("o", text)
        case .signature(let text): try string("g", text)
        case .descriptor(let descriptor):
            guard try descriptor.withNumber({ try basic("h", $0) }) != nil else {
                throw BusError(.invalid, "A closed file descriptor can't be sent.")
            }
        case .array(let element, let elements):
            guard elements.allSatisfy({ $0.type == element }) else { throw Self.mixed(value.type) }
            try container("a", element) { for element in elements { try append(element) } }
        case .structure(let fields):
            try container("r", fields.map(\.type).joined()) { for field in fields { try append(field) } }
        case .dictionary(let keys, let values, let entries):
            guard entries.allSatisfy({ $0.key.type == keys && $0.value.type == values }) else {
                throw Self.mixed(value.type)
            }
            try container("a", "{\(keys)\(values)}") {
                for entry in entries {
                    try container("e", keys + values) {
                        try append(entry.key)
                        try append(entry.value)
                    }
                }
            }
        case .variant(let content): try container("v", content.type) { try append(content) }
        }
    }

    private static func mixed(_ type: String) -> BusError {
        BusError(.invalid, "A value of type \(type) has an element of another type.")
    }

    private func basic<Value: BitwiseCopyable>(_ type: Character, _ value: Value) throws {
        let result = withUnsafePointer(to: value) { sd_bus_message_append_basic(pointer, type.code, $0) }
        try check(result)
    }

    private func string(_ type: Character, _ text: String) throws {
        guard !text.utf8.contains(0) else { throw BusError(.invalid, "A text with a zero byte can't be sent.") }
        try check(sd_bus_message_append_basic(pointer, type.code, text))
    }

    private func container(_ type: Character, _ contents: String, _ body: () throws -> Void) throws {
        try check(sd_bus_message_open_container(pointer, type.code, contents))
        try body()
        try check(sd_bus_message_close_container(pointer))
    }

    private func check(_ result: Int32) throws {
        guard result >= 0 else { throw BusError(errno: result, "A D-Bus message can't be written", .invalid) }
    }

    // MARK: Reading

    /// Everything from here to the end of the message or container.
    func read() throws -> [BusValue] {
        var values: [BusValue] = []
        while let value = try readOne() { values.append(value) }
        return values
    }

    private func readOne() throws -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try got(sd_bus_message_peek_type(pointer, &type, &contents)) else { return nil }
        let inner = contents.map { String(cString: $0) } ?? ""
        switch Character(UnicodeScalar(UInt8(bitPattern: type))) {
        case "y": return .byte(try read(type, UInt8(0)))
        case "b": return .bool(try read(type, Int32(0)) != 0)
        case "n": return .int16(try read(type, Int16(0)))
        case "q": return .uint16(try read(type, UInt16(0)))
        case "i": return .int32(try read(type, Int32(0)))
        case "u": return .uint32(try read(type, UInt32(0)))
        case "x": return .int64(try read(type, Int64(0)))
        case "t": return .uint64(try read(type, UInt64(0)))
        case "d": return .double(try read(type, Double(0)))
        case "s": return .string(try readText(type))
        case "o": return .objectPath(try readText(type))
        case "g": return .signature(try readText(type))
        case "h": return .descriptor(try BusDescriptor(duplicating: read(type, Int32(-1))))
        case "a": return try readArray(inner)
        case "r": return .structure(try enter(type, inner) { try read() })
        case "v":
            let values = try enter(type, inner) { try read() }
            guard values.count == 1 else { throw Self.malformed }
            return .variant(values[0])
        default: throw Self.malformed
        }
    }

    private func readArray(_ element: String) throws -> BusValue {
        guard element.hasPrefix("{") else {
            return .array(of: element, try enter(("a" as Character).code, element) { try read() })
        }
        let contents = String(element.dropFirst().dropLast())
        var entries: [BusValue.Entry] = []
        try enter(("a" as Character).code, element) {
            while try got(sd_bus_message_enter_container(pointer, ("e" as Character).code, contents)) {
                let pair = try read()
                guard pair.count == 2 else { throw Self.malformed }
                _ = try got(sd_bus_message_exit_container(pointer))
                entries.append(.init(pair[0], pair[1]))
            }
        }
        return .dictionary(keys: String(contents.prefix(1)), values: String(contents.dropFirst()), entries)
    }

    private func read<Value: BitwiseCopyable>(_ type: CChar, _ zero: Value) throws -> Value {
        var value = zero
        try checkRead(sd_bus_message_read_basic(pointer, type, &value))
        return value
    }

    private func readText(_ type: CChar) throws -> String {
        var text: UnsafePointer<CChar>?
        try checkRead(sd_bus_message_read_basic(pointer, type, &text))
        guard let text else { throw Self.malformed }
        return String(cString: text)
    }

    private func enter<Result>(_ type: CChar, _ contents: String, _ body: () throws -> Result) throws -> Result {
        try checkRead(sd_bus_message_enter_container(pointer, type, contents))
        let result = try body()
        _ = try got(sd_bus_message_exit_container(pointer))
        return result
    }

    private func got(_ result: Int32) throws -> Bool {
        guard result >= 0 else { throw BusError(errno: result, "A D-Bus message can't be read", .invalid) }
        return result > 0
    }

    private func checkRead(_ result: Int32) throws {
        guard try got(result) else { throw Self.malformed }
    }

    private static let malformed = BusError(.invalid, "A D-Bus message does not match its signature.")

    // MARK: The header

    var sender: String { text(sd_bus_message_get_sender(pointer)) }
    var path: String { text(sd_bus_message_get_path(pointer)) }
    var interface: String { text(sd_bus_message_get_interface(pointer)) }
    var member: String { text(sd_bus_message_get_member(pointer)) }
    var signature: String { text(sd_bus_message_get_signature(pointer, 1)) }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
}

extension Character {
    /// Of an ASCII type code.
    fileprivate var code: CChar { CChar(bitPattern: asciiValue ?? 0) }
}
