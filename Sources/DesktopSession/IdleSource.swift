import WireProtocol

/// Something that knows how long nobody has touched keyboard, pointer or screen.
///
/// Both waits may return early, and end when their task is cancelled. All methods throw when the source is gone, and
/// may be called from any task.
protocol IdleSource: Sendable {
    var kind: IdleReport.Source { get }

    func idleTime() async throws -> Duration

    /// Returns when nobody has touched anything for so long, or a little before.
    func untilIdle(for time: Duration) async throws

    /// Returns when somebody touches something from now on.
    func untilTouched() async throws
}

/// Why a source of idle time can't be used.
struct IdleSourceGone: Error, Equatable, CustomStringConvertible {
    var description: String
}
