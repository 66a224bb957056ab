/// A D-Bus value with its exact type (D-Bus Specification, "Type System").
public indirect enum BusValue: Sendable, Equatable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// Received: a duplicate that this value's holder owns. Sent: duplicated again by the bus.
    case descriptor(BusDescriptor)
    /// `of` is the element's signature, needed when there are no elements.
    case array(of: String, [BusValue])
    case structure([BusValue])
    /// `keys` is one basic type, `values` one complete type.
    case dictionary(keys: String, values: String, [Entry])
    case variant(BusValue)

    public struct Entry: Sendable, Equatable {
        public var key: BusValue
        public var value: BusValue

        public init(_ key: BusValue, _ value: BusValue) {
            self.key = key
            self.value = value
        }
    }

    /// `a{sv}`, ordered by key.
    public static func options(_ options: [String: BusValue]) -> BusValue {
        .dictionary(
            keys: "s", values: "v",
            options.sorted { $0.key < $1.key }.map { Entry(.string($0.key), .variant($0.value)) })
    }

    /// `as`.
    public static func strings(_ strings: [String]) -> BusValue { .array(of: "s", strings.map { .string($0) }) }

    /// The D-Bus signature of this one complete type.
    public var type: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .array(let element, _): "a" + element
        case .structure(let fields): "(" + fields.map(\.type).joined() + ")"
        case .dictionary(let keys, let values, _): "a{" + keys + values + "}"
        case .variant: "v"
        }
    }
}

// What a caller expects to find; nil where it is something else. A variant stands for what it holds.
extension BusValue {
    /// The value inside any number of variants.
    public var content: BusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }

    public var bool: Bool? { if case .bool(let value) = content { value } else { nil } }
    public var double: Double? { if case .double(let value) = content { value } else { nil } }
    /// A string, object path or signature.
    public var text: String? {
        switch content {
        case .string(let text), .objectPath(let text), .signature(let text): text
        default: nil
        }
    }

    /// Any of the integers, where it fits.
    public var integer: Int64? {
        switch content {
        case .byte(let value): Int64(value)
        case .int16(let value): Int64(value)
        case .uint16(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .int64(let value): value
        case .uint64(let value): Int64(exactly: value)
        default: nil
        }
    }

    public var descriptor: BusDescriptor? { if case .descriptor(let value) = content { value } else { nil } }

    /// An array's elements, or a structure's fields.
    public var elements: [BusValue]? {
        switch content {
        case .array(_, let elements), .structure(let elements): elements
        default: nil
        }
    }

    /// A dictionary with text keys; of a key that comes twice, the last.
    public var options: [String: BusValue]? {
        guard case .dictionary(_, _, let entries) = content else { return nil }
        var options: [String: BusValue] = [:]
        for entry in entries {
            guard let key = entry.key.text else { return nil }
            options[key] = entry.value.content
        }
        return options
    }
}
