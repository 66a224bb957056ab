import Foundation
import HubStore
import Synchronization
import WireProtocol

/// Whose token is whose, as far as it was asked for. Only this process changes the database, and says so here before
/// anybody is told that the change is done.
final class TokenCache: Sendable {
    private struct State {
        var devices: [Data: StoredDevice] = [:]
        var generation: UInt64 = 0
    }

    private static let largest = 10_000
    private let state = Mutex(State())

    /// - Returns: nil where it has to be looked up; then the generation to hand to `keep`.
    func device(_ hash: Data) -> (device: StoredDevice?, generation: UInt64) {
        state.withLock { ($0.devices[hash], $0.generation) }
    }

    /// Keeps it, unless something changed since the generation, that is while it was read.
    func keep(_ device: StoredDevice, hash: Data, generation: UInt64) {
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.devices.count >= Self.largest { state.devices = [:] }
            state.devices[hash] = device
        }
    }

    func forget() {
        state.withLock { state in
            state.generation += 1
            state.devices = [:]
        }
    }
}
