import Foundation
import HubAPI
import HubStore
import Synchronization

/// A cache of tokens and their devices. Only this process changes the database, and it updates the cache before it
/// acknowledges a change.
final class TokenCache: Sendable {
    private struct State {
        var devices: [Data: StoredDevice] = [:]
        var generation: UInt64 = 0
    }

    private static let largest = 10_000
    private let state = Mutex(State())

    /// - Returns: nil if it has to be looked up; then the generation to pass to `keep`.
    func device(_ hash: Data) -> (device: StoredDevice?, generation: UInt64) {
        state.withLock { ($0.devices[hash], $0.generation) }
    }

    /// Caches the device, unless something changed since the generation, that is while it was read.
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
