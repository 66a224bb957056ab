import DaemonCore
import Policy
import Sync
import Synchronization

/// Clocks that a test moves. Sendable because its state is one `Mutex`.
final class TestTime: TimeSource {
    private struct State {
        var moment = Moment(
            boot: BootID(rawValue: "boot-1"), elapsed: .seconds(1_000),
            civil: CivilTime(weekday: .monday, secondOfDay: 12 * 3_600))
        var wall = 1_800_000_000.0
        var nextSleeper = 0
        var sleepers: [Int: (deadline: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        /// Cancelled before they slept.
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    func now() -> Moment { state.withLock { $0.moment } }

    func wallClock() -> Double { state.withLock { $0.wall } }

    func sleep(until elapsed: Duration) async throws {
        let number = state.withLock { state in
            state.nextSleeper += 1
            return state.nextSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    if state.cancelled.remove(number) != nil {
                        continuation.resume(throwing: CancellationError())
                    } else if elapsed <= state.moment.elapsed {
                        continuation.resume()
                    } else {
                        state.sleepers[number] = (elapsed, continuation)
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                if let sleeper = state.sleepers.removeValue(forKey: number) {
                    sleeper.continuation.resume(throwing: CancellationError())
                } else {
                    state.cancelled.insert(number)
                }
            }
        }
    }

    /// The remaining time of each sleeper, shortest first.
    var waits: [Duration] {
        state.withLock { state in state.sleepers.values.map { $0.deadline - state.moment.elapsed }.sorted() }
    }

    /// Moves the time forward, and wakes the sleepers whose time is over.
    func advance(by duration: Duration) { set(elapsed: now().elapsed + duration) }

    /// Passes the remaining time of the next sleeper, if that is at most `longest`. In a loop it moves the clock as
    /// often as the tested code sleeps, so that a slow machine does not make it run ahead.
    ///
    /// - Returns: whether a sleeper was woken.
    @discardableResult
    func wakeNext(within longest: Duration) -> Bool {
        guard let wait = waits.first, wait <= longest else { return false }
        advance(by: max(wait, .zero))
        return true
    }

    func set(boot: String? = nil, elapsed: Duration? = nil, civil: CivilTime? = nil, wall: Double? = nil) {
        let awake = state.withLock { state in
            let last = state.moment
            state.moment = Moment(
                boot: boot.map { BootID(rawValue: $0) } ?? last.boot, elapsed: elapsed ?? last.elapsed,
                civil: civil ?? last.civil)
            if let wall { state.wall = wall }
            let due = state.sleepers.filter { $0.value.deadline <= state.moment.elapsed }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for sleeper in awake { sleeper.resume() }
    }
}
