import HubAPI

/// How soon a child is started again after its end.
struct RestartPolicy: Sendable {
    struct Life: Sendable {
        var lasted: Duration
        /// The child reported that it works.
        var wasReady: Bool
        /// SIGKILL ended it.
        var wasKilled: Bool
    }

    /// The number of short runs in a row that cause no delay.
    let patience: Int
    /// A run shorter than this is a short one.
    let shortLife: Duration
    /// A killed run never counts as a short one: killing the child repeatedly must not create a gap.
    let forgivesKills: Bool
    private var backoff: Backoff
    private var shortLives = 0

    init(
        patience: Int, shortLife: Duration, forgivesKills: Bool, firstDelay: Duration = .milliseconds(50),
        longestDelay: Duration = .seconds(2)
    ) {
        self.patience = patience
        self.shortLife = shortLife
        self.forgivesKills = forgivesKills
        backoff = Backoff(first: firstDelay, longest: longestDelay, jitter: 1...1)
    }

    /// The gate restarts at once however often it dies. Only one that exits before it ever worked is delayed: a start
    /// that can't succeed must not use up the processor, and launches stay held meanwhile.
    static let gate = RestartPolicy(patience: 3, shortLife: .seconds(1), forgivesKills: true)
    /// The daemon is delayed by up to two seconds after several quick deaths; the gate denies meanwhile.
    static let daemon = RestartPolicy(patience: 3, shortLife: .seconds(5), forgivesKills: false)

    /// The delay before the next start.
    mutating func delay(after life: Life) -> Duration {
        let isForgiven = forgivesKills && (life.wasReady || life.wasKilled)
        guard life.lasted < shortLife, !isForgiven else {
            shortLives = 0
            backoff.succeeded()
            return .zero
        }
        shortLives += 1
        return shortLives > patience ? backoff.next() : .zero
    }
}
