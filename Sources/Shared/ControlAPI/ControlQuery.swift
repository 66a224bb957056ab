/// The query of a route. The values of a new one are those of absent fields; fields of other names are ignored.
public protocol ControlQuery: Sendable {
    init()

    static var fields: [QueryField<Self>] { get }
}

extension ControlQuery {
    /// - Parameter query: percent-decoded.
    /// - Throws: `ControlError` with `badRequest` for a value that is out of range.
    public init(query: [String: String]) throws(ControlError) {
        self.init()
        for field in Self.fields {
            if let text = query[field.name] { try field.read(text, &self) }
        }
    }

    /// Name and value of each field, not percent-encoded; texts that are nil and flags that are off are left out.
    public var query: [(String, String)] {
        Self.fields.compactMap { field in field.write(self).map { (field.name, $0) } }
    }
}

/// A field of a query.
public struct QueryField<Query> {
    let name: String
    let read: (_ text: String, inout Query) throws(ControlError) -> Void
    let write: (Query) -> String?

    static func text(_ name: String, _ value: WritableKeyPath<Query, String?>) -> Self {
        Self(name: name, read: { $1[keyPath: value] = $0 }, write: { $0[keyPath: value] })
    }

    /// "true" sets it, and nothing else.
    static func flag(_ name: String, _ value: WritableKeyPath<Query, Bool>) -> Self {
        Self(
            name: name, read: { $1[keyPath: value] = $0 == "true" }, write: { $0[keyPath: value] ? "true" : nil })
    }

    /// One of the values' names.
    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ value: WritableKeyPath<Query, Choice?>
    ) -> Self {
        Self(
            name: name,
            read: { (text, query) throws(ControlError) in
                guard let choice = Choice(rawValue: text) else {
                    let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ControlError(.badRequest, "\(name) has to be one of \(names).")
                }
                query[keyPath: value] = choice
            },
            write: { $0[keyPath: value]?.rawValue })
    }

    static func number<Number: FixedWidthInteger>(
        _ name: String, _ value: WritableKeyPath<Query, Number>, _ range: ClosedRange<Int>
    ) -> Self {
        Self(
            name: name,
            read: { (text, query) throws(ControlError) in
                guard let number = Int(text), range.contains(number) else {
                    throw ControlError(
                        .badRequest, "\(name) has to be a number from \(range.lowerBound) to \(range.upperBound).")
                }
                query[keyPath: value] = Number(number)
            },
            write: { "\($0[keyPath: value])" })
    }
}

/// For a route whose path is all that it needs.
public struct NoInput: ControlQuery {
    public static var fields: [QueryField<Self>] { [] }

    public init() {}
}
