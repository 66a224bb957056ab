import Foundation

/// JSON as it was written: properties that a type doesn't have are kept.
public enum JSONValue: Codable, Equatable, Sendable, CustomStringConvertible {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    public var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "JSON without a text"
    }
}

/// The properties and enumeration values in samples of messages, by the Swift type.
public struct MessageShapes {
    private struct Property: Hashable {
        var type: String
        var name: String
    }

    private var present: Set<Property> = []
    private var absent: Set<Property> = []
    private var optional: Set<Property> = []
    private var words: [String: (all: Set<String>, seen: Set<String>)] = [:]
    /// The errors of samples, one sentence each.
    public private(set) var problems: [String] = []

    public init() {}

    /// Checks that a sample can be decoded, and is encoded to the same JSON.
    public mutating func add(_ sample: JSONValue, as type: (some Codable).Type, named name: String) {
        do {
            let value = try JSONDecoder().decode(type, from: try JSONEncoder().encode(sample))
            let again = try JSONDecoder().decode(JSONValue.self, from: try JSONEncoder().encode(value))
            if again != sample { problems.append("\(name): \(sample) is encoded as \(again).") }
            visit(value, sample, name)
        } catch {
            problems.append("\(name): \(sample) is not decoded: \(error).")
        }
    }

    /// What no sample covers: a property that is always absent, an optional one that is always present, an enumeration
    /// value.
    public var gaps: [String] {
        let properties = present.union(absent).union(optional)
        let missing = properties.subtracting(present).map { "\($0.type).\($0.name) is in no sample." }
        let constant = optional.subtracting(absent).map { "\($0.type).\($0.name) is optional, and in every sample." }
        let unused = words.flatMap { type, words in
            words.all.subtracting(words.seen).map { "\(type) has the word \($0), which is in no sample." }
        }
        return (missing + constant + unused).sorted()
    }

    private mutating func visit(_ value: Any, _ json: JSONValue, _ name: String) {
        let mirror = Mirror(reflecting: value)
        switch (mirror.displayStyle, json) {
        case (.optional, _):
            if let wrapped = mirror.children.first?.value { visit(wrapped, json, name) }
        case (.enum, .text(let word)):
            guard let enumeration = value as? any CaseIterable else {
                problems.append("\(name): \(type(of: value)) has to be CaseIterable.")
                return
            }
            words[Self.name(of: value), default: (Self.words(enumeration), [])].seen.insert(word)
        case (.enum, .object(let object)):
            // One key is the case's name; its object has the associated values.
            guard object.count == 1, let (label, payload) = object.first, case .object(let fields) = payload else {
                problems.append("\(name): \(json) names no case.")
                return
            }
            guard let child = mirror.children.first else { return }
            let values = Array(Mirror(reflecting: child.value).children)
            visit(values, fields, of: "\(Self.name(of: value)).\(label)", name)
        case (.struct, .object(let object)):
            visit(Array(mirror.children), object, of: Self.name(of: value), name)
        case (.collection, .list(let list)):
            for (element, json) in zip(mirror.children, list) { visit(element.value, json, name) }
        default:
            // A number, a string, or a type that is encoded as one: bytes, an id.
            break
        }
    }

    private mutating func visit(
        _ children: [Mirror.Child], _ object: [String: JSONValue], of type: String, _ name: String
    ) {
        let labels = Set(children.compactMap(\.label))
        for key in object.keys where !labels.contains(key) {
            problems.append("\(name): \(type) has no property \(key).")
        }
        for case (let label?, let value) in children {
            let property = Property(type: type, name: label)
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle == .optional { optional.insert(property) }
            if mirror.displayStyle == .optional, mirror.children.isEmpty {
                absent.insert(property)
            } else if let json = object[label] {
                // An empty list doesn't show its elements' shape.
                if json != .list([]) { present.insert(property) } else { absent.insert(property) }
                visit(value, json, name)
            } else {
                problems.append("\(name): \(type).\(label) is not encoded.")
            }
        }
    }

    private static func words<Word: CaseIterable>(_: Word) -> Set<String> {
        Set(Word.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String })
    }

    /// "HubError.Code": without the module.
    private static func name(of value: Any) -> String {
        String(String(reflecting: type(of: value)).drop { $0 != "." }.dropFirst())
    }
}
