public import DaemonCore
import Foundation
import GRDB
import Household
public import HubAPI
public import SealedFormats
public import Sync

// What was not sent to the hub yet, and what was read from it.
extension StateDatabase: HouseholdStore {
    static func createSync(_ database: Database) throws {
        // What the hub has of a record: the revision, and its place in the hub's order.
        try database.alter(table: "record") { table in
            table.add(column: "synced", .integer).notNull().defaults(to: 0)
            table.add(column: "sequence", .integer).notNull().defaults(to: 0)
        }
        // Records of the household by this computer, sealed and signed, as JSON, in their order.
        try database.create(table: "queue") { table in
            table.autoIncrementedPrimaryKey("number")
            table.column("collection", .text).notNull()
            table.column("id", .blob).notNull()
            table.column("revision", .integer).notNull()
            table.column("record", .blob).notNull()
        }
        // The newest known records of the household, own ones too.
        try database.create(table: "household") { table in
            table.column("collection", .text).notNull()
            table.column("id", .blob).notNull()
            table.column("revision", .integer).notNull()
            table.column("sequence", .integer).notNull()
            table.column("record", .blob).notNull()
            table.primaryKey(["collection", "id"])
        }
        // Versions from here of records that were changed elsewhere at the same time.
        try database.create(table: "conflict") { table in
            table.autoIncrementedPrimaryKey("number")
            table.column("collection", .text).notNull()
            table.column("id", .blob).notNull()
            table.column("vault", .blob).notNull()
            table.column("revision", .integer).notNull()
            table.column("epoch", .integer).notNull()
            table.column("author", .blob).notNull()
            table.column("sealed", .blob)
        }
        // Ids of commands, for ever: 16 bytes each and nothing else.
        try database.execute(sql: "CREATE TABLE command (id BLOB PRIMARY KEY) WITHOUT ROWID")
    }

    static let syncTables = ["queue", "household", "conflict", "command"]

    // MARK: Out

    static func queue(_ records: [HubRecord], in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO queue (collection, id, revision, record) VALUES (?, ?, ?, ?)")
        for record in records {
            try statement.execute(arguments: [
                record.collection, Data(record.id.item.bytes), Int64(clamping: record.revision),
                try JSONEncoder().encode(record),
            ])
            if keptCollections.contains(record.collection) { try keep(record, in: database) }
        }
    }

    /// Of these only the newest is kept.
    private static let keptCollections: Set<String> = ["keys", "devices", "status", "apps", "icons"]

    static func keep(_ record: HubRecord, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO household (collection, id, revision, sequence, record) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (collection, id) DO UPDATE SET revision = excluded.revision, sequence = excluded.sequence,
                    record = excluded.record WHERE excluded.revision > revision
                """,
            arguments: [
                record.collection, Data(record.id.item.bytes), Int64(clamping: record.revision),
                Int64(clamping: record.sequence ?? 0),
                try JSONEncoder().encode(record),
            ])
    }

    public func queued(limit: Int) async throws -> [QueuedRecord] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT number, record FROM queue ORDER BY number LIMIT ?", arguments: [limit]
            ).map { row in
                let (number, record): (Int64, Data) = try (row.decode(atIndex: 0), row.decode(atIndex: 1))
                return QueuedRecord(number: number, record: try JSONDecoder().decode(HubRecord.self, from: record))
            }
        }
    }

    public func unqueue(_ numbers: [Int64]) async throws {
        try await pool.write { database in
            for number in numbers {
                try database.execute(sql: "DELETE FROM queue WHERE number = ?", arguments: [number])
            }
        }
    }

    public func unqueue(_ records: [HubRecord]) async throws {
        try await pool.write { database in
            for record in records {
                try database.execute(
                    sql: "DELETE FROM queue WHERE collection = ? AND id = ? AND revision = ?",
                    arguments: [record.collection, Data(record.id.item.bytes), Int64(clamping: record.revision)])
            }
        }
    }

    public func outbox(limit: Int, but excluded: Set<Int64>) async throws -> [OutboxLine] {
        try await pool.read { database in
            let numbers = excluded.sorted().map(String.init).joined(separator: ", ")
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT outbox.number AS number, record.* FROM outbox JOIN record USING (collection, id)
                    WHERE outbox.number NOT IN (\(numbers)) ORDER BY outbox.number LIMIT ?
                    """, arguments: [limit]
            ).map { row in
                let (number, synced): (Int64, Int64) = try (
                    row.decode(forColumn: "number"), row.decode(forColumn: "synced")
                )
                let versions: Data = try row.decode(forColumn: "versions")
                return OutboxLine(
                    number: number, record: try Self.record(row), replaces: UInt64(clamping: synced),
                    ancestors: [UInt8](versions))
            }
        }
    }

    public func acknowledge(_ line: OutboxLine, sequence: UInt64, author: ItemID?) async throws {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM outbox WHERE number = ?", arguments: [line.number])
            try Self.setSynced(line.record, sequence, in: database)
            let name = line.record.name
            guard let author, try Self.local(name, in: database)?.record == line.record else { return }
            try database.execute(
                sql: "UPDATE record SET author = ? WHERE collection = ? AND id = ?",
                arguments: [Data(author.bytes), name.collection.rawValue, Data(name.id.bytes)])
        }
    }

    public func overwrite(
        _ line: OutboxLine, as record: StoredRecord, known: KnownRevision, version: [UInt8]
    ) async throws {
        try await pool.write { database in
            guard let local = try Self.local(record.name, in: database), local.line == line.number,
                local.record == line.record
            else { return }
            try database.execute(
                sql: """
                    UPDATE record SET revision = ?, epoch = ?, author = ?, sealed = ?, synced = ?, sequence = ?,
                        seen = MAX(seen, ?), versions = ?
                    WHERE collection = ? AND id = ?
                    """,
                arguments: [
                    Int64(clamping: record.name.revision), record.epoch, Data(record.author.bytes),
                    record.sealed.map { Data($0) }, Int64(clamping: known.revision), Int64(clamping: known.sequence),
                    Int64(clamping: known.revision), Self.kept(local.versions, version),
                    record.name.collection.rawValue, Data(record.name.id.bytes),
                ])
        }
    }

    public func forgetKnown(_ collection: RecordCollection, _ id: ItemID) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE record SET synced = 0, sequence = 0 WHERE collection = ? AND id = ?",
                arguments: [collection.rawValue, Data(id.bytes)])
        }
    }

    public func waitingCount() async throws -> Int {
        try await pool.read { database in
            try Int.fetchOne(database, sql: "SELECT (SELECT COUNT(*) FROM queue) + (SELECT COUNT(*) FROM outbox)") ?? 0
        }
    }

    // MARK: In

    public func known(_ collection: RecordCollection, _ id: ItemID) async throws -> KnownRevision? {
        let sql =
            RecordCheck.isOfHousehold(collection)
            ? "SELECT revision, sequence, revision FROM household WHERE collection = ? AND id = ?"
            : "SELECT seen, sequence, synced FROM record WHERE collection = ? AND id = ?"
        return try await pool.read { database in
            try Row.fetchOne(database, sql: sql, arguments: [collection.rawValue, Data(id.bytes)]).map { row in
                let (revision, sequence, atHub): (Int64, Int64, Int64) = try (
                    row.decode(atIndex: 0), row.decode(atIndex: 1), row.decode(atIndex: 2)
                )
                return KnownRevision(
                    revision: UInt64(clamping: revision), sequence: UInt64(clamping: sequence),
                    atHub: UInt64(clamping: atHub))
            }
        }
    }

    public func householdRecord(_ collection: RecordCollection, _ id: ItemID) async throws -> HubRecord? {
        try await pool.read { database in
            try Data.fetchOne(
                database, sql: "SELECT record FROM household WHERE collection = ? AND id = ?",
                arguments: [collection.rawValue, Data(id.bytes)]
            ).map { try JSONDecoder().decode(HubRecord.self, from: $0) }
        }
    }

    public func householdRecords(in collection: RecordCollection) async throws -> [HubRecord] {
        try await pool.read { database in
            try Data.fetchAll(
                database, sql: "SELECT record FROM household WHERE collection = ? ORDER BY id",
                arguments: [collection.rawValue]
            ).map { try JSONDecoder().decode(HubRecord.self, from: $0) }
        }
    }

    public func vaultRecords() async throws -> [StoredRecord] {
        try await pool.read {
            try Row.fetchAll($0, sql: "SELECT * FROM record WHERE sealed IS NOT NULL ORDER BY collection, id").map(
                Self.record)
        }
    }

    public func tombstones(by authors: Set<ItemID>) async throws -> [StoredRecord] {
        try await pool.read { database in
            try authors.flatMap { author in
                try Row.fetchAll(
                    database,
                    sql: "SELECT * FROM record WHERE author = ? AND sealed IS NULL ORDER BY collection, id",
                    arguments: [Data(author.bytes)]
                ).map(Self.record)
            }
        }
    }

    public func countRecords(by authors: Set<ItemID>, but collections: Set<RecordCollection>) async throws -> Int {
        let others = databaseQuestionMarks(count: collections.count)
        return try await pool.read { database in
            try authors.reduce(0) { count, author in
                let found = try Int.fetchOne(
                    database, sql: "SELECT COUNT(*) FROM record WHERE author = ? AND collection NOT IN (\(others))",
                    arguments: [Data(author.bytes)] + StatementArguments(collections.map(\.rawValue)))
                return count + (found ?? 0)
            }
        }
    }

    public func conflicts() async throws -> [StoredRecord] {
        try await pool.read { try Row.fetchAll($0, sql: "SELECT * FROM conflict ORDER BY number").map(Self.record) }
    }

    public func write(_ change: StateChange, resolving conflicts: [StoredRecord]) async throws {
        try await pool.write { [device] database in
            try Self.write(change, by: device.id, to: database)
            for conflict in conflicts {
                try database.execute(
                    sql: "DELETE FROM conflict WHERE collection = ? AND id = ? AND revision = ?",
                    arguments: [
                        conflict.name.collection.rawValue, Data(conflict.name.id.bytes),
                        Int64(clamping: conflict.name.revision),
                    ])
            }
        }
        outboxSignal.yield()
    }

    // MARK: Commands and households

    public func handle(command id: ItemID) async throws -> Bool {
        try await pool.write { database in
            try database.execute(sql: "INSERT OR IGNORE INTO command (id) VALUES (?)", arguments: [Data(id.bytes)])
            return database.changesCount == 1
        }
    }

    public func forgetHub(removing documents: [String]) async throws {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM queue")
            try database.execute(sql: "DELETE FROM household")
            try database.execute(sql: "UPDATE record SET synced = 0, sequence = 0, seen = 0, versions = x''")
            try database.execute(
                sql: """
                    INSERT INTO outbox (collection, id) SELECT collection, id FROM record
                        WHERE sealed IS NOT NULL AND collection <> ?
                    """, arguments: [RecordCollection.audit.rawValue])
            try Self.write(Dictionary(uniqueKeysWithValues: documents.map { ($0, nil) }), to: database)
        }
    }
}
