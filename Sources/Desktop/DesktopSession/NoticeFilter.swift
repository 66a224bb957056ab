/// Allows one notification per app in three seconds, and never an outdated one: an early one is held until the three
/// seconds are over, and a newer one replaces it.
struct NoticeFilter<Item: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    static var pause: Duration { .seconds(3) }

    private var shownAt: [String: Instant] = [:]
    private var held: [String: Item] = [:]

    /// Returns whether to show it now. Otherwise it is held until `nextRelease`.
    ///
    /// - Parameter key: the app's id, or another key by which the pause is counted.
    mutating func admits(_ item: Item, for key: String, at now: Instant) -> Bool {
        if let last = shownAt[key], now < last + Self.pause {
            held[key] = item
            return false
        }
        // A held one is outdated now.
        held[key] = nil
        shownAt[key] = now
        return true
    }

    /// Drops what is held for this key.
    mutating func drop(_ key: String) { held[key] = nil }

    /// When the next held one may be shown; nil if none is held.
    var nextRelease: Instant? { held.keys.compactMap { shownAt[$0].map { $0 + Self.pause } }.min() }

    /// Those whose pause is over. The caller shows them now: their next pause begins.
    mutating func release(at now: Instant) -> [Item] {
        let due = held.keys.filter { key in shownAt[key].map { $0 + Self.pause <= now } ?? true }
        // Apps whose pause is over need no entry.
        shownAt = shownAt.filter { $0.value + Self.pause > now }
        return due.sorted().compactMap { key in
            shownAt[key] = now
            return held.removeValue(forKey: key)
        }
    }
}
