/// A message with its values, as it is written in the source: in English. `localized` looks its translation up.
///
/// A literal alone is one: `Scripts/translations` finds the messages of the catalogues by it.
public struct LocalizedMessage: ExpressibleByStringInterpolation, Equatable, Sendable {
    /// The message as catalogues name it, with `{0}`, `{1}`… in place of the values: "Rename {0}".
    public let id: String
    let values: [String]

    init(id: String, values: [String]) { (self.id, self.values) = (id, values) }

    public init(stringLiteral value: String) { (id, values) = (value, []) }

    public init(stringInterpolation: Interpolation) {
        (id, values) = (stringInterpolation.id, stringInterpolation.values)
    }

    /// A translation with this message's values. It may use them in another order, or leave some out.
    func text(in translation: String) -> String {
        guard !values.isEmpty else { return translation }
        var text = ""
        var rest = translation[...]
        // One pass: braces in a value stay as they are.
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            text += rest[..<start]
            if let number = Int(rest[start...].dropFirst().prefix { $0 != "}" }), values.indices.contains(number) {
                text += values[number]
                rest = rest[rest.index(after: end)...]
            } else {
                text += "{"
                rest = rest[rest.index(after: start)...]
            }
        }
        return text + rest
    }

    public struct Interpolation: StringInterpolationProtocol {
        var id = ""
        var values: [String] = []

        public init(literalCapacity: Int, interpolationCount: Int) { id.reserveCapacity(literalCapacity) }

        public mutating func appendLiteral(_ literal: String) { id += literal }

        public mutating func appendInterpolation(_ value: some StringProtocol) { append(String(value)) }

        public mutating func appendInterpolation(_ value: some BinaryInteger) { append("\(value)") }

        private mutating func append(_ value: String) {
            id += "{\(values.count)}"
            values.append(value)
        }
    }
}

/// The text of a message in the person's language; in English where no catalogue has it.
///
/// - Parameter context: distinguishes two messages that are equal in English only, such as a verb and an adjective.
public func localized(_ message: LocalizedMessage, context: String? = nil) -> String {
    message.text(in: InstalledCatalogue.current?.translation(message.id, context: context) ?? message.id)
}

/// The text of a message that depends on a number: languages have one to six forms.
///
/// - Parameters:
///   - one: for 1 in English.
///   - other: for every other number in English. With the same values as `one`.
public func localized(_ number: Int, one: LocalizedMessage, other: LocalizedMessage) -> String {
    let translation = InstalledCatalogue.current?.translation(one.id, plural: other.id, number: UInt(number.magnitude))
    let message = number == 1 ? one : other
    return (other.values.count >= one.values.count ? other : one).text(in: translation ?? message.id)
}
