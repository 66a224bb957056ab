public import DaemonCore
import Foundation
import GRDB
public import SealedFormats
public import Sync

// What other devices replaced or removed, sealed as it was, until it is too old.
extension StateDatabase {
    static func createEarlier(_ database: Database) throws {
        try database.alter(table: "record") { table in
            // The device that made the change, if this computer has resealed it since. Absent: the author.
            table.add(column: "writer", .blob)
            // When another device's change arrived, in seconds since 1970; 0 for what was written here.
            table.add(column: "received", .double).notNull().defaults(to: 0)
        }
        try database.create(table: "earlier") { table in
            table.autoIncrementedPrimaryKey("number")
            table.column("collection", .text).notNull()
            table.column("id", .blob).notNull()
            table.column("vault", .blob).notNull()
            table.column("revision", .integer).notNull()
            table.column("epoch", .integer).notNull()
            table.column("author", .blob).notNull()
            table.column("sealed", .blob).notNull()
            table.column("blobs", .blob).notNull()
            table.column("writer", .blob).notNull()
            table.column("replacer", .blob).notNull()
            table.column("replaced", .double).notNull().indexed()
            // For how many seconds it was in force.
            table.column("stood", .double).notNull()
            table.column("size", .integer).notNull()
        }
        try database.create(index: "earlier_record", on: "earlier", columns: ["collection", "id", "stood"])
        // The limit of bytes is found by the index alone: the versions are large.
        try database.create(index: "earlier_size", on: "earlier", columns: ["stood", "size"])
        try database.execute(sql: "CREATE INDEX earlier_blobs ON earlier (blobs) WHERE length(blobs) > 0")
    }

    /// What a version costs besides its sealed bytes.
    private static let overhead = 512

    /// Keeps what is stored under a record's name, before that record replaces it.
    static func keepEarlier(_ record: StoredRecord, _ requester: Requester, in database: Database) throws {
        let (collection, id) = (record.name.collection.rawValue, Data(record.name.id.bytes))
        try database.execute(
            sql: """
                INSERT INTO earlier (collection, id, vault, revision, epoch, author, sealed, blobs, writer, replacer,
                    replaced, stood, size)
                SELECT collection, id, vault, revision, epoch, author, sealed, blobs, COALESCE(writer, author), ?, ?,
                    MAX(0, ? - received), LENGTH(sealed) + ?
                FROM record WHERE collection = ? AND id = ? AND sealed IS NOT NULL AND sealed IS NOT ?
                """,
            arguments: [
                Data(requester.device.bytes), requester.time, requester.time, overhead, collection, id,
                record.sealed.map { Data($0) },
            ])
        guard database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                DELETE FROM earlier WHERE number IN (
                    SELECT number FROM earlier WHERE collection = ? AND id = ? ORDER BY stood DESC, number
                    LIMIT -1 OFFSET ?)
                """, arguments: [collection, id, EarlierVersion.maximumPerRecord])
    }

    /// Removes what is too old, and what is beyond the limit of bytes: what was in force for the shortest time goes first.
    static func pruneEarlier(at time: Double, maximumBytes: Int, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM earlier WHERE replaced < ?", arguments: [time - EarlierVersion.retentionSeconds])
        var excess = try Int.fetchOne(database, sql: "SELECT COALESCE(SUM(size), 0) FROM earlier").map {
            $0 - maximumBytes
        }
        guard excess ?? 0 > 0 else { return }
        var numbers: [Int64] = []
        let rows = try Row.fetchCursor(database, sql: "SELECT number, size FROM earlier ORDER BY stood, number DESC")
        while let left = excess, left > 0, let row = try rows.next() {
            numbers.append(row[0])
            excess = left - (row[1] as Int)
        }
        let statement = try database.cachedStatement(sql: "DELETE FROM earlier WHERE number = ?")
        for number in numbers { try statement.execute(arguments: [number]) }
    }

    public func pruneEarlierVersions(at time: Double) async throws {
        try await pool.write { [maximumEarlierBytes] database in
            try Self.pruneEarlier(at: time, maximumBytes: maximumEarlierBytes, in: database)
        }
    }

    public func earlierVersions(since time: Double) async throws -> [EarlierVersion] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT number, collection, id, writer, replacer, replaced FROM earlier WHERE replaced >= ?
                    ORDER BY number
                    """, arguments: [time]
            ).compactMap { row in
                let (collection, id): (String, Data) = try (
                    row.decode(forColumn: "collection"), row.decode(forColumn: "id")
                )
                let (writer, replacer): (Data, Data) = try (
                    row.decode(forColumn: "writer"), row.decode(forColumn: "replacer")
                )
                guard let collection = RecordCollection(rawValue: collection), let id = ItemID(bytes: id),
                    let writer = ItemID(bytes: writer), let replacer = ItemID(bytes: replacer)
                else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a version without a valid name") }
                return EarlierVersion(
                    number: try row.decode(forColumn: "number"), collection: collection, id: id, writer: writer,
                    replacer: replacer, replaced: try row.decode(forColumn: "replaced"))
            }
        }
    }

    public func record(of version: EarlierVersion) async throws -> StoredRecord? {
        try await pool.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM earlier WHERE number = ?", arguments: [version.number])
                .map(Self.record)
        }
    }

    public func writer(of collection: RecordCollection, _ id: ItemID) async throws -> ItemID? {
        try await pool.read { database in
            try Data.fetchOne(
                database, sql: "SELECT COALESCE(writer, author) FROM record WHERE collection = ? AND id = ?",
                arguments: [collection.rawValue, Data(id.bytes)])
        }.flatMap { ItemID(bytes: $0) }
    }
}
