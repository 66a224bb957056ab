import HubAPI
import Synchronization

/// Limits the memory for large bodies and responses: in total, and for each household.
final class MemoryBudget: Sendable {
    private struct State {
        var left: Int
        var used: [HubID: Int] = [:]
    }

    private let state: Mutex<State>
    /// The limit of one household.
    private let largestShare: Int

    /// - Parameter largestShare: the limit of one household; nil: a third, but at least what one request may need.
    init(bytes: Int, largestShare: Int? = nil) {
        state = Mutex(State(left: bytes))
        self.largestShare = largestShare ?? max(bytes / 3, HubRoute.writeRecord.maximumBodyBytes * 3)
    }

    /// The reservation of one request, released with the value.
    final class Share: Sendable {
        private let budget: MemoryBudget
        private let household: HubID?
        private let bytes = Mutex(0)

        fileprivate init(_ budget: MemoryBudget, _ household: HubID?) {
            self.budget = budget
            self.household = household
        }

        /// - Throws: `HubError` if the budget, or this household's part of it, is used up.
        func grow(to size: Int) throws {
            try bytes.withLock { bytes in
                guard size > bytes else { return }
                try budget.take(size - bytes, for: household)
                bytes = size
            }
        }

        /// Reserves for records of this size and their JSON, unless they are small.
        /// - Throws: as `grow(to:)`.
        func growToEncode(_ size: Int) throws {
            if size > HubRoute.smallBodyBytes { try grow(to: size * 3) }
        }

        /// Releases what is reserved beyond this size.
        func shrink(to size: Int) {
            bytes.withLock { bytes in
                guard size < bytes else { return }
                budget.release(bytes - size, of: household)
                bytes = size
            }
        }

        deinit { budget.release(bytes.withLock { $0 }, of: household) }
    }

    func share(of household: HubID?) -> Share { Share(self, household) }

    private func take(_ bytes: Int, for household: HubID?) throws {
        let isThere = state.withLock { state in
            let used = household.map { state.used[$0, default: 0] } ?? 0
            guard state.left >= bytes, household == nil || used + bytes <= largestShare else { return false }
            state.left -= bytes
            if let household { state.used[household] = used + bytes }
            return true
        }
        guard isThere else {
            throw HubError(
                .unavailable, "The hub is handling as many large requests as it can. Try again.", retryAfterSeconds: 1)
        }
    }

    private func release(_ bytes: Int, of household: HubID?) {
        state.withLock { state in
            state.left += bytes
            guard let household, let used = state.used[household] else { return }
            state.used[household] = used > bytes ? used - bytes : nil
        }
    }
}
