public import Policy

/// The time, and waiting for it.
public protocol TimeSource: Sendable {
    func now() -> Moment
    /// Seconds since 1970 by the wall clock, for the log only; no decision uses it.
    func wallClock() -> Double
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
}
