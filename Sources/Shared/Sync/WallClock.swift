/// The wall clock, and waiting.
public protocol WallClock: Sendable {
    /// Seconds since 1970 by the wall clock, for the log only; no decision uses it.
    func wallClock() -> Double
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
}
