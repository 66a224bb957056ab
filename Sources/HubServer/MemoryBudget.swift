import Synchronization
import WireProtocol

/// What large bodies and answers may take of the memory, all together.
final class MemoryBudget: Sendable {
    private let left: Mutex<Int>

    init(bytes: Int) { left = Mutex(bytes) }

    /// Held for as long as the value lives.
    final class Share: Sendable {
        private let budget: MemoryBudget
        private let bytes: Int

        fileprivate init(_ budget: MemoryBudget, _ bytes: Int) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit { budget.left.withLock { $0 += bytes } }
    }

    /// - Throws: `HubError` where others have it all.
    func take(_ bytes: Int) throws -> Share {
        let isThere = left.withLock { left in
            guard left >= bytes else { return false }
            left -= bytes
            return true
        }
        guard isThere else {
            throw HubError(
                .unavailable, "The hub is handling as many large requests as it can. Try again.", retryAfterSeconds: 1)
        }
        return Share(self, bytes)
    }
}
