import ControlAPI
import DaemonCore
import Foundation
import GRDB
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import SealedStore

/// Versions that other devices replaced are kept, and no device displaces them or fills the disk.
@Suite struct EarlierVersionTests {
    private let directory: TemporaryDirectory
    private let vault = ItemID.random()
    private let phone = ItemID.random()
    private let id = ItemID.random()
    private let day: Double = 86_400
    private var path: String { directory.path("state.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func record(
        _ revision: UInt64, by author: ItemID, _ sealed: [UInt8]?, id: ItemID? = nil,
        in collection: RecordCollection = .notes, blobs: [ItemID] = []
    ) -> StoredRecord {
        StoredRecord(
            name: RecordName(vault: vault, collection: collection, id: id ?? self.id, revision: revision), epoch: 1,
            author: author, sealed: sealed, blobs: blobs)
    }

    private func ingest(_ record: StoredRecord, at time: Double, _ database: StateDatabase) async throws {
        var incoming = IncomingChange()
        incoming.vaultRecords = [
            IncomingRecord(record: record, sequence: record.name.revision, received: time)
        ]
        try await database.ingest(incoming)
    }

    private func kept(_ database: StateDatabase, since time: Double = 0) async throws -> [[UInt8]?] {
        var sealed: [[UInt8]?] = []
        for version in try await database.earlierVersions(since: time) {
            sealed.append(try await database.record(of: version)?.sealed)
        }
        return sealed
    }

    @Test func versionsThatAnotherDeviceReplacesOrRemovesAreKept() async throws {
        let database = try StateDatabase(path: path)
        let own = database.device.id
        let first = record(1, by: own, [1])
        try await database.write(StateChange(records: [first]))
        try await ingest(record(2, by: phone, [2]), at: 10, database)
        try await ingest(record(3, by: phone, nil), at: 20, database)
        let versions = try await database.earlierVersions(since: 0)
        #expect(versions.map(\.replaced) == [10, 20])
        #expect(versions.map(\.writer) == [own, phone])
        #expect(versions.map(\.replacer) == [phone, phone])
        #expect(versions.allSatisfy { $0.collection == .notes && $0.id == id })
        #expect(try await database.record(of: versions[0]) == first)
        #expect(try await database.record(of: versions[1]) == record(2, by: phone, [2]))
        #expect(try await database.earlierVersions(since: 15).count == 1)
    }

    @Test func newUnchangedAndOwnRecordsReplaceNoVersion() async throws {
        let database = try StateDatabase(path: path)
        try await ingest(record(1, by: phone, [1]), at: 1, database)
        try await ingest(record(2, by: phone, [1]), at: 2, database)
        try await database.write(StateChange(records: [record(3, by: database.device.id, [3])]))
        #expect(try await database.earlierVersions(since: 0).isEmpty)
    }

    /// The record and the version that it replaces are written in one transaction.
    @Test func aRecordThatCannotBeStoredLeavesNoVersion() async throws {
        let database = try StateDatabase(path: path)
        try await ingest(record(1, by: phone, [1]), at: 1, database)
        let second = record(2, by: phone, [2])
        try await database.pool.write { database in
            try database.execute(
                sql: "CREATE TRIGGER full BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'full'); END")
        }
        await #expect(throws: DatabaseError.self) { try await ingest(second, at: 2, database) }
        #expect(try await database.earlierVersions(since: 0).isEmpty)
        try await database.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
        try await ingest(second, at: 3, database)
        #expect(try await kept(database) == [[1]])
    }

    /// Also if the stolen phone had written the good version, and each of its changes arrives in its own transaction.
    @Test func manyChangesKeepTheLongestLivedVersion() async throws {
        let database = try StateDatabase(path: path)
        let good: [UInt8] = [7, 7, 7]
        try await ingest(record(1, by: phone, good), at: day, database)
        for revision in 2...UInt64(4 * EarlierVersion.maximumPerRecord) {
            try await ingest(
                record(revision, by: phone, [UInt8(truncatingIfNeeded: revision), 1]), at: 2 * day + Double(revision),
                database)
        }
        let versions = try await kept(database)
        #expect(versions.count == EarlierVersion.maximumPerRecord)
        #expect(versions.first == .some(good))
    }

    /// Two stolen phones that replace each other's large records.
    @Test func beyondTheByteLimitTheShortestLivedVersionIsDropped() async throws {
        let database = try StateDatabase(
            path: path, signingKey: StateDatabase.testKey, maximumEarlierBytes: 100_000)
        let good = [UInt8](repeating: 7, count: 1_000)
        try await ingest(record(1, by: phone, good), at: 0, database)
        try await ingest(record(2, by: phone, nil), at: day, database)
        let other = ItemID.random()
        for number in 0..<40 as Range<Int> {
            let junk = ItemID.random()
            let time = day + Double(number)
            try await ingest(
                record(1, by: phone, [UInt8](repeating: 1, count: 10_000), id: junk), at: time, database)
            try await ingest(
                record(2, by: other, [UInt8](repeating: 2, count: 10_000), id: junk), at: time + 0.5, database)
        }
        let versions = try await kept(database)
        #expect(versions.first == .some(good))
        let bytes = versions.reduce(0) { $0 + ($1?.count ?? 0) }
        #expect(bytes <= 100_000 && bytes > 80_000)
    }

    @Test func versionsAreRemovedAfterTheRetentionTime() async throws {
        let database = try StateDatabase(path: path)
        try await ingest(record(1, by: phone, [1]), at: 0, database)
        try await ingest(record(2, by: phone, [2]), at: 10, database)
        try await database.pruneEarlierVersions(at: 10 + EarlierVersion.retentionSeconds)
        #expect(try await kept(database) == [[1]])
        try await database.pruneEarlierVersions(at: 11 + EarlierVersion.retentionSeconds)
        #expect(try await kept(database).isEmpty)
        // And whenever a record arrives.
        try await ingest(record(3, by: phone, [3]), at: 20, database)
        try await ingest(
            record(1, by: phone, [4], id: .random()), at: 21 + EarlierVersion.retentionSeconds, database)
        #expect(try await kept(database).isEmpty)
    }

    @Test func theContentOfAVersionIsKeptAsLongAsTheVersion() async throws {
        let database = try StateDatabase(path: path)
        let blob = ItemID.random()
        try await ingest(record(1, by: phone, [1], in: .photos, blobs: [blob]), at: 1, database)
        try await ingest(record(2, by: phone, nil, in: .photos), at: 2, database)
        #expect(try await database.blobsOfRecords() == [blob])
        #expect(try await database.isOfRecord(blob: blob))
        let version = try #require(try await database.earlierVersions(since: 0).first)
        #expect(try await database.record(of: version)?.blobs == [blob])
        try await database.pruneEarlierVersions(at: 3 + EarlierVersion.retentionSeconds)
        #expect(try await database.blobsOfRecords().isEmpty)
        #expect(try await !database.isOfRecord(blob: blob))
    }

    @Test func resealingKeepsTheAuthorOfTheChange() async throws {
        let database = try StateDatabase(path: path)
        let own = database.device.id
        try await ingest(record(1, by: phone, [1]), at: 5, database)
        for revision in 2...3 as ClosedRange<UInt64> {
            var change = StateChange()
            change.resealed = [record(revision, by: own, [UInt8(revision)])]
            try await database.write(change)
            #expect(try await database.writer(of: .notes, id) == phone)
        }
        // The time for which it was current counts from its arrival.
        try await ingest(record(4, by: .random(), [4]), at: 105, database)
        #expect(try await database.earlierVersions(since: 0).map(\.writer) == [phone])
        let stood = try await database.pool.read { try Double.fetchOne($0, sql: "SELECT stood FROM earlier") }
        #expect(stood == 100)
        try await database.write(StateChange(records: [record(5, by: own, [5])]))
        #expect(try await database.writer(of: .notes, id) == own)
    }

    @Test func aChangeByCommandBelongsToTheDeviceThatSentIt() async throws {
        let database = try StateDatabase(path: path)
        let own = database.device.id
        try await database.write(StateChange(records: [record(1, by: own, [1])]))
        var change = StateChange(records: [record(2, by: own, nil)])
        change.requester = Requester(device: phone, time: 9)
        try await database.write(change)
        #expect(try await database.writer(of: .notes, id) == phone)
        let version = try #require(try await database.earlierVersions(since: 9).first)
        #expect(version.replacer == phone && version.writer == own && version.replaced == 9)
    }

    @Test func aRestoredBackupIsAChangeOfThisComputer() async throws {
        let database = try StateDatabase(path: path)
        try await ingest(record(1, by: phone, [1]), at: 1, database)
        var change = StateChange(records: [record(7, by: phone, [7])])
        change.acceptsAnyRevision = true
        try await database.write(change)
        #expect(try await database.writer(of: .notes, id) == database.device.id)
        #expect(try await database.earlierVersions(since: 0).isEmpty)
    }

    @Test func erasingEverythingErasesEarlierVersions() async throws {
        let database = try StateDatabase(path: path)
        try await ingest(record(1, by: phone, [1]), at: 1, database)
        try await ingest(record(2, by: phone, [2]), at: 2, database)
        try await database.eraseAll()
        #expect(try await database.earlierVersions(since: 0).isEmpty)
    }

    @Test func theSixthMigrationKeepsRecordsAndTheirAuthors() async throws {
        let queue = try DatabaseQueue(path: path)
        try StateDatabase.migrator(StateDatabase.testKey).migrate(queue, upTo: "5: what the hub ever had")
        try await queue.write { [id, vault, phone] database in
            try database.execute(
                sql: """
                    INSERT INTO record (collection, id, vault, revision, epoch, author, sealed, synced, sequence, seen)
                    VALUES ('notes', ?, ?, 4, 1, ?, ?, 4, 9, 4)
                    """, arguments: [Data(id.bytes), Data(vault.bytes), Data(phone.bytes), Data([4])])
        }
        try queue.close()
        let database = try StateDatabase(path: path)
        #expect(try await database.record(.notes, id) == record(4, by: phone, [4]))
        #expect(try await database.writer(of: .notes, id) == phone)
        #expect(try await database.earlierVersions(since: 0).isEmpty)
        try await ingest(record(5, by: phone, [5]), at: 50, database)
        #expect(try await kept(database) == [[4]])
    }
}
