import DBus
import Synchronization

/// The signals of logind that were not handled yet. A user can cause any number of them for their own sessions (as by
/// SetLockedHint), so the room of each object is limited, and the signals of others and of the computer are not lost.
///
/// Sendable because its state is one `Mutex`.
final class WaitingSignals: Sendable {
    /// Of one kind for one object. What is refused is read anyway when one that waits is handled.
    static let maximumOfOne = 64
    /// Fewer than a stream of `DBusConnection` holds.
    static let maximumOfAll = 4_000

    private struct State {
        var counts: [Kind: Int] = [:]
        var all = 0
        var hasOverflowed = false
    }

    private struct Kind: Hashable {
        var path: String
        var member: String

        init(_ signal: BusSignal) { (path, member) = (signal.path, signal.member) }
    }

    private let state = Mutex(State())

    /// Whether a signal was refused that nothing replaces.
    var hasOverflowed: Bool { state.withLock { $0.hasOverflowed } }

    /// - Returns: whether there is room.
    func add(_ signal: BusSignal) -> Bool {
        // Each new session has one of its own.
        let isLimited = !["SessionNew", "SessionRemoved"].contains(signal.member)
        return state.withLock { state in
            guard state.all < Self.maximumOfAll else {
                state.hasOverflowed = true
                return false
            }
            let count = state.counts[Kind(signal), default: 0]
            guard !isLimited || count < Self.maximumOfOne else { return false }
            state.counts[Kind(signal)] = count + 1
            state.all += 1
            return true
        }
    }

    /// Must be called before the signal is handled.
    func remove(_ signal: BusSignal) {
        state.withLock { state in
            let count = state.counts[Kind(signal), default: 1] - 1
            state.counts[Kind(signal)] = count == 0 ? nil : count
            state.all -= 1
        }
    }
}

/// Limits reports of locked sessions, each of which locks the user's apps and writes a line of the log.
struct LockReports {
    private static let burst = 16
    private static let window = Duration.seconds(10)
    private var recent: [UInt32: (since: ContinuousClock.Instant, count: Int)] = [:]

    /// Whether the user's report is among the first ones of the last seconds. Otherwise it is reported later.
    mutating func isDue(_ user: UInt32, at now: ContinuousClock.Instant = .now) -> Bool {
        var own = recent[user] ?? (now, 0)
        if own.since.duration(to: now) > Self.window { own = (now, 0) }
        own.count += 1
        recent[user] = own
        return own.count <= Self.burst
    }
}
