import ControlAPI
import Synchronization

/// How often everything of a user had been locked when a passcode was typed.
struct LockGeneration: Sendable {
    fileprivate let user: UInt32
    fileprivate let count: UInt64
}

/// Counts how often everything of a user was locked: a passcode that was typed before a lock has no effect after it.
///
/// Sendable because its state is one `Mutex`.
final class LockGenerations: Sendable {
    private struct Counts {
        var everybody: UInt64 = 0
        var users: [UInt32: UInt64] = [:]

        func count(_ user: UInt32) -> UInt64 { everybody + users[user, default: 0] }
    }

    private let counts = Mutex(Counts())

    func generation(for user: UInt32) -> LockGeneration {
        counts.withLock { LockGeneration(user: user, count: $0.count(user)) }
    }

    /// - Parameter user: nil for everybody.
    func advance(_ user: UInt32?) {
        counts.withLock { counts in
            if let user { counts.users[user, default: 0] += 1 } else { counts.everybody += 1 }
        }
    }

    /// - Throws: `ControlError` with `busy` where everything of that user was locked since.
    func check(_ generation: LockGeneration) throws(ControlError) {
        guard counts.withLock({ $0.count(generation.user) }) == generation.count else {
            throw ControlError(.busy, "Everything was locked while the passcode was being checked. Try again.")
        }
    }
}
