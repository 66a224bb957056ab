/// Decides when inactivity has lasted so long that open apps get locked.
struct IdlePolicy: Equatable, Sendable {
    enum Step: Equatable, Sendable {
        /// There is nothing to do before this idle time.
        case wait(untilIdleFor: Duration)
        /// The warning is due; this much time is left until the lock.
        case warn(left: Duration)
        case lock
    }

    /// How long before the lock the warning is shown.
    static let warningLead: Duration = .seconds(30)

    let limit: Duration
    /// At most half of the limit.
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

/// The start of the inactivity that counts: the last input, or the moment when something was opened if that was later,
/// because an approval by phone or over the network is no input here. If it isn't armed, no inactivity counts.
struct IdleWatch: Equatable, Sendable {
    typealias Instant = ContinuousClock.Instant

    private(set) var policy: IdlePolicy?
    private var armedAt: Instant?

    /// Applies what the daemon reports. Returns whether anything changed.
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
    /// - Parameter idle: since the last input.
    func counted(_ idle: Duration, at now: Instant) -> Duration {
        guard let armedAt else { return .zero }
        return min(idle, armedAt.duration(to: now))
    }
}
