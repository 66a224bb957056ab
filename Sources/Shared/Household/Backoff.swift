/// Exponential back-off with jitter, so that many devices don't retry at once.
public struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private let random: @Sendable () -> Double
    private var failures = 0

    /// - Parameter random: from 0 up to 1.
    public init(
        first: Duration = .milliseconds(500), longest: Duration = .seconds(60),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.first = first
        self.longest = longest
        self.random = random
    }

    /// From half of the step to all of it; the step doubles up to the longest.
    public mutating func next() -> Duration {
        let step = min(first * (1 << min(failures, 16)), longest)
        failures += 1
        return step / 2 + step / 2 * random()
    }

    public mutating func succeeded() { failures = 0 }
}
