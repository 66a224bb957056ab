import Foundation

/// Small documents that are written whole.
public protocol DocumentStore: Sendable {
    func document(_ name: String) async throws -> [UInt8]?
    /// Durable when it returns; on failure the earlier document stays.
    func save(_ bytes: [UInt8], as name: String) async throws
}

extension DocumentStore {
    /// Decodes a JSON document; nil if it is not stored.
    /// - Throws: `UnreadableState`, or what the store throws.
    public func decoded<Value: Decodable>(_ type: Value.Type, _ name: String) async throws -> Value? {
        guard let bytes = try await document(name) else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw UnreadableState(document: name, cause: "\(error)")
        }
    }
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
}
