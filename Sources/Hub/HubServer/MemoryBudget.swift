import HubAPI
import Synchronization

/// Limits the memory for large bodies and responses: in total, for each household, and for each client's address.
final class MemoryBudget: Sendable {
    private struct State {
        var left: Int
        var households: [HubID: Int] = [:]
        var addresses: [[UInt8]: Int] = [:]
    }

    private let state: Mutex<State>
    /// The limit of one household.
    private let householdBytes: Int
    /// The limit of one address, with or without tokens.
    private let addressBytes: Int

    /// - Parameters:
    ///   - householdBytes: the limit of one household; nil: a third, but at least what one request may need.
    ///   - addressBytes: the limit of one address; nil: a quarter, but at least what one request may need.
    init(bytes: Int, householdBytes: Int? = nil, addressBytes: Int? = nil) {
        state = Mutex(State(left: bytes))
        let largestRequest = HubRoute.writeRecord.maximumBodyBytes * 3
        self.householdBytes = householdBytes ?? max(bytes / 3, largestRequest)
        self.addressBytes = addressBytes ?? max(bytes / 4, largestRequest)
    }

    /// The reservation of one request, released with the value.
    final class Share: Sendable {
        private let budget: MemoryBudget
        private let household: HubID?
        private let address: [UInt8]
        private let bytes = Mutex(0)

        fileprivate init(_ budget: MemoryBudget, _ household: HubID?, _ address: [UInt8]) {
            self.budget = budget
            self.household = household
            self.address = address
        }

        /// - Throws: `HubError` if the budget, or the part of this household or address, is used up.
        func grow(to size: Int) throws {
            try bytes.withLock { bytes in
                guard size > bytes else { return }
                try budget.take(size - bytes, for: household, address)
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
                budget.release(bytes - size, of: household, address)
                bytes = size
            }
        }

        deinit { budget.release(bytes.withLock { $0 }, of: household, address) }
    }

    /// - Parameter household: nil for a request without a token.
    func share(of household: HubID?, for client: Client) -> Share { Share(self, household, client.countedAs) }

    private func take(_ bytes: Int, for household: HubID?, _ address: [UInt8]) throws {
        let isThere = state.withLock { state in
            let ofAddress = state.addresses[address, default: 0] + bytes
            let ofHousehold = household.map { state.households[$0, default: 0] + bytes }
            guard state.left >= bytes, ofAddress <= addressBytes, ofHousehold ?? 0 <= householdBytes else {
                return false
            }
            state.left -= bytes
            state.addresses[address] = ofAddress
            if let household { state.households[household] = ofHousehold }
            return true
        }
        guard isThere else {
            throw HubError(
                .unavailable, "The hub is handling as many large requests as it can. Try again.", retryAfterSeconds: 1)
        }
    }

    private func release(_ bytes: Int, of household: HubID?, _ address: [UInt8]) {
        guard bytes > 0 else { return }
        state.withLock { state in
            state.left += bytes
            Self.release(bytes, of: address, in: &state.addresses)
            if let household { Self.release(bytes, of: household, in: &state.households) }
        }
    }

    private static func release<Key>(_ bytes: Int, of key: Key, in used: inout [Key: Int]) {
        guard let before = used[key] else { return }
        used[key] = before > bytes ? before - bytes : nil
    }
}
