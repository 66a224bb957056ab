import CLinux
import ControlAPI
import Foundation
import Glibc
import Hummingbird
import LocalControl
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// Answers every request with its route, and records who joined and left.
actor RecordingService: ControlService {
    private(set) var requests: [ControlRequest] = []
    private(set) var joined: [UInt64: ControlPeer] = [:]
    private(set) var left: Set<UInt64> = []
    private var prompters: [UInt64: AsyncStream<PromptEvent>.Continuation] = [:]
    /// Thrown instead of an answer.
    private var refusal: (any Error)?

    func refuse(with error: any Error) { refusal = error }

    /// Whether requests run until they are cancelled, and how many were.
    private var hangs = false
    private(set) var cancelled = 0

    func hang() { hangs = true }

    func admit(_ route: ControlRoute, from peer: ControlPeer) async throws {}

    func respond(to request: ControlRequest) async throws -> [UInt8] {
        requests.append(request)
        if let refusal { throw refusal }
        if hangs {
            for await _ in AsyncStream(Void.self, { _ in }) {}
            cancelled += 1
            throw CancellationError()
        }
        return Array(#"{"notes":["\#(request.route)"]}"#.utf8)
    }

    func prompterJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<PromptEvent> {
        joined[connection] = peer
        let (stream, continuation) = AsyncStream<PromptEvent>.makeStream(bufferingPolicy: .bufferingOldest(256))
        prompters[connection] = continuation
        continuation.yield(.ready)
        return stream
    }

    func prompterLeft(connection: UInt64) async {
        left.insert(connection)
        prompters.removeValue(forKey: connection)?.finish()
    }

    private(set) var agents: [UInt64: AsyncStream<SessionEvent>.Continuation] = [:]

    func agentJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream<SessionEvent>.makeStream(bufferingPolicy: .bufferingOldest(256))
        agents[connection] = continuation
        continuation.yield(.ready)
        return stream
    }

    func agentLeft(connection: UInt64) async { agents.removeValue(forKey: connection)?.finish() }

    func sendToAllPrompters(_ event: PromptEvent) { for prompter in prompters.values { prompter.yield(event) } }
}

/// Runs `body` against the real control server on a real socket. The server runs until the tests end, as the daemon's
/// does: it can't be stopped while it accepts connections.
func withServer(
    _ limits: ControlServer.Limits = .init(), service: RecordingService = RecordingService(),
    _ body: @Sendable (_ path: String, RecordingService) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("control.sock")
    let application = try ControlServer(socketPath: path, service: service, limits: limits).makeService()
    Task.detached {
        do {
            try await application.run()
        } catch {
            Issue.record("the server ended: \(error)")
        }
    }
    await eventually("the server listens, and all users may connect") {
        return try clinux_socket_accepts(path)
            && FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o666
    }
    try await body(path, service)
}

extension ControlErrorBody {
    init?(_ answer: RawAnswer?) {
        guard let answer, let body = try? JSONDecoder().decode(Self.self, from: Data(answer.body.utf8)) else {
            return nil
        }
        self = body
    }
}
