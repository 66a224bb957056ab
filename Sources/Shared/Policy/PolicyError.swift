/// A change or a text that policy refuses. Nothing was changed when one is thrown.
public struct PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable, Codable {
        case noSuchApp, noSuchCategory
        case invalidSchedule, invalidDuration, invalidCategory, invalidSetting
    }

    public let code: Code
    /// What was wrong and what to do, as one sentence for the person who asked.
    public let sentence: String

    init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    public var description: String { sentence }
}
