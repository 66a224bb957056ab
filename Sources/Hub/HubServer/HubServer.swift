import AsyncHTTPClient
import Foundation
import Glibc
import HTTPTypes
public import HubStore
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization
public import UnixSignals
import WebPush

/// The hub: HTTP/1.1 with JSON, plain or over TLS, on TCP or a Unix socket. docs/hub-protocol.md has its routes.
public final class HubServer: Sendable {
    private let configuration: HubConfiguration
    private let store: any HubStore
    private let blobs: any HubBlobStore
    private let time: any HubTime
    private let logger: Logger
    private let files: WebFiles
    private let certificates: CertificateReloader?
    private let running = Mutex<ServiceGroup?>(nil)

    /// - Parameter logger: receives every log line; none has an address, token, id or body.
    /// - Throws: `HubStartError` if the certificate or the companion's files can't be used.
    public init(
        configuration: HubConfiguration, store: any HubStore, blobs: any HubBlobStore,
        time: any HubTime = SystemHubTime(), logger: Logger
    ) throws {
        self.configuration = configuration
        self.store = store
        self.blobs = blobs
        self.time = time
        self.logger = logger
        files = try WebFiles(directory: configuration.webDirectory)
        certificates = try configuration.certificate.map { try CertificateReloader($0, logger: logger) }
    }

    /// Reads the certificate and the companion's files again. What can't be read remains in use as it was.
    public func reload() {
        certificates?.reload(always: true)
        files.reload(logger: logger)
    }

    /// Runs until the task is cancelled or the service group shuts down. Then it refuses new requests, ends the
    /// streams, finishes the requests in progress and closes the store.
    ///
    /// - Parameter whenRunning: called with the port in use (0 for a Unix socket).
    public func run(
        signals: [UnixSignal] = [], whenRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) async throws {
        let key = try ApplicationServerKey(
            rawRepresentation: try await store.setting(
                "vapid-key", orStore: ApplicationServerKey().rawRepresentation))
        let metrics = HubMetrics()
        let streams = StreamHub(
            store: store, metrics: metrics, time: time, limits: configuration.limits, logger: logger)
        let pushes = PushSender(
            settings: configuration.push, key: key, store: store, time: time, metrics: metrics, logger: logger)
        let reminders = ReminderSender(store: store, pushes: pushes, time: time, metrics: metrics, logger: logger)
        let service = HubService(
            configuration: configuration, store: store, blobs: blobs, time: time, metrics: metrics, streams: streams,
            pushes: pushes, reminders: reminders, pushKey: key, logger: logger)
        let server = try server(service, whenRunning: whenRunning)
        // Services end in reverse order: first the streams, then the requests, then what they use.
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: StoreService(store: store)),
                .init(service: PushService(pushes: pushes)),
                .init(service: reminders),
                .init(service: ChangeService(store: store, streams: streams, time: time, logger: logger)),
                .init(service: Housekeeping(store: store, blobs: blobs, time: time, logger: logger)),
                .init(service: CertificateWatch(certificates: certificates, time: time)),
                .init(service: server),
                .init(service: StreamService(service: service)),
            ], gracefulShutdownSignals: signals, logger: quietLogger)
        group.maximumGracefulShutdownDuration = configuration.limits.shutdownTimeout
        let services = ServiceGroup(configuration: group)
        running.withLock { $0 = services }
        try await services.run()
    }

    /// Ends `run` in order, as a signal does. Returns without waiting for the end.
    public func stop() async { await running.withLock { $0 }?.triggerGracefulShutdown() }

    /// As RFC 9110, section 5.6.7, requires it. The names are English, because no locale is set.
    /// - Parameter seconds: since 1970.
    static func date(_ seconds: time_t) -> String {
        var (seconds, parts) = (seconds, tm())
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            strftime(text.baseAddress!, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(cString: text.baseAddress!)
        }
    }

    /// For the libraries: errors only.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = .error
        return logger
    }

    /// Hummingbird's `Application` does the same, but wakes up each second to know the date for a header: a hub without
    /// requests is not woken.
    private func server(
        _ service: HubService, whenRunning: @escaping @Sendable (Int) async -> Void
    ) throws -> any Service {
        let limits = configuration.limits
        let (counter, metrics, proxies) = (ConnectionCounter(), service.metrics, configuration.trustedProxies)
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                RequestGuard(counter: counter, metrics: metrics, limits: limits, trustedProxies: proxies)
            ],
            idleTimeout: TimeAmount(limits.idleTimeout),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: RequestGuard.maximumHeaderBytes, maxHeaderListSize: RequestGuard.maximumHeaderBytes,
                maxHeaderFieldCount: 100))
        let certificates = certificates
        let builder = HTTPServerBuilder { responder in
            let channel = HTTP1Channel(responder: responder, configuration: http)
            return certificates.map { ReloadingTLSChannel(base: channel, certificates: $0) } ?? channel
        }
        let address: BindAddress
        let socketPath: String?
        switch configuration.listener {
        case .tcp(let host, let port): (address, socketPath) = (.hostname(host, port: port), nil)
        case .unix(let path):
            try StaleSocket.remove(path)
            (address, socketPath) = (.unixDomainSocket(path: path), path)
        }
        let responder = HubResponder(service: service, files: files)
        let logger = quietLogger
        return try builder.buildServer(
            configuration: ServerConfiguration(
                address: address, serverName: nil, backlog: 4_096,
                availableConnectionsDelegate: .maximum(limits.connections, logger: logger)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger,
            responder: { request, responseWriter, channel in
                let context = HubContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                var response: Response
                do {
                    response = try await responder.respond(to: request, context: context)
                } catch {
                    response = Response(status: .internalServerError)
                }
                response.headers[.date] = Self.date(Glibc.time(nil))
                try await responseWriter.write(response: response.head, body: response.body)
            },
            onServerRunning: { channel in
                if let socketPath { chmod(socketPath, 0o660) }
                await whenRunning(channel.localAddress?.port ?? 0)
            })
    }
}
