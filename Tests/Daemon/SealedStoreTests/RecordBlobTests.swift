import ControlAPI
import DaemonCore
import Foundation
import GRDB
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import SealedStore

/// The assignment of content to records, for every author and after each new version.
@Suite struct RecordBlobTests {
    private let directory: TemporaryDirectory
    private let sizes = [ItemID.random(), ItemID.random()]
    private let phone = ItemID.random()
    private var path: String { directory.path("state.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func photo(_ id: ItemID, _ revision: UInt64 = 1, by author: ItemID, sealed: [UInt8]? = [1]) -> StoredRecord
    {
        StoredRecord(
            name: RecordName(vault: phone, collection: .photos, id: id, revision: revision), epoch: 1, author: author,
            sealed: sealed, blobs: sizes)
    }

    private func ingest(_ record: StoredRecord, _ sequence: UInt64, _ database: StateDatabase) async throws {
        var incoming = IncomingChange()
        incoming.vaultRecords = [IncomingRecord(record: record, sequence: sequence, received: 0)]
        try await database.ingest(incoming)
    }

    @Test func aReceivedRecordKeepsTheContentThatItNames() async throws {
        let database = try StateDatabase(path: path)
        let id = ItemID.random()
        try await ingest(photo(id, by: phone), 1, database)
        #expect(try await database.record(.photos, id)?.blobs == sizes)
        #expect(try await database.blobsOfRecords() == Set(sizes))
        for size in sizes { #expect(try await database.isOfRecord(blob: size)) }
        #expect(try await !database.isOfRecord(blob: .random()))
        // In a list of two ids no third one is found.
        let between = try #require(ItemID(bytes: sizes[0].bytes.dropFirst(8) + sizes[1].bytes.prefix(8)))
        #expect(try await !database.isOfRecord(blob: between))

        // Written again by this device, as after a revocation: the outbox names all of its content.
        var again = try #require(try await database.record(.photos, id))
        again.name.revision = 2
        again.author = database.device.id
        try await database.write(StateChange(records: [again]))
        let line = try #require(try await database.outbox(limit: 1, but: []).first)
        #expect(line.record.blobs == sizes && line.replaces == 1)
    }

    @Test func aRemovedRecordNamesNoContent() async throws {
        let database = try StateDatabase(path: path)
        let id = ItemID.random()
        try await ingest(photo(id, by: phone), 1, database)
        try await database.write(StateChange(records: [photo(id, 2, by: database.device.id, sealed: nil)]))
        #expect(try await database.record(.photos, id)?.blobs == [])
        #expect(try await database.blobsOfRecords().isEmpty)
    }

    /// Version 3 stored received photos without the ids of their content.
    @Test func theFourthMigrationReadsWhatTheThirdDidNotKeep() async throws {
        let queue = try DatabaseQueue(path: path)
        try StateDatabase.migrator(StateDatabase.testKey).migrate(
            queue, upTo: "3: what the hub has, and commands")
        let (file, note, lost, waiting) = (ItemID.random(), ItemID.random(), ItemID.random(), ItemID.random())
        try await queue.write { [phone] database in
            for (collection, id) in [("files", file), ("notes", note), ("photos", lost), ("photos", waiting)] {
                try database.execute(
                    sql: "INSERT INTO record VALUES (?, ?, ?, 1, 1, ?, ?, 1, 7)",
                    arguments: [collection, Data(id.bytes), Data(phone.bytes), Data(phone.bytes), Data([1])])
            }
            try database.execute(
                sql: "INSERT INTO outbox (collection, id) VALUES ('photos', ?)", arguments: [Data(waiting.bytes)])
            try database.execute(sql: "INSERT INTO document VALUES ('hub-cursor', ?)", arguments: [Data("7".utf8)])
        }
        try queue.close()

        let database = try StateDatabase(path: path)
        #expect(try await database.record(.files, file)?.blobs == [file])
        #expect(try await database.record(.notes, note)?.blobs == [])
        #expect(try await database.document("hub-cursor") == nil)
        #expect(try await database.known(.photos, lost)?.revision == 0)
        #expect(try await database.known(.notes, note)?.revision == 1)
        // A queued local change is not replaced by the hub's version.
        #expect(try await database.known(.photos, waiting)?.revision == 1)
        try await ingest(photo(lost, by: phone), 7, database)
        #expect(try await database.record(.photos, lost)?.blobs == sizes)
        #expect(try await database.outbox(limit: 9, but: []).map(\.record.name.id) == [waiting])
    }

    @Test func theHubIsNotReadAgainIfNothingWasLost() async throws {
        let queue = try DatabaseQueue(path: path)
        try StateDatabase.migrator(StateDatabase.testKey).migrate(
            queue, upTo: "3: what the hub has, and commands")
        try await queue.write { database in
            try database.execute(sql: "INSERT INTO document VALUES ('hub-cursor', ?)", arguments: [Data("7".utf8)])
        }
        try queue.close()
        #expect(try await StateDatabase(path: path).document("hub-cursor") == Array("7".utf8))
    }
}
