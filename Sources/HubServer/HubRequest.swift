import Foundation
import HTTPTypes
import HubStore
import NIOCore
import WireProtocol

/// A request whose sender is known and that was read in full.
struct HubRequest: Sendable {
    let route: HubRoute
    let client: Client
    let headers: HTTPFields
    let query: [String: String]
    let parameters: [String: String]
    /// Nil where the route looks at no token.
    let device: StoredDevice?
    let body: Data

    /// - Throws: `HubError` where the route is not one that needs a token.
    func knownDevice() throws -> StoredDevice {
        guard let device else { throw HubError(.unauthorized, "This needs a device's token.") }
        return device
    }

    /// The body, which has to be this message.
    func message<Message: Decodable>(_ type: Message.Type = Message.self) throws -> Message {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw HubError(
                .badRequest, "The body lacks \"\(key.stringValue)\"; docs/hub-protocol.md says what belongs in.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            let field = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw HubError(
                .badRequest,
                field.isEmpty
                    ? "The body is not the JSON that belongs here; docs/hub-protocol.md says what does."
                    : "The body's \"\(field)\" is not what belongs there; docs/hub-protocol.md says what does.")
        }
    }

    /// The parameter of the path that names something.
    func id(_ name: String = "id") throws -> HubID {
        guard let id = parameters[name].flatMap(HubID.init) else {
            throw HubError(.badRequest, "The path's {\(name)} is not 32 lower-case hexadecimal digits.")
        }
        return id
    }

    /// A number of the query, from 0 to 2^63 - 1.
    func number(_ name: String, default fallback: UInt64? = nil) throws -> UInt64 {
        guard let text = query[name] else {
            guard let fallback else { throw HubError(.badRequest, "The query lacks \(name)=N.") }
            return fallback
        }
        return try Self.number(text, "The query's \(name)")
    }

    /// Decimal digits alone, at most 2^63 - 1, which is what a database holds.
    static func number(_ text: String, _ name: String) throws -> UInt64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text) else {
            throw HubError(.badRequest, "\(name) is not a number from 0 to \(Int64.max).")
        }
        return UInt64(number)
    }
}

/// What a route answers.
enum HubReply: Sendable {
    /// 200 with JSON.
    case json(Data)
    /// 204.
    case done
    /// 200 or 206 with the bytes of a blob, read while they are sent.
    case blob(BlobReading)
    /// 200, text.
    case text(String, type: String)

    /// Slashes stay as they are: escaped, the length of an answer to a right PIN would tell which share it has.
    static func json(_ message: some Encodable) throws -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return .json(try encoder.encode(message))
    }
}

/// A refusal that carries the record that is stored.
struct RecordConflict: Error {
    let current: HubRecord
}
