/// How soon a child that has ended is started again.
struct RestartPolicy: Sendable, Equatable {
    /// How a child's life went.
    struct Life: Sendable {
        var lasted: Duration
        /// It said that it works.
        var wasReady: Bool
        /// Somebody killed it with SIGKILL.
        var wasKilled: Bool
    }

    /// This many short lives in a row pass without a delay.
    let patience: Int
    /// A life shorter than this is a short one.
    let shortLife: Duration
    /// Being killed never counts as a short life: whoever kills it over and over gains no gap.
    let forgivesKills: Bool
    private let firstDelay: Duration
    private let longestDelay: Duration
    private var shortLives = 0

    init(
        patience: Int, shortLife: Duration, forgivesKills: Bool, firstDelay: Duration = .milliseconds(50),
        longestDelay: Duration = .seconds(2)
    ) {
        self.patience = patience
        self.shortLife = shortLife
        self.forgivesKills = forgivesKills
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
    }

    /// The gate comes back at once however often it dies. Only one that ends by itself before it ever worked waits:
    /// a start that can't succeed must not use up the processor, and meanwhile launches stay held.
    static let gate = RestartPolicy(patience: 3, shortLife: .seconds(1), forgivesKills: true)
    /// The daemon waits up to two seconds after several quick deaths; without it the gate denies.
    static let daemon = RestartPolicy(patience: 3, shortLife: .seconds(5), forgivesKills: false)

    /// The delay before the next start.
    mutating func delay(after life: Life) -> Duration {
        let isForgiven = forgivesKills && (life.wasReady || life.wasKilled)
        guard life.lasted < shortLife, !isForgiven else {
            shortLives = 0
            return .zero
        }
        shortLives += 1
        guard shortLives > patience else { return .zero }
        let doublings = min(shortLives - patience - 1, 10)
        return min(firstDelay * (1 << doublings), longestDelay)
    }
}
