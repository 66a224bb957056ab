import ControlAPI

/// A source of the time since the last input by keyboard, pointer or touch screen.
///
/// Both waits may return early, and end when their task is cancelled. All methods throw when the source has failed, and
/// may be called from any task.
protocol IdleSource: Sendable {
    var kind: IdleReport.Source { get }

    func idleTime() async throws -> Duration

    /// Returns after this much time without input, or a little before.
    func untilIdle(for time: Duration) async throws

    /// Returns at the next input.
    func untilTouched() async throws
}

struct IdleSourceUnavailable: Error, Equatable, CustomStringConvertible {
    var description: String
}
