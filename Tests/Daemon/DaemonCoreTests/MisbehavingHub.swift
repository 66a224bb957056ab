import Foundation
import Household
import HubAPI
import SealedFormats
import Synchronization

/// A hub in memory whose connections store every sent record, fail once their program is killed, and return an altered
/// answer that a test has prepared for a device.
final class MisbehavingHub: Sendable {
    /// One run of a device's program. Sendable because its state is one `Mutex`.
    final class Process: Sendable {
        private let isKilled = Mutex(false)

        func kill() { isKilled.withLock { $0 = true } }

        fileprivate func requireAlive() throws {
            guard isKilled.withLock({ !$0 }) else { throw HubUnreachable(.offline, "The program was killed.") }
        }
    }

    /// An answer to a device's next request of a route.
    struct AlteredAnswer: Sendable {
        let route: HubRoute
        /// Whether the hub performs the request, and only its answer is altered.
        var reachesHub = true
        /// - Parameter answer: the regular one; empty if the request did not reach the hub.
        let answer: @Sendable (HubRequest, _ answer: Data) throws -> Data
    }

    private struct State {
        var written: [HubRecord] = []
        var answers: [HubID: AlteredAnswer] = [:]
    }

    let hub = MemoryHub()
    private let state = Mutex(State())

    /// Every record that the hub ever stored, in the order of writing.
    var written: [HubRecord] { state.withLock { $0.written } }

    func connection(_ token: SecretBytes?, of process: Process) -> any HubConnection {
        Connection(
            owner: self, hub: hub.connection(token), process: process,
            tokenHash: token.map { HouseholdSecrets.hash(of: $0) })
    }

    func prepare(_ altered: AlteredAnswer, for device: HubID) { state.withLock { $0.answers[device] = altered } }

    func isPrepared(for device: HubID) -> Bool { state.withLock { $0.answers[device] != nil } }

    /// From now on the hub answers regularly.
    func removeAnswer(for device: HubID) { state.withLock { $0.answers[device] = nil } }

    private func takeAnswer(for device: HubID?, _ route: HubRoute) -> AlteredAnswer? {
        state.withLock { state in
            guard let device, let altered = state.answers[device], altered.route == route else { return nil }
            state.answers[device] = nil
            return altered
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
        let owner: MisbehavingHub
        let hub: any HubConnection
        let process: Process
        let tokenHash: Data?

        private var device: HubID? {
            owner.hub.state.withLock { state in state.devices.first { $0.value.tokenHash == tokenHash }?.key }
        }

        func send(_ request: HubRequest) async throws -> Data {
            try process.requireAlive()
            let altered = owner.takeAnswer(for: device, request.route)
            if let altered, !altered.reachesHub { return try altered.answer(request, Data()) }
            let regular = try await hub.send(request)
            try owner.keep(request, regular)
            // The record was written, but its sender was killed.
            try process.requireAlive()
            return try altered?.answer(request, regular) ?? regular
        }

        func stream(after sequence: UInt64) async throws -> AsyncThrowingStream<HubStreamItem, any Error> {
            try process.requireAlive()
            return try await hub.stream(after: sequence)
        }
    }
}
