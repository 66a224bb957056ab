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
        let service = HubService(
            configuration: configuration, store: store, blobs: blobs, time: time, metrics: metrics, streams: streams,
            pushes: pushes, pushKey: key, logger: logger)
        let application = try application(service, whenRunning: whenRunning)
        // Services end in reverse order: first the streams, then the requests, then what they use.
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: StoreService(store: store)),
                .init(service: PushService(pushes: pushes)),
                .init(service: ChangeService(store: store, streams: streams, time: time, logger: logger)),
                .init(service: Housekeeping(store: store, blobs: blobs, time: time, logger: logger)),
                .init(service: CertificateWatch(certificates: certificates, time: time)),
                .init(service: application),
                .init(service: StreamService(service: service)),
            ], gracefulShutdownSignals: signals, logger: quietLogger)
        group.maximumGracefulShutdownDuration = configuration.limits.shutdownTimeout
        let services = ServiceGroup(configuration: group)
        running.withLock { $0 = services }
        try await services.run()
    }

    /// Ends `run` in order, as a signal does. Returns without waiting for the end.
    public func stop() async { await running.withLock { $0 }?.triggerGracefulShutdown() }

    /// For the libraries: errors only.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = .error
        return logger
    }

    private func application(
        _ service: HubService, whenRunning: @escaping @Sendable (Int) async -> Void
    ) throws -> some ApplicationProtocol {
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
        let server = HTTPServerBuilder { responder in
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
        return Application(
            responder: HubResponder(service: service, files: files, budget: MemoryBudget(bytes: limits.memoryBytes)),
            server: server,
            configuration: ApplicationConfiguration(
                address: address, serverName: nil, backlog: 4_096,
                availableConnectionsDelegate: .maximum(limits.connections, logger: quietLogger)),
            onServerRunning: { channel in
                if let socketPath { chmod(socketPath, 0o660) }
                await whenRunning(channel.localAddress?.port ?? 0)
            },
            logger: quietLogger)
    }
}
