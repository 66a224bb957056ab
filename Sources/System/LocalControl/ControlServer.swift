import CLinux
public import ControlAPI
import Foundation
import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
public import ServiceLifecycle
import Synchronization

/// The control socket: HTTP/1.1 and JSON over a Unix socket that every local user may connect to. Who may do what is
/// decided behind `ControlService`, by the peer's user id and by management sessions.
public struct ControlServer: Sendable {
    /// A longer header is refused with `too_large`.
    public static let maximumHeaderBytes = 16 << 10
    static let headerTooLong = ControlError(
        .tooLarge, "The request's header is longer than \(maximumHeaderBytes) bytes; shorten it.")

    static func bodyTooLong(_ limit: Int) -> ControlError {
        ControlError(.tooLarge, "The request's body is longer than \(limit) bytes; shorten it.")
    }

    /// Connections beyond this wait in the listen queue until others close.
    public static let maximumConnections = 8_192

    /// What a test may want to wait less for.
    public struct Limits: Sendable {
        /// A connection that sends nothing for so long, even within a request, is closed.
        public var idleTimeout: Duration = .seconds(30)
        /// How often a stream of events shows that it is alive.
        public var heartbeat: Duration = .seconds(15)
        /// More are refused as `busy`, so that one user can't keep the others out.
        public var connectionsPerUser = 1_024

        public init() {}
    }

    let socketPath: String
    let service: any ControlService
    let limits: Limits

    public init(socketPath: String, service: any ControlService, limits: Limits = Limits()) {
        self.socketPath = socketPath
        self.service = service
        self.limits = limits
    }

    /// Has two threads serve all connections of this process, where one a core is the library's default: requests here
    /// are few and small. Call it once, before anything else of the network.
    public static func keepThreadsFew() { NIOSingletons.groupLoopCountSuggestion = 2 }

    /// The server as a service of swift-service-lifecycle. The socket is bound with the mode that the process' umask
    /// leaves (the daemon's allows no other user), and opened to all users once requests are answered.
    ///
    /// - Throws: `ControlServerError` where the path is too long or is something other than a socket.
    public func makeService() throws -> any Service {
        try removeStaleSocket()
        let router = Router(context: ControlContext.self)
        router.addMiddleware { RefusalMiddleware() }
        for route in ControlRoute.allCases where !route.answersEvents {
            register(route, on: router)
        }
        router.get(RouterPath(ControlRoute.prompts.template)) { [service] request, context in
            try await stream(request, context, joined: service.prompterJoined, left: service.prompterLeft)
        }
        router.get(RouterPath(ControlRoute.session.template)) { [service] request, context in
            try await stream(request, context, joined: service.agentJoined, left: service.agentLeft)
        }
        var logger = Logger(label: "control")
        logger.logLevel = .warning
        let path = socketPath
        let (counter, connectionsPerUser) = (ConnectionCounter(), limits.connectionsPerUser)
        return try serve(
            router,
            .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        ConnectionGuard(counter: counter, connectionsPerUser: connectionsPerUser)
                    ],
                    idleTimeout: TimeAmount(limits.idleTimeout),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: Self.maximumHeaderBytes, maxHeaderListSize: Self.maximumHeaderBytes,
                        maxHeaderFieldCount: 100))),
            ServerConfiguration(
                address: .unixDomainSocket(path: path), serverName: "applockerd", backlog: 1_024,
                availableConnectionsDelegate: .maximum(Self.maximumConnections, logger: logger)),
            logger: logger, onServerRunning: { _ in chmod(path, 0o666) })
    }

    private func removeStaleSocket() throws {
        guard socketPath.utf8.count <= 107 else { throw ControlServerError.pathTooLong(socketPath) }
        // Of a link, the link's own.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: socketPath) else { return }
        guard attributes[.type] as? FileAttributeType == .typeSocket else {
            throw ControlServerError.notASocket(socketPath)
        }
        guard !clinux_socket_accepts(socketPath) else { throw ControlServerError.inUse(socketPath) }
        unlink(socketPath)
    }

    private func register(_ route: ControlRoute, on router: Router<ControlContext>) {
        router.on(RouterPath(route.template), method: .init(rawValue: route.method)!) { request, context in
            let limit = route.maximumBodyBytes
            let peer = try await context.peer()
            if route.endsWithItsClient { return try await answerWhileThere(route, request, context, peer) }
            if limit > ControlRoute.smallBodyBytes { try await service.admit(route, from: peer) }
            var body: ByteBuffer
            do {
                body = try await request.body.collect(upTo: limit)
            } catch is NIOTooManyBytesError {
                throw Self.bodyTooLong(limit)
            }
            let bytes = [UInt8](buffer: body)
            if let length = request.headers[.contentLength], length != String(bytes.count) {
                throw ControlError(.badRequest, "The request's body is incomplete.")
            }
            // The body may hold a passcode.
            _ = body.withUnsafeMutableReadableBytes { $0.initializeMemory(as: UInt8.self, repeating: 0) }
            let reply = try await service.respond(to: Self.decoded(route, request, context, peer, body: bytes))
            return Self.response(route, reply)
        }
    }

    private static func decoded(
        _ route: ControlRoute, _ request: Request, _ context: ControlContext, _ peer: ControlPeer, body: [UInt8] = []
    ) throws -> ControlRequest {
        ControlRequest(
            route: route, peer: peer, parameter: try context.parameter(of: route),
            query: Dictionary(
                request.uri.queryParameters.map { (String($0.key), String($0.value)) },
                uniquingKeysWith: { _, last in last }), token: request.bearerToken, body: body)
    }

    private static func response(_ route: ControlRoute, _ reply: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: route.answersBytes ? "application/octet-stream" : "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: reply)))
    }

    /// Answers a request without a body that may take long, for as long as the client is there.
    private func answerWhileThere(
        _ route: ControlRoute, _ request: Request, _ context: ControlContext, _ peer: ControlPeer
    ) async throws -> Response {
        let asked = try Self.decoded(route, request, context, peer)
        let work = Task { [service] in try await service.respond(to: asked) }
        let reply = try await withTaskCancellationHandler {
            try await request.body.consumeWithInboundCloseHandler { _ in
                try await work.value
            } onInboundClosed: {
                work.cancel()
            }
        } onCancel: {
            work.cancel()
        }
        return Self.response(route, reply)
    }

    /// Server-sent events to one client, from `joined` to `left`.
    private func stream<Event: Encodable & Sendable>(
        _ request: Request, _ context: ControlContext,
        joined: @escaping @Sendable (ControlPeer, UInt64) async throws -> AsyncStream<Event>,
        left: @escaping @Sendable (UInt64) async -> Void
    ) async throws -> Response {
        let connection = ControlContext.nextConnection.add(1, ordering: .relaxed).newValue
        let peer = try await context.peer()
        let heartbeat = limits.heartbeat
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: .init { writer in
                // Only here is it certain that the departure will be noticed too.
                let events = try await joined(peer, connection)
                // The peer closing its end finishes the merged stream, which ends the loop below.
                let (lines, ended) = AsyncStream<ByteBuffer>.makeStream(bufferingPolicy: .bufferingOldest(1_024))
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for await event in events { ended.yield(Self.line(event)) }
                        ended.finish()
                    }
                    group.addTask {
                        while !Task.isCancelled {
                            try? await Task.sleep(for: heartbeat)
                            ended.yield(ByteBuffer(string: ":\n\n"))
                        }
                    }
                    try? await request.body.consumeWithInboundCloseHandler { _ in
                        for await line in lines { try await writer.write(line) }
                    } onInboundClosed: {
                        ended.finish()
                    }
                    group.cancelAll()
                    await left(connection)
                }
                try? await writer.finish(nil)
            })
    }

    private static func line(_ event: some Encodable) -> ByteBuffer {
        var buffer = ByteBuffer(string: "data: ")
        // The wire types hold nothing that JSON can't carry, so encoding them can't fail.
        if let json = try? JSONEncoder().encode(event) { buffer.writeBytes(json) }
        buffer.writeString("\n\n")
        return buffer
    }
}

/// Why the control socket could not be opened.
public enum ControlServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// unix(7) leaves 107 bytes for a path.
    case pathTooLong(String)
    case notASocket(String)
    /// Somebody answers on it.
    case inUse(String)

    public var description: String {
        switch self {
        case .pathTooLong(let path):
            "The control socket's path is longer than 107 bytes: \(path). Use a shorter --state."
        case .notASocket(let path): "\(path) exists and is not a socket. Move it away, or use another --state."
        case .inUse(let path): "Another AppLocker already serves \(path). Stop it first, or use another --state."
        }
    }
}

/// The properties of a connection that handlers use.
struct ControlContext: RequestContext {
    static let nextConnection = Atomic<UInt64>(0)

    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The process that connected, by the kernel; read for each request, it can't change during a connection.
    func peer() async throws -> ControlPeer {
        guard let provider = channel as? any SocketOptionProvider else {
            throw ControlError(
                .failed, "The connection's user is unknown; connect through the socket file.")
        }
        let future: EventLoopFuture<(Int32, UInt32, UInt32)> = provider.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: SO_PEERCRED))
        let credentials = try await future.get()
        return ControlPeer(user: credentials.1, process: credentials.0)
    }

    func parameter(of route: ControlRoute) throws -> String? {
        guard let open = route.template.firstIndex(of: "{"), let close = route.template.firstIndex(of: "}") else {
            return nil
        }
        let name = String(route.template[route.template.index(after: open)..<close])
        guard let text = parameters.get(name)?.removingPercentEncoding else {
            throw ControlError(.badRequest, "The address is not valid percent-encoded UTF-8 (RFC 3986 section 2.1).")
        }
        return text
    }
}

extension Request {
    var bearerToken: String? {
        guard let value = headers[.authorization], value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count))
    }
}

/// Turns every refusal into the one error body of the control socket.
struct RefusalMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ControlError {
            return Self.answer(error)
        } catch let error as HTTPParserError {
            return Self.answer(ControlError(.badRequest, "This is not an HTTP/1.1 request (\(error))."))
        } catch let error as HTTPError where error.status == .notFound {
            return Self.answer(
                ControlError(
                    .badRequest,
                    "There is no \(request.method) \(request.uri.path); docs/control-socket.md lists the routes."),
                status: .notFound)
        } catch let error as HTTPError {
            return Self.answer(
                ControlError(.badRequest, "\(error.body ?? error.status.reasonPhrase)."), status: error.status)
        } catch let error where !(error is CancellationError) {
            return Self.answer(ControlError(.failed, "AppLocker could not complete the request (\(error))."))
        }
    }

    private static func answer(_ error: ControlError, status: HTTPResponse.Status? = nil) -> Response {
        let body = (try? JSONEncoder().encode(ControlErrorBody(error: error))) ?? Data()
        var headers: HTTPFields = [.contentType: "application/json"]
        if let seconds = error.retryAfterSeconds { headers[.retryAfter] = String(seconds) }
        return Response(
            status: status ?? .init(code: error.status), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
