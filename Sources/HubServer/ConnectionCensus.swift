import Synchronization

/// How many connections each address has open. Sendable because its state is one `Mutex`.
final class ConnectionCensus: Sendable {
    private let counts = Mutex<[[UInt8]: Int]>([:])

    /// - Returns: whether the address may have one more; it is counted then.
    func enter(_ address: [UInt8], limit: Int) -> Bool {
        counts.withLock { counts in
            guard counts[address, default: 0] < limit else { return false }
            counts[address, default: 0] += 1
            return true
        }
    }

    func leave(_ address: [UInt8]) {
        counts.withLock { counts in
            let left = counts[address, default: 0] - 1
            counts[address] = left > 0 ? left : nil
        }
    }
}
