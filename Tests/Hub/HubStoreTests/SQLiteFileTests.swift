import Foundation
import GRDB
import Glibc
import HubAPI
import HubStore
import Synchronization
import TestSupport
import Testing

@testable import HubStoreSQLite

/// The database file of an embedded hub.
@Suite struct SQLiteFileTests {
    let directory: TemporaryDirectory
    var path: String { directory.path("hub/hub.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func acknowledgedWritesAreSyncedToDisk() async throws {
        let store = try SQLiteHubStore(path: path)
        #expect(try store.synchronousLevel() == 2, "FULL")
        let journal = try await store.pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(journal == "wal")
        try await store.close()
    }

    @Test func noOtherUserMayReadTheFiles() async throws {
        let store = try SQLiteHubStore(path: path)
        let blobs = try DirectoryBlobStore(path: directory.path("hub/blobs"))
        let household = try await SampleHousehold.founded(in: store)
        let blob = StoredBlobID(household: household.id, blob: .random())
        try await blobs.write([1], at: 0, of: blob)
        for name in ["hub.sqlite", "hub.sqlite-wal", "hub.sqlite-shm", "blobs/\(household.id)/\(blob.blob)"] {
            #expect(try mode(directory.path("hub/" + name)) == 0o600, "\(name)")
        }
        for name in ["hub", "hub/blobs", "hub/blobs/\(household.id)"] {
            #expect(try mode(directory.path(name)) == 0o700, "\(name)")
        }
        try await store.close()
    }

    @Test func everythingIsStoredAfterReopening() async throws {
        let store = try SQLiteHubStore(path: path)
        let household = try await SampleHousehold.founded(in: store)
        var record = household.record()
        _ = try await store.write([record], household: household.id, at: now)
        try await store.close()
        let reopened = try SQLiteHubStore(path: path)
        record.sequence = 1
        #expect(try await reopened.record("notes", record.id, of: household.id) == record)
        #expect(try await reopened.device(tokenHash: household.token)?.id == household.computer)
        try await reopened.close()
    }

    @Test func aFileOfAnEarlierVersionCountsItsRecords() async throws {
        let store = try SQLiteHubStore(path: path)
        let upload = try await UploadOfTheVersionBefore.begun(in: store)
        try await DatabaseQueue(path: path).write { database in
            try database.execute(
                sql: """
                    ALTER TABLE blob DROP COLUMN begun_by;
                    CREATE INDEX record_tombstone ON record (household, written) WHERE sealed IS NULL;
                    UPDATE household SET bytes = 100 + 5;
                    DROP TABLE used_start;
                    ALTER TABLE invitation DROP COLUMN has_founded;
                    ALTER TABLE household DROP COLUMN is_main;
                    DELETE FROM grdb_migrations WHERE identifier LIKE '3:%' OR identifier LIKE '4:%'
                        OR identifier LIKE '7:%';
                    """)
        }
        let reopened = try SQLiteHubStore(path: path)
        try await upload.continues(in: reopened)
    }

    /// "Owner who is forced" of docs/threat-model.md: the database shows that a phone has more than one PIN.
    @Test func theRowOfAPINShareShowsWhichOfItsEntriesOpened() async throws {
        let store = try SQLiteHubStore(path: path)
        let household = try await SampleHousehold.founded(in: store)
        let device = try await household.admitted(to: store).device
        try await store.setPINShare(.sample, device: device, household: household.id)
        let (decoy, real) = (PINShareRequest.sample.entries[1], PINShareRequest.sample.entries[3])
        for verifier in [wrongVerifier, decoy.verifier, wrongVerifier, real.verifier] {
            _ = try await store.attemptPIN(verifier, device: device, household: household.id, at: now)
        }
        let stored = try await store.pool.read {
            try Data.fetchOne($0, sql: "SELECT entries FROM pin_share WHERE device = ?", arguments: [device])
        }
        let share = StoredPINShare(
            storedEntries: try #require(stored), failures: 0, opensAt: 0, isSettled: true)
        // After two failures: entries without a PIN count both, two entries count none.
        #expect(share?.entries.map(\.failures) == [2, 1, 2, 0])
        try await store.close()
    }

    /// Finding what has expired reads nothing else of a large collection.
    @Test func expiredRecordsAreFoundByAnIndex() async throws {
        let store = try SQLiteHubStore(path: path)
        let plan = try await store.pool.read { database in
            try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN " + SQLiteHubStore.expired, arguments: [1, "events", 5, 1_000]
            ).map { $0["detail"] as String }
        }
        #expect(plan.count == 1 && plan[0].contains("(household=? AND collection=? AND written<?)"), "\(plan)")
        try await store.close()
    }

    @Test func aSecondOwnerIsRefusedAndTheFirstContinues() async throws {
        let store = try SQLiteHubStore(path: path)
        let path = path
        let error = #expect(throws: SQLiteHubStoreError.self) { try SQLiteHubStore(path: path) }
        #expect(error?.code == .inUse && error?.description.contains(path) == true)
        _ = try await SampleHousehold.founded(in: store)
        try await store.close()
        try await SQLiteHubStore(path: path).close()
    }

    @Test func aFileOfALaterVersionIsRefusedAndUnchanged() async throws {
        try await SQLiteHubStore(path: path).close()
        let count = "SELECT COUNT(*) FROM grdb_migrations"
        let before = try await DatabaseQueue(path: path).write { database in
            try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99: from the future')")
            return try Int.fetchOne(database, sql: count)
        }
        let path = path
        let error = #expect(throws: SQLiteHubStoreError.self) { try SQLiteHubStore(path: path) }
        #expect(error?.code == .fromTheFuture && error?.description.contains("newer") == true)
        let kept = try await DatabaseQueue(path: path).read {
            try Int.fetchOne($0, sql: count)
        }
        #expect(kept == before)
    }

    @Test func aDamagedFileIsRefusedWithItsNameAndUnchanged() throws {
        mkdir(directory.path("hub"), 0o700)
        let bytes = Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(fileURLWithPath: path))
        let path = path
        let error = #expect(throws: SQLiteHubStoreError.self) { try SQLiteHubStore(path: path) }
        #expect(error?.code == .damaged && error?.description.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test func aDirectoryThatCannotBeCreatedIsReported() throws {
        let path = directory.path("no/such/hub.sqlite")
        let error = #expect(throws: SQLiteHubStoreError.self) { try SQLiteHubStore(path: path) }
        #expect(error?.code == .unavailable && error?.description.contains("No such file") == true)
    }

    /// Concurrent writes share a transaction. One that fails in its middle does not affect the others.
    @Test func aFailedWriteDoesNotAffectOthersOfItsTransaction() async throws {
        let store = try SQLiteHubStore(path: path)
        struct Broken: Error {}
        let isHeld = Mutex(false)
        let release = DispatchSemaphore(value: 0)
        // Holds the writer, so that all following writes are gathered.
        async let held: Void = store.write { _, _ in
            isHeld.withLock { $0 = true }
            release.wait()
        }
        await eventually("the writer is held") { isHeld.withLock { $0 } }
        let outcomes = await withTaskGroup(of: (Int, HubError?).self) { group in
            for number in 0..<30 {
                group.addTask {
                    do {
                        try await store.write { database, effects in
                            try database.execute(
                                sql: "INSERT INTO setting (name, value) VALUES (?, ?)",
                                arguments: ["\(number)", Data([1])])
                            effects.changes.append(.unknown)
                            if number % 3 == 0 { throw Broken() }
                            if number % 3 == 1 { throw HubError(.conflict, "That one.") }
                        }
                        return (number, nil)
                    } catch { return (number, error as? HubError) }
                }
            }
            await eventually("all are gathered") { store.commits.waitingCount == 30 }
            release.signal()
            return await group.reduce(into: [Int: HubError?]()) { $0[$1.0] = $1.1 }
        }
        try await held
        for (number, error) in outcomes {
            #expect(error?.code == [.failed, .conflict, nil][number % 3])
        }
        let names = try await store.pool.read { try String.fetchAll($0, sql: "SELECT name FROM setting") }
        #expect(Set(names) == Set((0..<30).filter { $0 % 3 == 2 }.map(String.init)))
        try await store.close()
    }

    @Test func aDestroyedPINShareIsNotInTheFiles() async throws {
        let store = try SQLiteHubStore(path: path)
        let household = try await SampleHousehold.founded(in: store)
        let share = PINShareRequest.sample
        try await store.setPINShare(share, device: household.computer, household: household.id)
        #expect(try isInFiles(share.entries[0].share), "it is in the files before it is destroyed")
        for number in 0..<10 {
            _ = try await store.attemptPIN(
                wrongVerifier, device: household.computer, household: household.id, at: now + Int64(number * 60))
        }
        for entry in share.entries {
            await eventually { try !isInFiles(entry.share) && !isInFiles(entry.verifier) }
        }
        try await store.close()
    }

    enum Deletion: CaseIterable { case revocation, departure, replacement }

    @Test(arguments: Deletion.allCases) func aDeletedPINShareIsNotInTheFiles(by deletion: Deletion) async throws {
        let store = try SQLiteHubStore(path: path)
        let household = try await SampleHousehold.founded(in: store)
        let (device, _) = try await household.admitted(to: store)
        let share = PINShareRequest.sample
        try await store.setPINShare(share, device: device, household: household.id)
        #expect(try isInFiles(share.entries[0].share), "it is in the files before it is deleted")
        switch deletion {
        case .revocation:
            try await store.appendToRoster(
                RosterAppendRequest(number: 3, entry: .random(300), change: .revoke(device: device)), of: household.id)
        case .departure: try await store.removeDevice(device, of: household.id)
        case .replacement:
            let other = PINShareRequest(entries: share.entries.indices.map { .new(0x10 + UInt8($0)) })
            try await store.setPINShare(other, device: device, household: household.id)
        }
        for entry in share.entries {
            await eventually {
                try [entry.share, entry.verifier, entry.changeHash].allSatisfy { try !isInFiles($0) }
            }
        }
        try await store.close()
    }

    /// Another process reads, as a backup does.
    @Test func aReaderDelaysOverwritingTheLogAndNoWrite() async throws {
        let store = try SQLiteHubStore(path: path)
        let household = try await SampleHousehold.founded(in: store)
        let reader = try DatabaseQueue(path: path)
        let hasBegun = Mutex(false)
        let release = DispatchSemaphore(value: 0)
        async let reading: Void = reader.read { database in
            _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM household")
            hasBegun.withLock { $0 = true }
            release.wait()
        }
        await eventually("the reader has begun") { hasBegun.withLock { $0 } }
        let log = path + "-wal"
        let start = ContinuousClock.now
        for _ in 0..<12 {
            try await store.setPINShare(.sample, device: household.computer, household: household.id)
            _ = try await store.write([household.record()], household: household.id, at: now)
        }
        // Each wait for a reader takes five seconds, and twelve of the writes overwrite the log: a minute. A busy disk
        // may delay the 24 writes themselves.
        #expect(ContinuousClock.now - start < .seconds(55))
        #expect(try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) > 0)
        release.signal()
        try await reading
        await eventually("the log is empty") {
            try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0
        }
        try await store.close()
    }

    private func isInFiles(_ bytes: Data) throws -> Bool {
        let hub = directory.url.appendingPathComponent("hub")
        return try FileManager.default.contentsOfDirectory(atPath: hub.path).contains {
            try Data(contentsOf: hub.appendingPathComponent($0)).range(of: bytes) != nil
        }
    }
}
