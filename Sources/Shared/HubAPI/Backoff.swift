/// Exponential back-off: how long to wait before the next attempt after each failure in a row. Jitter spreads the attempts
/// of devices that failed at the same time.
public struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private let jitter: ClosedRange<Double>
    private let random: @Sendable () -> Double
    private var failures = 0

    /// - Parameters:
    ///   - first: the step after the first failure. It doubles with each further one, up to the longest.
    ///   - jitter: the shortest and longest wait as parts of the step; `1...1` waits exactly that long.
    ///   - random: from 0 up to 1.
    public init(
        first: Duration, longest: Duration, jitter: ClosedRange<Double> = 0.5...1,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.first = first
        self.longest = longest
        self.jitter = jitter
        self.random = random
    }

    /// - Parameter requested: the wait that the server asked for (`Retry-After`). It replaces the step, within the same
    ///   limits.
    public mutating func next(requested: Duration? = nil) -> Duration {
        let step = min(requested.map { max($0, first) } ?? first * (1 << min(failures, 16)), longest)
        failures += 1
        return step * jitter.lowerBound + step * (jitter.upperBound - jitter.lowerBound) * random()
    }

    public mutating func succeeded() { failures = 0 }
}
