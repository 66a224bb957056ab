import Foundation
import GRDB
import HubAPI
import HubStore
import Synchronization
import TestSupport
import Testing

@testable import HubStoreSQLite

/// Blobs that no record names are removed in steps.
struct GarbageTests {
    /// Counts the rows that each transaction changes, and makes one of them fail as a kill before its commit does.
    private final class Commits: TransactionObserver, Sendable {
        struct Interruption: Error {}

        private let state = Mutex((total: 0, commits: [Int](), interrupted: Int?.none))

        static func observing(_ store: SQLiteHubStore) async throws -> Commits {
            let commits = Commits()
            try await store.pool.writeWithoutTransaction { database in
                commits.state.withLock { $0.total = database.totalChangesCount }
                database.add(transactionObserver: commits, extent: .databaseLifetime)
            }
            return commits
        }

        /// Of each transaction.
        var rows: [Int] { state.withLock { $0.commits } }

        func interrupt(_ commit: Int) { state.withLock { $0.interrupted = commit } }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseWillCommit() throws {
            try state.withLock { if $0.commits.count == $0.interrupted { throw Interruption() } }
        }
        // SQLite reports no single changes of tables without row ids.
        func databaseDidCommit(_ db: Database) {
            state.withLock { state in
                state.commits.append(db.totalChangesCount - state.total)
                state.total = db.totalChangesCount
            }
        }
        func databaseDidRollback(_ db: Database) { state.withLock { $0.total = db.totalChangesCount } }
    }

    private static let count = 5_000

    /// A day old, of 5 bytes each.
    private func addUnnamedBlobs(to household: SampleHousehold, in store: SQLiteHubStore) async throws {
        try await store.pool.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
                    INSERT INTO blob (household, id, size, hash, idle_since, begun_by)
                    SELECT household.number, randomblob(16), 5, randomblob(32), :time, :device
                    FROM numbers, household WHERE household.id = :household
                    """,
                arguments: [
                    "count": Self.count, "time": now, "device": household.computer, "household": household.id,
                ])
            try database.execute(
                sql: "UPDATE household SET bytes = bytes + ? WHERE id = ?",
                arguments: [Int64(Self.count) * BlobUsage.bytes(size: 5), household.id])
        }
    }

    @Test func garbageIsCollectedInStepsAndFinishedAfterAnInterruption() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("hub.sqlite")
        let store = try SQLiteHubStore(path: path)
        let household = try await SampleHousehold.founded(in: store)
        let named = NewBlobRequest(id: .random(), size: 5, hash: .random(32))
        _ = try await store.beginBlob(named, by: household.computer, household: household.id, at: now)
        try await store.advanceBlob(named.id, of: household.id, from: 0, to: 5, isComplete: true, at: now)
        _ = try await store.write([household.record(blobs: [named.id])], household: household.id, at: now)
        let before = try await store.household(household.id).bytes
        try await addUnnamedBlobs(to: household, in: store)

        let commits = try await Commits.observing(store)
        commits.interrupt(2)
        await expectRefusal(.failed) { _ = try await store.collectGarbage(at: now + 86_401) }
        try await store.close()

        let reopened = try SQLiteHubStore(path: path)
        let bytes = try await reopened.household(household.id).bytes
        #expect(before < bytes && bytes < before + UInt64(Self.count) * 4_608, "what was committed stays")
        let later = try await Commits.observing(reopened)
        let garbage = try await reopened.collectGarbage(at: now + 86_401)
        #expect(Set(garbage.map(\.blob)).count == Self.count && garbage.allSatisfy { $0.household == household.id })
        #expect(try await reopened.household(household.id).bytes == before)
        #expect(try await reopened.blob(named.id, of: household.id) != nil)
        try await reopened.forgetGarbage(garbage)
        #expect(try await reopened.collectGarbage(at: now + 86_401).isEmpty)
        // A blob is removed from one table and added to another.
        let largest = try #require((commits.rows + later.rows).max())
        #expect(1_024...2_100 ~= largest, "one transaction changes \(largest) rows")
        try await reopened.close()
    }
}
