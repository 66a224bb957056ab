/// Why a file, a photo or a moment was not imported, exported or written.
public struct TransferError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// What was named can't be used: the person has to choose something else.
        case badInput
        case failed
    }

    public let kind: Kind
    /// A stable word for programs, in the style of `ControlError.Code`.
    public let code: String
    /// One sentence: what failed and what to do.
    public let sentence: String

    public init(_ kind: Kind, code: String, _ sentence: String) {
        self.kind = kind
        self.code = code
        self.sentence = sentence
    }

    public var description: String { sentence }
}
