import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

extension ControlServer {
    /// Puts the router behind a listening socket. Hummingbird's `Application` does the same, but wakes up each second to
    /// know the date for a header that no client reads here: an idle computer is not woken.
    func serve(
        _ router: Router<ControlContext>, _ builder: HTTPServerBuilder, _ configuration: ServerConfiguration,
        logger: Logger, onServerRunning: @escaping @Sendable (any Channel) async -> Void
    ) throws -> any Service {
        let responder = router.buildResponder()
        return try builder.buildServer(
            configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger,
            responder: { request, responseWriter, channel in
                let context = ControlContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                // The router's middleware answers every refusal; what is thrown here ends the connection.
                let response = try await responder.respond(to: request, context: context)
                try await responseWriter.write(response: response.head, body: response.body)
            }, onServerRunning: onServerRunning)
    }
}
