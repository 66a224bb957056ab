import DaemonCore
import Foundation
import GRDB
public import SealedFormats
import Sync

// Which content belongs to which record: a photo names its sizes, a file and an intruder photo the content of their own id.
extension StateDatabase {
    static func createBlobs(_ database: Database) throws {
        try database.alter(table: "record") { table in
            // Ids of 16 bytes, one after the other.
            table.add(column: "blobs", .blob).notNull().defaults(to: Data())
        }
        try database.execute(
            sql: "UPDATE record SET blobs = id WHERE collection IN ('files', 'intruders') AND sealed IS NOT NULL")
        // Earlier versions took other devices' photos over without their content's ids: the hub is asked for them again.
        try database.execute(
            sql: """
                UPDATE record SET synced = 0, sequence = 0
                WHERE collection NOT IN ('notes', 'files', 'intruders') AND sealed IS NOT NULL
                    AND NOT EXISTS (
                        SELECT 1 FROM outbox WHERE outbox.collection = record.collection AND outbox.id = record.id)
                """)
        if database.changesCount > 0 {
            try database.execute(sql: "DELETE FROM document WHERE name = 'hub-cursor'")
        }
        // All of it is read from the index alone: the records are large.
        try database.execute(sql: "CREATE INDEX record_blobs ON record (blobs) WHERE length(blobs) > 0")
    }

    public func blobsOfRecords() async throws -> Set<ItemID> {
        try await pool.read { database in
            let lists = try Data.fetchAll(
                database,
                sql: """
                    SELECT blobs FROM record INDEXED BY record_blobs WHERE length(blobs) > 0
                    UNION ALL SELECT blobs FROM earlier INDEXED BY earlier_blobs WHERE length(blobs) > 0
                    """)
            return Set(lists.flatMap { Self.ids($0) })
        }
    }

    public func isOfRecord(blob: ItemID) async throws -> Bool {
        try await pool.read { database in
            let lists = try Data.fetchAll(
                database,
                sql: """
                    SELECT blobs FROM record INDEXED BY record_blobs WHERE length(blobs) > 0 AND instr(blobs, ?1) > 0
                    UNION ALL
                    SELECT blobs FROM earlier INDEXED BY earlier_blobs WHERE length(blobs) > 0 AND instr(blobs, ?1) > 0
                    """, arguments: [Data(blob.bytes)])
            return lists.contains { Self.ids($0).contains(blob) }
        }
    }

    static func blobs(_ record: StoredRecord) -> Data {
        record.sealed == nil ? Data() : Data(record.blobs.flatMap(\.bytes))
    }

    static func ids(_ blobs: Data) -> [ItemID] {
        stride(from: 0, to: blobs.count, by: ItemID.length).compactMap { offset in
            ItemID(bytes: blobs.dropFirst(offset).prefix(ItemID.length))
        }
    }
}
