/// The wall clock, the time since boot, and waiting.
public protocol WallClock: Sendable {
    /// Seconds since 1970 by the wall clock, for the log only; no decision uses it.
    func wallClock() -> Double
    /// The time since boot, including the time in which the computer slept.
    func elapsed() -> Duration
    /// Waits for a time since boot, and returns at once if it has passed. It is not a duration, because a task may
    /// begin to wait later than its wait was computed.
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until elapsed: Duration) async throws
}
