import ControlAPI
import Foundation

/// A request of one operation, whose body or query is decoded where it is used.
struct TypedRequest<Input: Sendable>: Sendable {
    let untyped: ControlRequest

    /// What the path names; empty where it names nothing.
    var name: String { untyped.parameter ?? "" }
    var peer: ControlPeer { untyped.peer }
    var user: UInt32 { untyped.peer.user }
    var token: String? { untyped.token }
}

extension TypedRequest where Input: ControlQuery {
    var query: Input { get throws { try Input(query: untyped.query) } }
}

extension TypedRequest where Input: Decodable {
    var body: Input {
        get throws {
            do {
                return try JSONDecoder().decode(Input.self, from: Data(untyped.body))
            } catch DecodingError.keyNotFound(let key, _) {
                throw ControlError(.badRequest, "The field \"\(key.stringValue)\" is missing.")
            } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
                let path = context.codingPath.map(\.stringValue).joined(separator: ".")
                throw ControlError(.badRequest, "The field \"\(path)\" has a value of the wrong kind.")
            } catch {
                throw ControlError(
                    .badRequest, "The request's body is not the JSON that \(untyped.route.template) requires.")
            }
        }
    }
}

/// How each route is answered, apart from the streams of events.
struct RequestTable: Sendable {
    typealias Answer = @Sendable (ControlRequest) async throws -> [UInt8]

    private(set) var answers: [ControlRoute: Answer] = [:]

    /// Called when the daemon starts: a route that nothing answers is an error of the program.
    func requireComplete() {
        let missing = ControlRoute.allCases.filter { !$0.answersEvents && answers[$0] == nil }
        precondition(missing.isEmpty, "there is no handler of \(missing)")
    }

    mutating func answer<Input, Reply>(
        _ operation: ControlOperationPath<Input, Reply>,
        _ work: @escaping @Sendable (TypedRequest<Input>) async throws -> Reply
    ) {
        add(operation) { try await [UInt8](Self.encoder.encode(work($0))) }
    }

    /// For an operation whose answer is bytes.
    mutating func answerBytes<Input>(
        _ operation: ControlOperationPath<Input, Never>,
        _ work: @escaping @Sendable (TypedRequest<Input>) async throws -> [UInt8]
    ) {
        add(operation, work)
    }

    /// For an operation whose answer is that it is done.
    mutating func perform<Input>(
        _ operation: ControlOperationPath<Input, DoneReport>,
        _ work: @escaping @Sendable (TypedRequest<Input>) async throws -> Void
    ) {
        answer(operation) { request in
            try await work(request)
            return DoneReport()
        }
    }

    private mutating func add<Input, Reply>(
        _ operation: ControlOperationPath<Input, Reply>,
        _ work: @escaping @Sendable (TypedRequest<Input>) async throws -> [UInt8]
    ) {
        let route = ControlOperations.all[keyPath: operation].route
        let former = answers.updateValue({ try await work(TypedRequest(untyped: $0)) }, forKey: route)
        precondition(former == nil, "two handlers answer \(route.rawValue)")
    }

    /// Equal answers have equal bytes, and slashes in paths are not escaped.
    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
