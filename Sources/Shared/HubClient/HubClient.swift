import AsyncHTTPClient
public import Foundation
public import HubAPI
import NIOCore
import NIOHTTP1
import NIOSSL

/// How a hub is reached.
public struct HubClientSettings: Sendable {
    public var address: HubAddress
    /// 32 bytes; nil for requests that need no token.
    public var token: Data?
    /// PEM file with the certificates that are trusted instead of the system's.
    public var certificates: String?
    /// "http://proxy.example:3128". The environment's is not looked at.
    public var proxy: String?
    /// A connection on which nothing comes for so long is dead. The hub shows every 15 seconds that it is alive.
    public var silence: Duration = .seconds(45)

    public init(address: HubAddress, token: Data? = nil, certificates: String? = nil, proxy: String? = nil) {
        self.address = address
        self.token = token
        self.certificates = certificates
        self.proxy = proxy
    }
}

/// A device's end of a hub, over HTTP. May be used from any task; its connections close with it.
public final class HubClient: HubConnection {
    private let settings: HubClientSettings
    private let http: HTTPClient

    /// - Throws: `HubUnreachable` where certificates or proxy can't be used.
    public init(_ settings: HubClientSettings) throws(HubUnreachable) {
        self.settings = settings
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let file = settings.certificates {
            guard (try? NIOSSLCertificate.fromPEMFile(file))?.isEmpty == false else {
                throw HubUnreachable(.certificate, "\(file) has no certificate in PEM that can be read.")
            }
            tls.trustRoots = .file(file)
        }
        configuration.tlsConfiguration = tls
        // A redirect could carry the token to another server.
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(10)
        configuration.timeout.read = TimeAmount(settings.silence)
        // Trying again is the caller's affair, with a growing pause.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The hub closes a silent connection after 30 s: a request on it could be sent just then, and fail.
        configuration.connectionPool.idleTimeout = .seconds(20)
        if let proxy = settings.proxy {
            guard let parts = URLComponents(string: proxy), parts.scheme == "http", let host = parts.host,
                let port = parts.port
            else { throw HubUnreachable(.offline, "\"\(proxy)\" is not a proxy; it looks like http://proxy:3128.") }
            configuration.proxy = .server(host: host, port: port)
        }
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { http.shutdown { _ in } }

    public func send(_ request: HubRequest) async throws -> Data {
        let request = request
        return try await translating {
            let response = try await http.execute(wire(request), timeout: .seconds(60))
            guard (200..<300).contains(response.status.code) else { throw try await Self.refusal(response) }
            return Data(
                try await response.body.collect(upTo: Self.maximumAnswerBytes(of: request.route)).readableBytesView)
        }
    }

    public func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> {
        var request = wire(HubRequest(.stream))
        request.headers.add(name: "Accept", value: "text/event-stream")
        request.headers.add(name: "Last-Event-ID", value: String(sequence))
        let response = try await translating { [request] in
            let response = try await http.execute(request, deadline: .distantFuture)
            guard response.status == .ok else { throw try await Self.refusal(response) }
            return response
        }
        let reader = HubStreamReader(response.body)
        return AsyncThrowingStream { [self] in try await translating { try await reader.next() } }
    }

    // MARK: Pieces

    private func wire(_ request: HubRequest) -> HTTPClientRequest {
        var path = request.route.path(request.parameters)
        let query = request.query.filter { $0.name != HubRequest.range }
        if !query.isEmpty {
            path += "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        }
        var wire = HTTPClientRequest(url: settings.address.description + path)
        wire.method = HTTPMethod(rawValue: request.route.method)
        if let range = request.query.first(where: { $0.name == HubRequest.range }) {
            wire.headers.add(name: range.name, value: range.value)
        }
        if let token = settings.token, request.route.access != .anybody {
            wire.headers.add(name: "Authorization", value: "Bearer \(Base64URL.encode(token))")
        }
        switch request.body {
        case .none: break
        case .json(let json):
            wire.headers.add(name: "Content-Type", value: "application/json")
            wire.body = .bytes(ByteBuffer(bytes: json))
        case .bytes(let bytes):
            wire.headers.add(name: "Content-Type", value: "application/octet-stream")
            wire.body = .bytes(ByteBuffer(bytes: bytes))
        }
        return wire
    }

    private static func maximumAnswerBytes(of route: HubRoute) -> Int {
        switch route {
        case .records, .record, .writeRecords, .writeRecord: 48 << 20
        case .readBlob: BlobState.maximumPiece
        case .roster: 4 << 20
        default: 1 << 20
        }
    }

    private static func refusal(_ response: HTTPClientResponse) async throws -> any Error {
        // A conflict carries the record that is stored.
        let body = try await response.body.collect(upTo: 24 << 20)
        if let refusal = try? JSONDecoder().decode(HubErrorBody.self, from: Data(body.readableBytesView)) {
            return refusal.error
        }
        if (300..<400).contains(response.status.code) {
            return HubUnreachable(
                .notUnderstood,
                "The address redirects (HTTP \(response.status.code)); use the hub's own address.")
        }
        return HubUnreachable(
            .notUnderstood, "The server at this address is not a hub (HTTP \(response.status.code)); check the address."
        )
    }

    private func translating<Value: Sendable>(
        _ work: @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch let error as CancellationError {
            throw error
        } catch let error as HubError {
            throw error
        } catch let error as HubUnreachable {
            throw error
        } catch let error as HTTPClientError where error == .cancelled {
            throw CancellationError()
        } catch let error as HTTPClientError where Self.timeouts.contains(error) {
            throw HubUnreachable(.timeout, "The hub at \(settings.address) did not answer in time.")
        } catch is NIOTooManyBytesError {
            throw HubUnreachable(.tooLarge, "The hub's response is too long; it was not read.")
        } catch {
            if let failure = TLSFailure.failure(error, at: settings.address) { throw failure }
            throw HubUnreachable(.offline, "The hub at \(settings.address) can't be reached (\(Self.words(error))).")
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .readTimeout, .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout,
        .httpProxyHandshakeTimeout,
    ]

    private static func words(_ error: any Error) -> String {
        if let error = error as? IOError { return error.localizedDescription }
        return "\(error)"
    }
}
