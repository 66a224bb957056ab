import DBus
import Synchronization

/// The inhibitor locks, and who waits for their end. The computer sleeps when their descriptors are closed, or when logind's
/// patience is over (InhibitDelayMaxSec in logind.conf(5), 5 s by default).
///
/// Sendable because its state is one `Mutex`.
final class SleepDelay: Sendable {
    private struct State {
        var locks: [BusDescriptor] = []
        var lastNumber: UInt64 = 0
        /// The acknowledgement that is waited for.
        var awaited: UInt64?
    }

    private let state = Mutex(State())

    /// Holds the next sleep and shutdown. Locks that were still held are closed.
    func hold(_ locks: [BusDescriptor]) {
        let old = state.withLock { state in
            defer { (state.locks, state.awaited) = (locks, nil) }
            return state.locks
        }
        for lock in old { lock.close() }
    }

    /// - Returns: the number to acknowledge.
    func begin() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.awaited = state.lastNumber
            return state.lastNumber
        }
    }

    func acknowledge(_ number: UInt64) {
        let locks: [BusDescriptor] = state.withLock { state in
            guard state.awaited == number else { return [] }
            defer { (state.locks, state.awaited) = ([], nil) }
            return state.locks
        }
        for lock in locks { lock.close() }
    }

    func drop() { hold([]) }
}
