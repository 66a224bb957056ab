import Synchronization

/// Token buckets: each key may spend `burst` at once and `perSecond` more each second. Sendable because its state is
/// one `Mutex`; one call takes a few dozen nanoseconds.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Bucket {
        var left: Double
        var at: Duration
    }

    private struct State {
        var buckets: [Key: Bucket] = [:]
        /// The bucket of all keys that have none of their own.
        var shared: Bucket
    }

    /// In seconds; with a very small rate the wait would overflow an Int.
    private static var longestWait: Double { 86_400 }

    private let rate: HubLimits.Rate
    private let maximumKeys: Int
    private let state: Mutex<State>

    /// - Parameter maximumKeys: the most keys with a bucket of their own. A full bucket is removed to make room; if
    ///   none is full, new keys share one.
    init(_ rate: HubLimits.Rate, maximumKeys: Int = 65_536) {
        self.rate = rate
        self.maximumKeys = maximumKeys
        state = Mutex(State(shared: Bucket(left: rate.burst, at: .zero)))
    }

    /// Spends `cost` if the bucket isn't empty. The balance may become negative, which makes the next wait longer.
    ///
    /// - Returns: nil, or the seconds until the bucket has something again.
    func take(_ key: Key, cost: Double = 1, at now: Duration) -> Int? {
        guard rate.perSecond > 0 else { return nil }
        return state.withLock { state in
            if state.buckets[key] == nil, state.buckets.count >= maximumKeys {
                state.buckets = state.buckets.filter { refilled($0.value, now).left < rate.burst }
            }
            let isShared = state.buckets[key] == nil && state.buckets.count >= maximumKeys
            let known = isShared ? state.shared : state.buckets[key] ?? Bucket(left: rate.burst, at: now)
            var bucket = refilled(known, now)
            defer { if isShared { state.shared = bucket } else { state.buckets[key] = bucket } }
            let needed = cost > 0 ? min(cost, 1) : .leastNonzeroMagnitude
            guard bucket.left >= needed else {
                let seconds = (needed - bucket.left) / rate.perSecond
                return Int(min(max(1, seconds.rounded(.up)), Self.longestWait))
            }
            bucket.left -= cost
            return nil
        }
    }

    private func refilled(_ bucket: Bucket, _ now: Duration) -> Bucket {
        let seconds = (now - bucket.at) / .seconds(1)
        return Bucket(left: min(rate.burst, bucket.left + max(0, seconds) * rate.perSecond), at: now)
    }
}
