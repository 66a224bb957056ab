import Foundation

/// Small documents that are written whole.
public protocol DocumentStore: Sendable {
    func document(_ name: String) async throws -> [UInt8]?
    /// Durable when it returns; on failure the earlier document stays.
    func save(_ bytes: [UInt8], as name: String) async throws
}

/// A stored document that this version can't read. The daemon does not start then: an empty document in its place would
/// unlock everything.
public struct UnreadableState: Error, CustomStringConvertible {
    public let document: String
    public let cause: String

    public init(document: String, cause: String) {
        self.document = document
        self.cause = cause
    }

    public var description: String {
        "The stored \"\(document)\" can't be read (\(cause)). Restore the state from a backup."
    }

    public static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8], named document: String
    ) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw UnreadableState(document: document, cause: "\(error)")
        }
    }
}
