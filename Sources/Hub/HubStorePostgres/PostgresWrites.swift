import Foundation
import HubAPI
import HubStore
import Synchronization

/// One call of `write`.
struct PostgresWrite: Sendable {
    var household: HubID
    var records: [HubRecord]
    var time: Int64
}

/// While a transaction is made durable, gathers the writes that arrive for the next one.
///
/// A household always uses the same one of two lanes, so its writes never wait for each other's row lock. A transaction
/// locks its households in the order of their ids, so hubs can't deadlock.
final class PostgresWrites: Sendable {
    private struct Waiting: Sendable {
        var write: PostgresWrite
        var continuation: CheckedContinuation<[HubWriteOutcome], any Error>
    }

    private struct Way {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    /// The most records in one transaction, and sealed bytes, unless a single call has more.
    private static let mostRecords = 1_024
    private static let mostBytes = 16 << 20

    private let pool: PostgresPool
    private let ways = Mutex([Way(), Way()])

    init(_ pool: PostgresPool) { self.pool = pool }

    func write(_ write: PostgresWrite) async throws -> [HubWriteOutcome] {
        let way = Int(UInt(bitPattern: write.household.hashValue) % 2)
        return try await withCheckedThrowingContinuation { continuation in
            let hasToStart = ways.withLock { ways in
                ways[way].waiting.append(Waiting(write: write, continuation: continuation))
                defer { ways[way].isRunning = true }
                return !ways[way].isRunning
            }
            if hasToStart { Task { await drain(way) } }
        }
    }

    private func drain(_ way: Int) async {
        while let gathered = next(way) { await commit(gathered) }
    }

    private func next(_ way: Int) -> [Waiting]? {
        ways.withLock { ways in
            guard !ways[way].waiting.isEmpty else {
                ways[way].isRunning = false
                return nil
            }
            var (count, records, bytes) = (0, 0, 0)
            for waiting in ways[way].waiting {
                records += waiting.write.records.count
                bytes += waiting.write.records.reduce(0) { $0 + ($1.sealed?.count ?? 0) }
                if count > 0, records > Self.mostRecords || bytes > Self.mostBytes { break }
                count += 1
            }
            defer { ways[way].waiting.removeFirst(count) }
            return Array(ways[way].waiting.prefix(count))
        }
    }

    private func commit(_ gathered: [Waiting]) async {
        let writes = gathered.map(\.write)
        do {
            let outcomes = try await pool.transaction { try PostgresWriteBatch.run(writes, $0) }
            for (waiting, outcome) in zip(gathered, outcomes) { waiting.continuation.resume(with: outcome) }
        } catch let error as HubError where error.code == .unavailable || gathered.count == 1 {
            for waiting in gathered { waiting.continuation.resume(throwing: error) }
        } catch {
            // One of the writes fails: each is tried alone.
            for waiting in gathered { await commit([waiting]) }
        }
    }
}
