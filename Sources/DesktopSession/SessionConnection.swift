import Foundation
import LocalControl
import WireProtocol

/// What the agent needs from the daemon. An implementation may work anywhere.
protocol SessionConnection: Sendable {
    /// Makes this process a desktop agent of its user. The sequence ends or throws when the daemon goes away.
    func events() async throws -> any AsyncSequence<SessionEvent, any Error> & Sendable

    func report(_ idle: IdleReport) async throws

    func lockAll() async throws

    func lockVault() async throws
}

/// The daemon itself, over its control socket.
struct DaemonConnection: SessionConnection {
    /// The value of `--socket`. The path is looked up again each time: the daemon may come back elsewhere.
    let socket: String?

    private var client: ControlClient {
        let environment = ProcessInfo.processInfo.environment
        return ControlClient(socketPath: ControlSocketPath.find(option: socket, environment: environment))
    }

    func events() async throws -> any AsyncSequence<SessionEvent, any Error> & Sendable {
        try await client.session()
    }

    func report(_ idle: IdleReport) async throws {
        let _: DoneReport = try await client.call(.reportIdle, body: idle)
    }

    func lockAll() async throws { let _: AppsChanged = try await client.call(.lock, body: LockRequest(all: true)) }

    func lockVault() async throws { let _: VaultStatus = try await client.call(.closeVault) }
}
