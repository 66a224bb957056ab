import DaemonCore
import Foundation
import GRDB
import Household
import HubAPI
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import SealedStore

/// The outbox, and records from the hub.
@Suite struct SyncTests {
    private let directory: TemporaryDirectory
    private let database: StateDatabase
    private let sample = SampleRecord()
    private var own: ItemID { database.device.id }

    init() throws {
        directory = try TemporaryDirectory()
        database = try StateDatabase(path: directory.path("state.sqlite"))
    }

    private func record(
        _ revision: UInt64, _ collection: RecordCollection = .notes, by author: ItemID? = nil, sealed: [UInt8]? = [1]
    ) -> StoredRecord {
        StoredRecord(
            name: RecordName(vault: sample.vault, collection: collection, id: sample.id, revision: revision), epoch: 1,
            author: author ?? own, sealed: sealed)
    }

    private func ingest(_ record: StoredRecord, _ sequence: UInt64, ancestors: [UInt8] = []) async throws {
        var incoming = IncomingChange()
        incoming.vaultRecords = [
            IncomingRecord(record: record, sequence: sequence, ancestors: ancestors, received: 0)
        ]
        try await database.ingest(incoming)
    }

    private func line() async throws -> OutboxLine? { try await database.outbox(limit: 10, but: []).first }

    @Test func aLineNamesTheHubsRevisionAndIsRemovedOnceWritten() async throws {
        try await database.write(StateChange(records: [record(1)]))
        try await database.write(StateChange(records: [record(2, sealed: [2])]))
        let first = try #require(try await line())
        #expect(first.record.name.revision == 2 && first.replaces == 0)
        // Changed while it was sent: the change is still queued, and names the revision that arrived.
        try await database.write(StateChange(records: [record(3, sealed: [3])]))
        try await database.acknowledge(first, sequence: 5)
        let second = try #require(try await line())
        #expect(second.record.name.revision == 3 && second.replaces == 2)
        try await database.acknowledge(second, sequence: 6)
        #expect(try await line() == nil)
        #expect(try await database.known(.notes, sample.id) == KnownRevision(revision: 3, sequence: 6))
    }

    @Test func aLineSupersededByAnotherDeviceOverwritesNothing() async throws {
        try await database.write(StateChange(records: [record(1)]))
        try await database.acknowledge(try #require(try await line()), sequence: 5)
        try await database.write(StateChange(records: [record(2, sealed: [2])]))
        let stale = try #require(try await line())
        // It has the same revision, and was stored while the hub's answer to the line was on its way.
        let other = record(2, by: .random(), sealed: [9])
        try await ingest(other, 6)
        try await database.overwrite(
            stale, as: record(3, sealed: [2]), known: KnownRevision(revision: 2, sequence: 6), version: [])
        #expect(try await database.record(.notes, sample.id) == other)
        #expect(try await database.conflicts().map(\.sealed) == [[2]])
        #expect(try await line() == nil)
    }

    /// After a restore of the hub another device sent its version of this revision first.
    @Test func aLineSupersededDuringAComparisonOverwritesNothing() async throws {
        try await database.write(StateChange(records: [record(1)]))
        try await database.acknowledge(try #require(try await line()), sequence: 5)
        try await database.beginComparing(of: own, documents: [:])
        _ = try await database.endComparing(documents: [:])
        let stale = try #require(try await line())
        let other = record(1, by: .random(), sealed: [9])
        try await ingest(other, 6)
        try await database.overwrite(
            stale, as: record(2), known: KnownRevision(revision: 1, sequence: 6), version: [])
        #expect(try await database.record(.notes, sample.id) == other)
        #expect(try await database.conflicts().map(\.name.revision) == [1])
        #expect(try await line() == nil)
    }

    /// Two devices removed the same note: the tombstone at the hub has to be signed again once its author is revoked.
    @Test func acknowledgingAnEqualRecordOfAnotherDeviceStoresItsAuthor() async throws {
        let phone = ItemID.random()
        try await database.write(StateChange(records: [record(1)]))
        try await database.acknowledge(try #require(try await line()), sequence: 5)
        try await database.write(StateChange(records: [record(2, sealed: nil)]))
        try await database.acknowledge(try #require(try await line()), sequence: 6, author: phone)
        #expect(try await database.tombstones(by: [phone]).count == 1)
        #expect(try await line() == nil)
    }

    @Test func aRecordWhoseAnswerWasLostIsNotSentAgain() async throws {
        try await database.write(StateChange(records: [record(1)]))
        try await ingest(record(1), 7)
        #expect(try await line() == nil)
        // If it was changed since, the change follows that revision.
        try await database.write(StateChange(records: [record(2)]))
        try await database.write(StateChange(records: [record(3)]))
        try await ingest(record(2), 8)
        #expect(try await line()?.replaces == 2)
        #expect(try await database.record(.notes, sample.id)?.name.revision == 3)
    }

    /// The state was restored: its next change has the number of one that it no longer has.
    @Test(arguments: [RecordCollection.notes, .files])
    func anotherOwnVersionOfTheSameRevisionIsStored(_ collection: RecordCollection) async throws {
        try await ingest(record(1, collection), 1)
        try await database.write(StateChange(records: [record(2, collection, sealed: [22])]))
        let atHub = record(2, collection, sealed: [33])
        try await ingest(atHub, 2)
        #expect(try await database.record(collection, sample.id) == atHub)
        #expect(try await database.conflicts().map(\.sealed) == (collection == .notes ? [[22]] : []))
        #expect(try await line() == nil)
    }

    @Test func aNewerReceivedChangeIsStoredAndAnOlderOneIsNot() async throws {
        let phone = ItemID.random()
        try await ingest(record(4, by: phone, sealed: [4]), 9)
        #expect(try await database.record(.notes, sample.id)?.sealed == [4])
        try await ingest(record(3, by: phone, sealed: [3]), 10)
        #expect(try await database.record(.notes, sample.id)?.sealed == [4])
        #expect(try await line() == nil)
    }

    /// `RecordCheck` refuses all of these; the database does not rely on it.
    @Test(arguments: [UInt64(Int64.max) - 1, UInt64(Int64.max), 1 << 63, UInt64.max])
    func numbersBeyondTheDatabasesRangeAreClamped(_ number: UInt64) async throws {
        let last = UInt64(Int64.max)
        try await ingest(record(number, by: .random()), number)
        let household = HubRecord(
            collection: "keys", id: HubID(sample.id), vault: HubID(sample.vault), revision: number, epoch: 1,
            author: HubID(own), sealed: Data([1]), signature: Data(count: 64), sequence: number)
        var incoming = IncomingChange()
        incoming.householdRecords = [household]
        try await database.ingest(incoming)
        var change = StateChange()
        change.household = [household]
        try await database.write(change)
        try await database.unqueue([household])
        for collection in [RecordCollection.notes, .keys] {
            let known = try #require(try await database.known(collection, sample.id))
            #expect(known.revision == min(number, last) && known.sequence == min(number, last))
        }
        #expect(try await database.record(.notes, sample.id)?.name.revision == min(number, last))
        #expect(try await database.waitingCount() == 0)
    }

    @Test func bothVersionsOfANoteAreKept() async throws {
        let phone = ItemID.random()
        try await ingest(record(1, by: phone), 1)
        try await database.write(StateChange(records: [record(2, sealed: [22])]))
        try await ingest(record(2, by: phone, sealed: [33]), 2)
        #expect(try await database.record(.notes, sample.id)?.sealed == [33])
        #expect(try await line() == nil)
        let conflict = try #require(try await database.conflicts().first)
        #expect(conflict.sealed == [22])
        try await database.write(StateChange(), resolving: [conflict])
        #expect(try await database.conflicts().isEmpty)
    }

    @Test func aChangeOfANoteWinsOverItsRemoval() async throws {
        let phone = ItemID.random()
        try await ingest(record(1, by: phone), 1)
        try await database.write(StateChange(records: [record(2, sealed: nil)]))
        try await ingest(record(2, by: phone, sealed: [33]), 2)
        #expect(try await database.record(.notes, sample.id)?.sealed == [33])
        #expect(try await database.conflicts().isEmpty)
        #expect(try await line() == nil)
    }

    @Test func aRemovalOfAFileWinsOverAChange() async throws {
        let phone = ItemID.random()
        try await ingest(record(1, .files, by: phone), 1)
        var removal = record(2, .files, sealed: nil)
        removal.epoch = 2
        try await database.write(StateChange(records: [removal]))
        try await ingest(record(2, .files, by: phone, sealed: [33]), 2)
        let removed = try #require(try await database.record(.files, sample.id))
        #expect(removed.sealed == nil && removed.name.revision == 3)
        #expect(removed.epoch == 2, "what a device of an earlier epoch sends later does not follow it")
        let waiting = try #require(try await line())
        #expect(waiting.replaces == 2 && waiting.record.name.revision == 3)
    }

    /// A hub reports another store, and names ancestors of its choice, which are not signed.
    @Test(arguments: [RecordCollection.notes, .files], [[99], nil])
    func aHubThatClaimsAnotherStoreReplacesNothingWithAnOlderVersion(
        _ collection: RecordCollection, _ sealed: [UInt8]?
    ) async throws {
        let phone = ItemID.random()
        for revision in UInt64(1)...3 { try await ingest(record(revision, collection, by: phone), revision) }
        try await database.beginComparing(of: own, documents: [:])
        let newest = RecordVersion.digest(revision: 3, sealed: [1])
        try await ingest(record(2, collection, by: phone, sealed: sealed), 7, ancestors: newest)
        let stored = try #require(try await database.record(collection, sample.id))
        #expect(stored.name.revision == 3 && stored.sealed == [1])
        #expect(try await line()?.record.sealed == [1], "the hub is sent the newer one again")
        // Nor is a note lost.
        let both = collection == .notes && sealed != nil
        #expect(try await database.conflicts().map(\.sealed) == (both ? [[99]] : []))
    }

    @Test func householdRecordsAreQueuedInOrderWithTheirDocuments() async throws {
        let records = (1...5).map { number in
            HubRecord(
                collection: "events", id: HubID(ItemID.random()), vault: HubID(sample.vault), revision: 1, epoch: 1,
                author: HubID(own), sealed: Data([number]), signature: Data(count: 64))
        }
        var change = StateChange(documents: ["event-head": [1]])
        change.household = records
        try await database.write(change)
        #expect(try await database.queued(limit: 3).map(\.record) == Array(records.prefix(3)))
        try await database.unqueue([records[1]])
        try await database.unqueue([try await database.queued(limit: 1)[0].number])
        #expect(try await database.queued(limit: 10).map(\.record) == Array(records.suffix(3)))
        #expect(try await database.waitingCount() == 3)
        let again = try StateDatabase(path: directory.path("state.sqlite"))
        #expect(try await again.queued(limit: 10).map(\.record) == Array(records.suffix(3)))
        #expect(try await again.document("event-head") == [1])
    }

    @Test func aCommandIDIsNewOnlyOnce() async throws {
        let id = ItemID.random()
        #expect(try await database.handle(command: id))
        #expect(try await !database.handle(command: id))
        let again = try StateDatabase(path: directory.path("state.sqlite"))
        #expect(try await !again.handle(command: id))
        #expect(try await again.handle(command: .random()))
        // Leaving the hub keeps the id.
        try await again.forgetHub(removing: [])
        #expect(try await !again.handle(command: id))
    }

    @Test func anotherHubIsSentEverything() async throws {
        try await database.write(StateChange(documents: ["hub": [1]], records: [record(1)]))
        try await database.acknowledge(try #require(try await line()), sequence: 5)
        try await database.forgetHub(removing: ["hub"])
        #expect(try await line()?.replaces == 0)
        #expect(try await database.document("hub") == nil)
    }

    @Test func erasingRemovesEverything() async throws {
        var change = StateChange(records: [record(1)])
        change.household = [
            HubRecord(
                collection: "keys", id: HubID(sample.id), vault: HubID(sample.vault), revision: 1, epoch: 1,
                author: HubID(own), sealed: Data("a box that is erased".utf8), signature: Data(count: 64))
        ]
        try await database.write(change)
        _ = try await database.handle(command: .random())
        try await database.eraseAll()
        for table in ["record", "outbox"] + StateDatabase.syncTables {
            let count = try await DatabaseQueue(path: directory.path("state.sqlite")).read {
                try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)")
            }
            #expect(count == 0, "\(table)")
        }
    }

    @Test func theThirdMigrationKeepsRecordsAndTheOutbox() async throws {
        let path = directory.path("older.sqlite")
        let queue = try DatabaseQueue(path: path)
        try StateDatabase.migrator(StateDatabase.testKey).migrate(
            queue, upTo: "2: sealed records and the audit chain")
        let stored = record(3)
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO record (collection, id, vault, revision, epoch, author, sealed)
                    VALUES ('notes', ?, ?, 3, 1, ?, ?)
                    """,
                arguments: [
                    Data(stored.name.id.bytes), Data(stored.name.vault.bytes), Data(stored.author.bytes), Data([1]),
                ])
            try database.execute(
                sql: "INSERT INTO outbox (collection, id) VALUES ('notes', ?)", arguments: [Data(stored.name.id.bytes)])
        }
        try queue.close()
        let migrated = try StateDatabase(path: path)
        #expect(try await migrated.records(in: .notes) == [stored])
        let line = try #require(try await migrated.outbox(limit: 1, but: []).first)
        #expect(line.record == stored && line.replaces == 0)
    }
}
