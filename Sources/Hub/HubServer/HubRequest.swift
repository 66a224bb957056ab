import Foundation
import HTTPTypes
import HubAPI
import HubStore
import NIOCore

/// A request that was authenticated and read in full.
struct HubRequest: Sendable {
    let route: HubRoute
    let client: Client
    let headers: HTTPFields
    let query: [String: String]
    let parameters: [String: String]
    /// Nil if the route needs no token.
    let device: StoredDevice?
    let body: Data
    /// The memory that is reserved for its body and its answer.
    let share: MemoryBudget.Share

    /// - Throws: `HubError` if the route needs no token.
    func knownDevice() throws -> StoredDevice {
        guard let device else { throw HubError(.unauthorized, "This request requires a device's token.") }
        return device
    }

    func message<Message: Decodable>(_ type: Message.Type = Message.self) throws -> Message {
        guard body.count <= HubRoute.smallBodyBytes || Self.hasFewValues(body) else {
            throw HubError(.badRequest, "The body has too many values, or is not JSON in UTF-8.")
        }
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw HubError(
                .badRequest, "The body lacks \"\(key.stringValue)\"; docs/hub-protocol.md describes the body.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context)
        {
            let field = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw HubError(
                .badRequest,
                field.isEmpty
                    ? "The body is not the expected JSON; docs/hub-protocol.md describes it."
                    : "The body's \"\(field)\" is invalid; docs/hub-protocol.md describes it.")
        }
    }

    /// The most signs in a large body that separate, name or begin values; 256 records have 10,000.
    private static let mostSigns = 16_384

    /// Decoding needs 24 bytes for each value besides the body: many tiny ones would need more memory than is reserved.
    static func hasFewValues(_ json: Data) -> Bool {
        var (signs, isText, isEscaped) = (0, false, false)
        return json.withUnsafeBytes { bytes in
            for byte in bytes {
                // Another encoding, which the decoder would accept.
                if byte == 0 { return false }
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\"") {
                    isText.toggle()
                } else if isText {
                    isEscaped = byte == UInt8(ascii: "\\")
                } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[")
                    || byte == UInt8(ascii: "{")
                {
                    signs += 1
                    if signs > mostSigns { return false }
                }
            }
            return true
        }
    }

    /// An id in the path.
    func id(_ name: String = "id") throws -> HubID {
        guard let id = parameters[name].flatMap(HubID.init) else {
            throw HubError(.badRequest, "The path's {\(name)} is not 32 lower-case hexadecimal digits.")
        }
        return id
    }

    /// A number in the query, from 0 to 2^63 - 1.
    func number(_ name: String, default fallback: UInt64? = nil) throws -> UInt64 {
        guard let text = query[name] else {
            guard let fallback else { throw HubError(.badRequest, "The query lacks \(name)=N.") }
            return fallback
        }
        return try Self.number(text, "The query's \(name)")
    }

    /// Accepts only decimal digits, at most 2^63 - 1, which is what a database can store.
    static func number(_ text: String, _ name: String) throws -> UInt64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text) else {
            throw HubError(.badRequest, "\(name) is not a number from 0 to \(Int64.max).")
        }
        return UInt64(number)
    }
}

enum HubReply: Sendable {
    /// 200 with JSON.
    case json(Data)
    /// 204.
    case done
    /// 200 or 206 with the bytes of a blob, read while they are sent.
    case blob(BlobReading)
    /// 200, text.
    case text(String, type: String)

    /// Slashes aren't escaped: escaping would make the length of the response to a right PIN depend on the share.
    static func json(_ message: some Encodable) throws -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return .json(try encoder.encode(message))
    }
}

/// A conflict, with the stored record.
struct RecordConflict: Error {
    let current: HubRecord
}
