/// At most one bubble per app in three seconds, and never a stale one: what comes too soon is kept back, the newest
/// replaces what was kept, and it is shown when the three seconds are over.
struct NoticeFilter<Item: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    static var pause: Duration { .seconds(3) }

    private var shownAt: [String: Instant] = [:]
    private var held: [String: Item] = [:]

    /// Says whether to show it now. Otherwise it is held until `nextRelease`.
    ///
    /// - Parameter key: the app's id, or whatever else the pause is counted by.
    mutating func admits(_ item: Item, for key: String, at now: Instant) -> Bool {
        if let last = shownAt[key], now < last + Self.pause {
            held[key] = item
            return false
        }
        // An older one that waits is out of date now.
        held[key] = nil
        shownAt[key] = now
        return true
    }

    /// When the next one that is held back may be shown; nil when none is.
    var nextRelease: Instant? { held.keys.compactMap { shownAt[$0].map { $0 + Self.pause } }.min() }

    /// Those whose pause is over. They are shown now: their next pause begins.
    mutating func release(at now: Instant) -> [Item] {
        let due = held.keys.filter { key in shownAt[key].map { $0 + Self.pause <= now } ?? true }
        // Nothing is kept about an app that has been quiet since.
        shownAt = shownAt.filter { $0.value + Self.pause > now }
        return due.sorted().compactMap { key in
            shownAt[key] = now
            return held.removeValue(forKey: key)
        }
    }
}
