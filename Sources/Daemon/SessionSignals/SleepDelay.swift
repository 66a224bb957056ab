import DBus
import Synchronization

/// The inhibitor lock, and who waits for its end. The computer sleeps when its descriptor is closed, or when logind's
/// patience is over (InhibitDelayMaxSec in logind.conf(5), 5 s by default).
///
/// Sendable because its state is one `Mutex`.
final class SleepDelay: Sendable {
    private struct State {
        var lock: BusDescriptor?
        var lastNumber: UInt64 = 0
        /// The acknowledgement that is waited for.
        var awaited: UInt64?
    }

    private let state = Mutex(State())

    /// Holds the next sleep. A lock that was still held is given back.
    func hold(_ lock: BusDescriptor) {
        let old = state.withLock { state in
            defer {
                state.lock = lock
                state.awaited = nil
            }
            return state.lock
        }
        old?.close()
    }

    var isHeld: Bool { state.withLock { $0.lock != nil } }

    /// - Returns: the number to acknowledge.
    func begin() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.awaited = state.lastNumber
            return state.lastNumber
        }
    }

    func acknowledge(_ number: UInt64) {
        let lock: BusDescriptor? = state.withLock { state in
            guard state.awaited == number else { return nil }
            state.awaited = nil
            defer { state.lock = nil }
            return state.lock
        }
        lock?.close()
    }

    func drop() {
        let lock = state.withLock { state in
            defer {
                state.lock = nil
                state.awaited = nil
            }
            return state.lock
        }
        lock?.close()
    }
}
