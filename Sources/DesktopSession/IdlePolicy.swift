/// When nobody has touched keyboard or pointer for so long that what is open gets locked.
struct IdlePolicy: Equatable, Sendable {
    enum Step: Equatable, Sendable {
        /// Nothing to do before nobody has touched anything for this long.
        case wait(untilIdleFor: Duration)
        /// The warning is due; so long is left until the lock.
        case warn(left: Duration)
        case lock
    }

    /// How long before the lock the warning comes.
    static let warningLead: Duration = .seconds(30)

    let limit: Duration
    /// Shorter where the limit itself is short: never more than half of it.
    let lead: Duration

    init(limit: Duration, lead: Duration = Self.warningLead) {
        self.limit = limit
        self.lead = min(lead, limit / 2)
    }

    func step(idleFor idle: Duration) -> Step {
        if idle >= limit { return .lock }
        let warning = limit - lead
        return idle >= warning ? .warn(left: limit - idle) : .wait(untilIdleFor: warning)
    }
}

/// Decides from when on inactivity counts: from the last touch, or from when something was opened if that was later (by
/// a phone or over the network nobody touches this keyboard). Not armed: it does not count at all.
struct IdleWatch: Equatable, Sendable {
    typealias Instant = ContinuousClock.Instant

    private(set) var policy: IdlePolicy?
    private var armedAt: Instant?

    /// Takes in what the daemon says. Returns whether anything changed.
    ///
    /// - Parameter limit: 0 or less turns the watch off.
    mutating func update(limit: Duration, isArmed: Bool, lead: Duration = IdlePolicy.warningLead, at now: Instant)
        -> Bool
    {
        let before = self
        policy = isArmed && limit > .zero ? IdlePolicy(limit: limit, lead: lead) : nil
        armedAt = policy == nil ? nil : armedAt ?? now
        return self != before
    }

    /// The inactivity that counts.
    ///
    /// - Parameter idle: since the last touch.
    func counted(_ idle: Duration, at now: Instant) -> Duration {
        guard let armedAt else { return .zero }
        return min(idle, armedAt.duration(to: now))
    }
}
