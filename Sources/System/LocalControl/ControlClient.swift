import AsyncHTTPClient
public import ControlAPI
import Foundation
import HubAPI
import NIOCore
import NIOHTTP1

/// Why a request got no answer of AppLocker's.
public enum ControlClientError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing listens on the socket.
    case notRunning(socketPath: String, cause: String)
    /// The connection was accepted, and no answer came in time.
    case noAnswer(seconds: Int)
    /// Something answered that is not this version of AppLocker.
    case notUnderstood(cause: String)

    public var description: String {
        switch self {
        case .notRunning(let socketPath, let cause):
            "AppLocker is not running (no answer on \(socketPath): \(cause)). Start it with `applocker up`."
        case .noAnswer(let seconds):
            "AppLocker runs but has not answered within \(seconds) seconds, and may still perform the request. Check "
                + "`applocker status` before you try again."
        case .notUnderstood(let cause):
            "AppLocker's response is invalid (\(cause)). Restart AppLocker, so that all parts have one version."
        }
    }
}

/// Speaks to `applockerd` over its control socket. A value: it may be used from any task.
public struct ControlClient: Sendable {
    public let socketPath: String
    /// The longest answer that is read, in bytes.
    static let maximumAnswerBytes = 32 << 20
    /// How long an answer may take. A passcode costs about a second, and several may wait their turn.
    static let answerTimeout: Duration = .seconds(120)

    /// For all clients of the process, and as long as it lives.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        // Without this, a socket without a listener is tried again for 90 s.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private let answerTimeout: Duration
    private var sharedVault: String?

    /// - Parameter answerTimeout: nil for `ControlClient.answerTimeout`; what a test may want to wait less for.
    public init(socketPath: String, answerTimeout: Duration? = nil) {
        self.socketPath = socketPath
        self.answerTimeout = answerTimeout ?? Self.answerTimeout
    }

    /// The same client, whose requests about moments, photos and blobs concern a shared vault.
    ///
    /// - Parameter reference: its id, the beginning of it, or its name; nil for this computer's own vault.
    public func inVault(_ reference: String?) -> ControlClient {
        var client = self
        client.sharedVault = reference
        return client
    }

    /// Sends one request with a body and decodes its answer.
    ///
    /// - Parameters:
    ///   - parameter: fills the brace in the route's path.
    ///   - token: of a management session.
    /// - Throws: `ControlError` where the daemon refused, `ControlClientError` where it did not answer.
    @discardableResult
    public func call<Body: Encodable & Sendable, Reply>(
        _ operation: ControlOperationPath<Body, Reply>, parameter: String? = nil, token: String? = nil, body: Body
    ) async throws -> Reply {
        let json = try [UInt8](JSONEncoder().encode(body))
        return try await decoded(send(operation, parameter, token: token, body: ("application/json", json)))
    }

    /// The same for a request without a body.
    @discardableResult
    public func call<Query: ControlQuery, Reply>(
        _ operation: ControlOperationPath<Query, Reply>, parameter: String? = nil, query: Query = Query(),
        token: String? = nil
    ) async throws -> Reply {
        try await decoded(send(operation, parameter, query: query.query, token: token))
    }

    /// Sealed bytes of a blob: at most `ControlRoute.maximumBlobPiece` from an offset, fewer at its end, none after it.
    ///
    /// - Throws: as `call`.
    public func readBlob(_ blob: String, offset: UInt64, length: Int) async throws -> [UInt8] {
        let query = ReadBlobQuery(offset: offset, length: length).query
        return Array(try await send(\.readBlob, blob, query: query).readableBytesView)
    }

    /// Uploads the next sealed bytes of a blob, at most `ControlRoute.maximumBlobPiece`. Offset 0 starts again.
    ///
    /// - Throws: as `call`; `CancellationError` once the answer is here.
    public func putBlob(_ blob: String, offset: UInt64, bytes: [UInt8]) async throws {
        let query = PutBlobQuery(offset: offset).query
        // In a task of its own, which is not cancelled: AppLocker could receive an abandoned piece after the blob's
        // removal, and create it again.
        _ = try await Task { try await send(\.putBlob, blob, query: query, body: ("application/octet-stream", bytes)) }
            .value
        try Task.checkCancellation()
    }

    private func decoded<Reply: Decodable>(_ answer: ByteBuffer) throws -> Reply {
        do {
            return try JSONDecoder().decode(Reply.self, from: Data(answer.readableBytesView))
        } catch {
            throw ControlClientError.notUnderstood(cause: "\(error)")
        }
    }

    private func send<Input, Reply>(
        _ operation: ControlOperationPath<Input, Reply>, _ parameter: String?, query: [(String, String)] = [],
        token: String? = nil, body: (type: String, bytes: [UInt8])? = nil
    ) async throws -> ByteBuffer {
        let route = ControlOperations.all[keyPath: operation].route
        let query = query + (sharedVault.map { [(ControlRoute.sharedVault, $0)] } ?? [])
        let request = request(route, parameter, query: query, token: token, body: body)
        do {
            let response = try await Self.http.execute(request, timeout: TimeAmount(answerTimeout))
            let answer = try await response.body.collect(upTo: Self.maximumAnswerBytes)
            try Self.check(response, answer)
            return answer
        } catch let error as CancellationError {
            throw error
        } catch let error as ControlError {
            throw error
        } catch let error as ControlClientError {
            throw error
        } catch {
            throw notRunning(error)
        }
    }

    /// Opens the stream that makes this process the prompter of its user. It ends with the daemon.
    ///
    /// - Throws: as `call`.
    public func prompts() async throws -> PromptEvents { try await events(.prompts) }

    /// Opens the stream that makes this process a desktop agent of its user. It ends with the daemon.
    ///
    /// - Throws: as `call`.
    public func session() async throws -> SessionEvents { try await events(.session) }

    private func events<Event>(_ route: ControlRoute) async throws -> ControlEvents<Event> {
        let request = request(route)
        let response: HTTPClientResponse
        do {
            response = try await Self.http.execute(request, deadline: .distantFuture)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw notRunning(error)
        }
        if response.status != .ok {
            try Self.check(response, try await response.body.collect(upTo: Self.maximumAnswerBytes))
        }
        return ControlEvents(body: response.body)
    }

    private func notRunning(_ error: any Error) -> ControlClientError {
        if let error = error as? HTTPClientError, [.deadlineExceeded, .readTimeout].contains(error) {
            return .noAnswer(seconds: Int(answerTimeout.components.seconds))
        }
        let words = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
        return .notRunning(socketPath: socketPath, cause: words ?? "\(error)")
    }

    private func request(
        _ route: ControlRoute, _ parameter: String? = nil, query: [(String, String)] = [], token: String? = nil,
        body: (type: String, bytes: [UInt8])? = nil
    ) -> HTTPClientRequest {
        var path = route.path(parameter)
        if !query.isEmpty {
            let pairs = query.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }
            path += "?" + pairs.joined(separator: "&")
        }
        var request = HTTPClientRequest(url: "http+unix://\(PercentEncoding.encode(socketPath))\(path)")
        request.method = HTTPMethod(rawValue: route.method)
        request.headers.add(name: "Host", value: "applocker")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "Content-Type", value: body.type)
            request.body = .bytes(ByteBuffer(bytes: body.bytes))
        }
        return request
    }

    private static func check(_ response: HTTPClientResponse, _ answer: ByteBuffer) throws {
        guard !(200..<300).contains(response.status.code) else { return }
        guard let body = try? JSONDecoder().decode(ControlErrorBody.self, from: Data(answer.readableBytesView)) else {
            throw ControlClientError.notUnderstood(cause: "HTTP status \(response.status.code)")
        }
        throw body.error
    }
}
