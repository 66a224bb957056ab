import Crypto
import Foundation
import HubAPI
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// A push service on this machine: it stores messages and returns the given replies.
final class TestPush: Sendable {
    struct Message: Sendable {
        let path: String
        let headers: [String: String]
        let body: Data
    }

    struct Reply: Sendable {
        var status = 201
        var headers: [String: String] = [:]
    }

    let port: Int
    private let received: Shared
    private let task: Task<Void, any Error>

    private final class Shared: Sendable {
        let messages = Mutex<[Message]>([])
        let replies = Mutex<[Reply]>([])
    }

    /// - Parameter replies: in order; 201 after the last one.
    static func start(replies: [Reply] = []) async throws -> TestPush {
        let shared = Shared()
        shared.replies.withLock { $0 = replies }
        let router = Router()
        router.post("/**") { request, _ -> Response in
            let body = try await request.body.collect(upTo: 1 << 20)
            var headers: [String: String] = [:]
            for field in request.headers { headers[field.name.canonicalName] = field.value }
            shared.messages.withLock {
                $0.append(Message(path: request.uri.path, headers: headers, body: Data(body.readableBytesView)))
            }
            let reply = shared.replies.withLock { $0.isEmpty ? Reply() : $0.removeFirst() }
            var response = Response(status: .init(code: reply.status))
            for (name, value) in reply.headers { response.headers[.init(name)!] = value }
            return response
        }
        let (ports, port) = AsyncStream<Int>.makeStream()
        var logger = Logger(label: "push")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let task = Task { try await application.run() }
        var found = 0
        for await port in ports {
            found = port
            break
        }
        return TestPush(port: found, received: shared, task: task)
    }

    private init(port: Int, received: Shared, task: Task<Void, any Error>) {
        self.port = port
        self.received = received
        self.task = task
    }

    func end() async {
        task.cancel()
        _ = try? await task.value
    }

    var messages: [Message] { received.messages.withLock { $0 } }

    func endpoint(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

    /// Keys as a browser creates them.
    static func subscription(endpoint: String) -> PushSubscriptionRequest {
        PushSubscriptionRequest(
            endpoint: endpoint,
            keys: .init(
                p256dh: HubUnderTest.text(P256.KeyAgreement.PrivateKey().publicKey.x963Representation),
                auth: HubUnderTest.text(.random(16))))
    }
}
