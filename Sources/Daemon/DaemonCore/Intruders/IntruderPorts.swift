/// Takes a photo of the person at the computer.
public protocol PhotoSource: Sendable {
    /// A JPEG, at most 8 MiB. Gives up after 5 seconds.
    /// - Throws: `PhotoSourceError`.
    func photograph() async throws -> [UInt8]
}

/// Why there is no photo.
public struct PhotoSourceError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case noCamera = "no_camera"
        case tookTooLong = "took_too_long"
        case failed
    }

    public let code: Code
    /// One sentence.
    public let sentence: String

    public init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    public var description: String { sentence }
}
