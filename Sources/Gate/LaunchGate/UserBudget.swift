/// A rate limit for each user: a burst, then one per interval.
struct UserBudget {
    /// The number allowed at once.
    let burst: UInt64
    /// Nanoseconds until one more is allowed.
    let interval: UInt64

    private struct Spent {
        var count: UInt64
        /// On the clock of `Timetable`.
        var since: UInt64
    }

    private var spent: [UInt32: Spent] = [:]
    /// Users of user namespaces count too, and there can be many.
    private static let maximumUsers = 65_536

    init(burst: UInt64, interval: UInt64) {
        self.burst = burst
        self.interval = interval
    }

    mutating func take(_ user: UInt32, at now: UInt64 = Timetable.now) -> Bool {
        var entry = spent[user] ?? Spent(count: 0, since: now)
        let regained = (now - entry.since) / interval
        entry.count -= min(entry.count, regained)
        entry.since = entry.count == 0 ? now : entry.since + regained * interval
        let isLeft = entry.count < burst
        if isLeft { entry.count += 1 }
        if spent.count >= Self.maximumUsers, spent[user] == nil { spent = [:] }
        spent[user] = entry
        return isLeft
    }
}
