import Foundation
import GRDB
public import SealedFormats
public import Sync
import Synchronization

// Sealed records. In clear are collection, id, vault, revision, epoch, the devices that wrote and replaced it, when another
// device's change arrived, and the padded size.
extension StateDatabase: RecordStore {
    static func createRecords(_ database: Database) throws {
        try database.create(table: "record") { table in
            table.column("collection", .text).notNull()
            table.column("id", .blob).notNull()
            table.column("vault", .blob).notNull()
            table.column("revision", .integer).notNull()
            table.column("epoch", .integer).notNull()
            table.column("author", .blob).notNull()
            // Absent in a tombstone.
            table.column("sealed", .blob)
            table.primaryKey(["collection", "id"])
        }
        // Changes that were not sent yet, in the order in which they were written; one line a record.
        try database.create(table: "outbox") { table in
            table.autoIncrementedPrimaryKey("number")
            table.column("collection", .text).notNull()
            table.column("id", .blob).notNull()
            table.uniqueKey(["collection", "id"], onConflict: .replace)
        }
    }

    public func records(in collection: RecordCollection) async throws -> [StoredRecord] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM record WHERE collection = ? AND sealed IS NOT NULL ORDER BY id",
                arguments: [collection.rawValue]
            ).map(Self.record)
        }
    }

    public func records(in collection: RecordCollection, ids: [ItemID]) async throws -> [StoredRecord] {
        let all = try await pool.read { database in
            try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM record WHERE collection = ? AND sealed IS NOT NULL",
                arguments: [collection.rawValue]) ?? 0
        }
        // One pass over all is quicker than looking up most of them.
        guard ids.count < all / 2 else {
            let wanted = Set(ids)
            return try await records(in: collection).filter { wanted.contains($0.name.id) }
        }
        return try await pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT * FROM record WHERE collection = ? AND id = ? AND sealed IS NOT NULL")
            return try ids.compactMap { id in
                try Row.fetchOne(statement, arguments: [collection.rawValue, Data(id.bytes)]).map(Self.record)
            }
        }
    }

    public func stamps(in collection: RecordCollection) async throws -> [ItemID: RecordStamp] {
        try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT id, revision, substr(sealed, -?) FROM record WHERE collection = ? AND sealed IS NOT NULL",
                arguments: [RecordStamp.tagLength, collection.rawValue])
            var stamps: [ItemID: RecordStamp] = [:]
            while let row = try rows.next() {
                let (id, revision): (Data, Int64) = try (row.decode(atIndex: 0), row.decode(atIndex: 1))
                let tag: Data = try row.decode(atIndex: 2)
                guard let id = ItemID(bytes: id), let revision = UInt64(exactly: revision) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a record without a valid name")
                }
                stamps[id] = RecordStamp(revision: revision, tag: [UInt8](tag))
            }
            return stamps
        }
    }

    public func record(_ collection: RecordCollection, _ id: ItemID) async throws -> StoredRecord? {
        try await pool.read { database in
            try Row.fetchOne(
                database, sql: "SELECT * FROM record WHERE collection = ? AND id = ?",
                arguments: [collection.rawValue, Data(id.bytes)]
            ).map(Self.record)
        }
    }

    public func write(_ change: StateChange) async throws {
        try await pool.write { [device] in try Self.write(change, by: device.id, to: $0) }
        if !change.records.isEmpty || !change.resealed.isEmpty { outboxSignal.yield() }
    }

    static func write(_ change: StateChange, by device: ItemID, to database: Database) throws {
        for (name, bytes) in change.unchanged {
            guard try document(name, in: database) == bytes.map({ Data($0) }) else { throw DocumentChanged(name: name) }
        }
        for (name, stamp) in change.replaced { try require(stamp, at: name, in: database) }
        for record in change.records {
            if let requester = change.requester { try keepEarlier(record, requester, in: database) }
            // Importing records of a backup is this computer's change, whatever their author.
            let writer = change.requester ?? Requester(device: device, time: 0)
            try write(record, for: writer, anyRevision: change.acceptsAnyRevision, to: database)
        }
        for record in change.resealed { try write(record, isResealed: true, to: database) }
        try queue(change.household, in: database)
        try write(change.documents, to: database)
    }

    static func write(_ documents: [String: [UInt8]?], to database: Database) throws {
        for (name, bytes) in documents {
            if let bytes {
                try save(Data(bytes), as: name, to: database)
            } else {
                try database.execute(sql: "DELETE FROM document WHERE name = ?", arguments: [name])
            }
        }
    }

    /// Closes the file's descriptors once the calls that run have ended; every later call fails. `DatabasePool.close`
    /// must not run beside a call: it frees what the call is about to use.
    package func closeFile() { _ = openPool.withLock { $0.take() } }

    /// Overwrites freed pages, including the write-ahead log. This value then rejects writes, so that erased data in
    /// memory is not written again. Open the file again.
    public func eraseAll() async throws {
        try await pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try database.inTransaction {
                for table in ["document", "record", "earlier", "outbox", "activity"] + Self.syncTables {
                    try database.execute(sql: "DELETE FROM \(table)")
                }
                try database.execute(sql: "DELETE FROM sqlite_sequence")
                return .commit
            }
            try database.checkpoint(.truncate)
            try database.execute(sql: "VACUUM")
            try database.checkpoint(.truncate)
            try database.execute(sql: "PRAGMA query_only = ON")
        }
    }

    private static func require(_ stamp: RecordStamp, at name: RecordName, in database: Database) throws {
        let row = try Row.fetchOne(
            database, sql: "SELECT revision, substr(sealed, -?) FROM record WHERE collection = ? AND id = ?",
            arguments: [RecordStamp.tagLength, name.collection.rawValue, Data(name.id.bytes)])
        let revision: Int64 = try row?.decode(atIndex: 0) ?? 0
        let tag: Data? = try row?.decode(atIndex: 1)
        guard stamp == RecordStamp(revision: UInt64(clamping: revision), tag: [UInt8](tag ?? Data())) else {
            throw RevisionConflict(name: name, current: UInt64(clamping: revision))
        }
    }

    private static func write(
        _ record: StoredRecord, for writer: Requester? = nil, anyRevision: Bool = false, isResealed: Bool = false,
        to database: Database
    ) throws {
        let (collection, id) = (record.name.collection.rawValue, Data(record.name.id.bytes))
        let current = try Int64.fetchOne(
            database, sql: "SELECT revision FROM record WHERE collection = ? AND id = ?", arguments: [collection, id])
        guard anyRevision || record.name.revision == UInt64(clamping: current ?? 0) + 1 else {
            throw RevisionConflict(name: record.name, current: UInt64(clamping: current ?? 0))
        }
        try database.execute(
            sql: """
                INSERT INTO record (collection, id, vault, revision, epoch, author, sealed, blobs)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (collection, id) DO UPDATE SET vault = excluded.vault, revision = excluded.revision,
                    epoch = excluded.epoch, author = excluded.author, sealed = excluded.sealed, blobs = excluded.blobs,
                    writer = CASE WHEN ? THEN COALESCE(writer, author) ELSE ? END,
                    received = CASE WHEN ? THEN received ELSE ? END
                """,
            arguments: [
                collection, id, Data(record.name.vault.bytes), Int64(clamping: record.name.revision), record.epoch,
                Data(record.author.bytes), record.sealed.map { Data($0) }, blobs(record), isResealed,
                writer.map { Data($0.device.bytes) }, isResealed, writer?.time,
            ])
        try database.execute(sql: "INSERT INTO outbox (collection, id) VALUES (?, ?)", arguments: [collection, id])
    }

    static func record(_ row: Row) throws -> StoredRecord {
        let (collection, id, vault, author): (String, Data, Data, Data) = try (
            row.decode(forColumn: "collection"), row.decode(forColumn: "id"), row.decode(forColumn: "vault"),
            row.decode(forColumn: "author")
        )
        let (revision, epoch): (Int64, Int64) = try (
            row.decode(forColumn: "revision"), row.decode(forColumn: "epoch")
        )
        guard let collection = RecordCollection(rawValue: collection), let id = ItemID(bytes: id),
            let vault = ItemID(bytes: vault), let author = ItemID(bytes: author),
            let revision = UInt64(exactly: revision), let epoch = UInt32(exactly: epoch)
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a record without a valid name") }
        let (sealed, blobs): (Data?, Data?) = try (row.decode(forColumn: "sealed"), row.decode(forColumn: "blobs"))
        return StoredRecord(
            name: RecordName(vault: vault, collection: collection, id: id, revision: revision), epoch: epoch,
            author: author, sealed: sealed.map { [UInt8]($0) }, blobs: ids(blobs ?? Data()))
    }
}
