import Glibc

/// The hub's clocks. Injected, so that a test can advance time by days.
public protocol HubTime: Sendable {
    /// Since 1970, by the wall clock.
    func milliseconds() -> Int64
    /// Since a fixed moment, by a monotonic clock.
    func elapsed() -> Duration
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Unlike a duration, an end counts the time that passed, or the clock's advance, since it was computed.
    /// - Parameter end: as of `elapsed()`.
    /// - Throws: `CancellationError`.
    func sleep(until end: Duration) async throws
}

extension HubTime {
    /// Seconds since 1970.
    func seconds() -> Int64 { milliseconds() / 1_000 }
}

public struct SystemHubTime: HubTime {
    public init() {}

    public func milliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }

    public func elapsed() -> Duration {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
    }

    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
    public func sleep(until end: Duration) async throws { try await sleep(for: end - elapsed()) }
}
