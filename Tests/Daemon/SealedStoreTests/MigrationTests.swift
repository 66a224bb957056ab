import ControlAPI
import DaemonCore
import Foundation
import GRDB
import SealedFormats
import Sync
import TestSupport
import Testing

@testable import SealedStore

/// Databases of older versions are migrated without loss: a test for each migration.
@Suite struct MigrationTests {
    private static let first = "1: documents and activity"
    private let directory: TemporaryDirectory
    private var path: String { directory.path("state.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func migrate(upTo migration: String, _ fill: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: path)
        try StateDatabase.migrator(StateDatabase.testKey).migrate(queue, upTo: migration)
        try queue.write(fill)
    }

    /// Rows as version 1 wrote them, with the holes that its pruning left.
    private static func fillVersionOne(_ database: Database) throws {
        for (name, body) in documents {
            try database.execute(
                sql: "INSERT INTO document (name, body) VALUES (?, ?)", arguments: [name, Data(body)])
        }
        for event in events {
            try database.execute(
                sql: """
                    INSERT INTO activity (number, time, kind, app, user, process, path, reason, sentence)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    event.number, event.time, event.kind, event.app, event.user, event.process, event.path,
                    event.reason, event.sentence,
                ])
        }
    }

    private static let documents: [String: [UInt8]] = [
        "apps": Array(#"{"apps":[]}"#.utf8), "passcodes": [UInt8](0...255), "empty": [],
    ]
    private static let events = [
        EventReport(
            number: 3, time: 1_700_000_000.25, kind: "set_up", app: nil, user: 0, process: nil, path: nil, reason: nil,
            sentence: "Set up."),
        EventReport(
            number: 4, time: 1_700_000_001, kind: "launch_denied", app: "org.example.Diary", user: .max, process: .max,
            path: "/opt/ä/diary", reason: "no_prompter", sentence: "Žluťoučký 🐎."),
        EventReport(
            number: 9, time: 1_600_000_000, kind: "a_kind_that_is_gone", app: nil, user: nil, process: nil, path: nil,
            reason: nil, sentence: ""),
    ]

    @Test func theFirstMigrationIsUnchanged() throws {
        try migrate(upTo: Self.first) { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_master WHERE name IN ('document', 'activity') ORDER BY name DESC")
            #expect(
                tables == [
                    #"CREATE TABLE "document" ("name" TEXT PRIMARY KEY NOT NULL, "body" BLOB NOT NULL)"#,
                    #"CREATE TABLE "activity" ("number" INTEGER PRIMARY KEY AUTOINCREMENT, "time" DOUBLE NOT NULL, "#
                        + #""kind" TEXT NOT NULL, "app" TEXT, "user" INTEGER, "process" INTEGER, "path" TEXT, "#
                        + #""reason" TEXT, "sentence" TEXT NOT NULL)"#,
                ])
        }
    }

    @Test func theSecondMigrationKeepsEverythingAndChainsTheLog() async throws {
        try migrate(upTo: Self.first, Self.fillVersionOne)
        let database = try StateDatabase(path: path)
        for (name, body) in Self.documents { #expect(try await database.document(name) == body) }
        var expected = Self.events
        for index in expected.indices { expected[index].number = Int64(index + 1) }
        #expect(try await database.events(after: 0, limit: 100, app: nil) == expected)
        let verified = try await database.verifyLog(known: nil)
        #expect(verified.isWhole && verified.links == 3)

        // And new events continue the chain.
        try await database.append([ActivityEvent(time: 1, kind: .locked, sentence: "new")])
        #expect(try await database.events(after: 3, limit: 100, app: nil).map(\.number) == [4])
        let known = try #require(AuditChain.Head(verified.head))
        #expect(try await database.verifyLog(known: known).isWhole)
        let record = try SampleRecord().sealed(title: "t", body: "b")
        try await database.write(StateChange(records: [record]))
        #expect(try await database.records(in: .notes) == [record])
    }

    @Test func theSecondMigrationAcceptsAnEmptyLog() async throws {
        try migrate(upTo: Self.first) { _ in }
        let database = try StateDatabase(path: path)
        #expect(try await database.verifyLog(known: nil).isWhole)
        try await database.append([ActivityEvent(time: 1, kind: .locked, sentence: "first")])
        #expect(try await database.verifyLog(known: nil).links == 1)
    }

    @Test func anUpToDateDatabaseIsUnchanged() async throws {
        try migrate(upTo: Self.first, Self.fillVersionOne)
        let head = try await StateDatabase(path: path).verifyLog(known: nil).head
        let again = try await StateDatabase(path: path).verifyLog(known: nil)
        #expect(again.isWhole && again.links == 3 && again.head == head, "\(again)")
    }

    /// As after a power loss: the file is unchanged, and the next start finishes the migration.
    @Test func aFailedMigrationLeavesTheOlderVersion() async throws {
        try migrate(upTo: Self.first) { database in
            try Self.fillVersionOne(database)
            // The second migration's last table exists already.
            try database.execute(sql: "CREATE TABLE outbox (x)")
        }
        let path = path
        #expect(throws: StateDatabaseError.self) { _ = try StateDatabase(path: path) }
        try await DatabaseQueue(path: path).write { database in
            #expect(try Int64.fetchAll(database, sql: "SELECT number FROM activity ORDER BY number") == [3, 4, 9])
            #expect(try !database.tableExists("record"))
            try database.execute(sql: "DROP TABLE outbox")
        }
        let verified = try await StateDatabase(path: path).verifyLog(known: nil)
        #expect(verified.isWhole && verified.links == 3, "\(verified)")
    }
}
