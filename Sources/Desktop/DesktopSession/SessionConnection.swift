import ControlAPI
import Foundation
import LocalControl

/// The agent's port to the daemon. An implementation may run on any executor.
protocol SessionConnection: Sendable {
    /// Makes this process a desktop agent of its user. The sequence ends or throws when the daemon disconnects.
    func events() async throws -> any AsyncSequence<SessionEvent, any Error> & Sendable

    func report(_ idle: IdleReport) async throws

    /// - Returns: sentences about what stays open.
    func lockAll() async throws -> [String]

    func lockVault() async throws
}

/// The daemon itself, over its control socket.
struct DaemonConnection: SessionConnection {
    /// The value of `--socket`. The path is determined at each connection: a restarted daemon may use another.
    let socket: String?

    private var client: ControlClient {
        let environment = ProcessInfo.processInfo.environment
        return ControlClient(socketPath: ControlSocketPath.find(option: socket, environment: environment))
    }

    func events() async throws -> any AsyncSequence<SessionEvent, any Error> & Sendable {
        try await client.session()
    }

    func report(_ idle: IdleReport) async throws {
        try await client.call(\.reportIdle, body: idle)
    }

    func lockAll() async throws -> [String] { try await client.call(\.lock, body: LockRequest(all: true)).notes }

    func lockVault() async throws { try await client.call(\.closeVault) }
}
