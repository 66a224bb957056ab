import HubAPI
import HubStore
import Synchronization

/// The usage of each household, cached for a minute; records that are written through this hub are added. Near the limit,
/// and after each hundredth of it, the store is read again, because other hubs may have written. Concurrent writes aren't
/// counted: a household may exceed the limit by a batch of records for each request, and by a hundredth of the limit for
/// each hub. Blobs never exceed it: the store compares them when they begin.
final class Quotas: Sendable {
    private struct Known {
        var bytes: UInt64
        var at: Duration
        /// Bytes written through this hub since the store was read.
        var added: UInt64
    }

    private let store: any HubStore
    private let limit: UInt64
    private let time: any HubTime
    private let known = Mutex<[HubID: Known]>([:])

    init(store: any HubStore, limit: UInt64, time: any HubTime) {
        self.store = store
        self.limit = limit
        self.time = time
    }

    /// - Throws: `HubError` `quotaExceeded` if the household has no room for that many more bytes.
    func reserve(_ bytes: UInt64, for household: HubID) async throws {
        guard bytes > 0 else { return }
        if fits(bytes, household) { return }
        let report = try await store.household(household)
        let (sum, overflow) = report.bytes.addingReportingOverflow(bytes)
        guard !overflow, sum <= limit else {
            throw HubError.overQuota(report.bytes, limit: limit)
        }
        let now = time.elapsed()
        known.withLock { known in
            if known.count > 100_000 { known.removeAll() }
            known[household] = Known(bytes: sum, at: now, added: bytes)
        }
    }

    /// The household's bytes have changed otherwise than by `reserve`.
    func forget(_ household: HubID) { known.withLock { $0[household] = nil } }

    private func fits(_ bytes: UInt64, _ household: HubID) -> Bool {
        let now = time.elapsed()
        return known.withLock { known in
            guard var entry = known[household], now - entry.at < .seconds(60) else { return false }
            let (sum, overflow) = entry.bytes.addingReportingOverflow(bytes)
            let (added, isMuch) = entry.added.addingReportingOverflow(bytes)
            guard !overflow, !isMuch, sum <= limit / 10 * 9, added <= limit / 100 else { return false }
            entry.bytes = sum
            entry.added = added
            known[household] = entry
            return true
        }
    }
}
