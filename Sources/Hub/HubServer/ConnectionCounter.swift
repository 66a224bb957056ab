import Synchronization

/// How many connections each address has open. Sendable because its state is one `Mutex`.
final class ConnectionCounter: Sendable {
    private let counts = Mutex<[[UInt8]: Int]>([:])

    /// Counts one more connection.
    /// - Returns: false if the address has reached the limit; nothing is counted then.
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
