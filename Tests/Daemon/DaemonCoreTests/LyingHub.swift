import Foundation
import Household
import HubAPI
import SealedFormats
import Synchronization

/// The hub in memory behind connections that keep every record that it was ever sent, end with a killed program, and answer once otherwise
/// where a test has a lie ready for a device.
final class LyingHub: Sendable {
    /// One run of a device's program. Sendable because its state is one `Mutex`.
    final class Process: Sendable {
        private let isKilled = Mutex(false)

        func kill() { isKilled.withLock { $0 = true } }

        fileprivate func requireAlive() throws {
            guard isKilled.withLock({ !$0 }) else { throw HubUnreachable(.offline, "The program was killed.") }
        }
    }

    /// One answer to a device's next request of a route.
    struct Lie: Sendable {
        let route: HubRoute
        /// Whether the hub does what it is asked, and only answers otherwise.
        var reachesHub = true
        /// - Parameter answer: the honest one; empty where the request did not reach the hub.
        let answer: @Sendable (HubRequest, _ answer: Data) throws -> Data
    }

    private struct State {
        var written: [HubRecord] = []
        var lies: [HubID: Lie] = [:]
    }

    let hub = MemoryHub()
    private let state = Mutex(State())

    /// Every record that the hub ever took, in the order of their writing.
    var written: [HubRecord] { state.withLock { $0.written } }

    func connection(_ token: SecretBytes?, of process: Process) -> any HubConnection {
        Connection(
            lying: self, hub: hub.connection(token), process: process,
            tokenHash: token.map { HouseholdSecrets.hash(of: $0) })
    }

    func prepare(_ lie: Lie, for device: HubID) { state.withLock { $0.lies[device] = lie } }

    func isPrepared(for device: HubID) -> Bool { state.withLock { $0.lies[device] != nil } }

    /// The hub is honest again.
    func forgetLies(for device: HubID) { state.withLock { $0.lies[device] = nil } }

    private func lie(for device: HubID?, _ route: HubRoute) -> Lie? {
        state.withLock { state in
            guard let device, let lie = state.lies[device], lie.route == route else { return nil }
            state.lies[device] = nil
            return lie
        }
    }

    private func keep(_ request: HubRequest, _ answer: Data) throws {
        guard request.route == .writeRecords, case .json(let json) = request.body else { return }
        let records = try JSONDecoder().decode(HubWriteRequest.self, from: json).records
        let outcomes = try JSONDecoder().decode(HubWriteAnswer.self, from: answer).outcomes
        let written = zip(records, outcomes).compactMap { record, outcome -> HubRecord? in
            guard outcome.sequence != nil else { return nil }
            var written = record
            written.sequence = outcome.sequence
            return written
        }
        state.withLock { $0.written += written }
    }

    private struct Connection: HubConnection {
        let lying: LyingHub
        let hub: any HubConnection
        let process: Process
        let tokenHash: Data?

        private var device: HubID? {
            lying.hub.state.withLock { state in state.devices.first { $0.value.tokenHash == tokenHash }?.key }
        }

        func send(_ request: HubRequest) async throws -> Data {
            try process.requireAlive()
            let lie = lying.lie(for: device, request.route)
            if let lie, !lie.reachesHub { return try lie.answer(request, Data()) }
            let answer = try await hub.send(request)
            try lying.keep(request, answer)
            // It was written, but whoever asked is no more.
            try process.requireAlive()
            return try lie?.answer(request, answer) ?? answer
        }

        func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> {
            try process.requireAlive()
            return try await hub.stream(after: sequence)
        }
    }
}
