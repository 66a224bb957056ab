import Foundation
import GRDB
import HubAPI
public import HubStore

/// Removing blobs that no record names. A household may have a million of them: they are searched for in reading
/// transactions and removed in steps, so that other writes wait for one step only. What a kill interrupts is continued
/// by the next collection.
extension SQLiteHubStore {
    /// Blobs that one transaction removes. Each changes a page of its own in three trees, so these are about 12 MiB.
    static let garbageStep = 1_024

    /// The place of a blob in the order of its table.
    private struct BlobPlace: Sendable {
        var household: Int64 = 0
        var id = Data()
    }

    /// Of a row of `blob`, at the time `:time`.
    private static let isUnnamed = """
        (NOT was_named AND begun_by NOT IN (SELECT id FROM device)
            OR idle_since < :time - 86400 AND (NOT was_named OR idle_since < :time - 86400 *
                (SELECT event_days FROM household WHERE household.number = blob.household)))
        AND NOT EXISTS (SELECT 1 FROM record_blob
            WHERE record_blob.household = blob.household AND record_blob.blob = blob.id)
        AND NOT EXISTS (SELECT 1 FROM household
            WHERE household.number = blob.household AND household.removed IS NOT NULL)
        """

    public func collectGarbage(at time: Int64) async throws -> [StoredBlobID] {
        try await eraseRemovedHouseholds()
        var place = BlobPlace()
        while true {
            let blobs = try await unnamedBlobs(after: place, at: time)
            guard let last = blobs.last else { break }
            try await write { database, _ in try Self.remove(blobs, at: time, in: database) }
            place = last
        }
        return try await handOutGarbage()
    }

    private func unnamedBlobs(after place: BlobPlace, at time: Int64) async throws -> [BlobPlace] {
        try await read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT household, id FROM blob WHERE (household, id) > (:household, :id) AND \(Self.isUnnamed)
                    ORDER BY household, id LIMIT \(Self.garbageStep)
                    """, arguments: ["household": place.household, "id": place.id, "time": time]
            ).map { BlobPlace(household: $0["household"], id: $0["id"]) }
        }
    }

    /// Removes those that still are unnamed.
    private static func remove(_ blobs: [BlobPlace], at time: Int64, in database: Database) throws {
        let deletion = try database.cachedStatement(
            sql: "DELETE FROM blob WHERE household = :household AND id = :id AND \(isUnnamed) RETURNING size")
        let addition = try database.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO garbage (household, blob)
                SELECT household.id, :id FROM household WHERE number = :household
                """)
        var released: [Int64: Int64] = [:]
        for blob in blobs {
            let name: StatementArguments = ["household": blob.household, "id": blob.id]
            guard let size = try Int64.fetchOne(deletion, arguments: name + ["time": time]) else { continue }
            try addition.execute(arguments: name)
            released[blob.household, default: 0] += BlobUsage.bytes(size: size)
        }
        for (household, bytes) in released {
            try database.execute(
                sql: "UPDATE household SET bytes = bytes - ? WHERE number = ?", arguments: [bytes, household])
        }
    }

    /// From then on a blob of the same id can't be begun, until it is forgotten.
    private func handOutGarbage() async throws -> [StoredBlobID] {
        var (all, last) = ([StoredBlobID](), (household: Data(), blob: Data()))
        while true {
            let page = try await write { [last] database, _ in
                let page = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT household, blob, handed_out FROM garbage WHERE (household, blob) > (?, ?)
                        ORDER BY household, blob LIMIT \(Self.garbageStep)
                        """, arguments: [last.household, last.blob])
                let update = try database.cachedStatement(
                    sql: "UPDATE garbage SET handed_out = 1 WHERE household = ? AND blob = ?")
                for row in page where !row["handed_out"] {
                    let (household, blob): (HubID, HubID) = (row["household"], row["blob"])
                    try update.execute(arguments: [household, blob])
                }
                return page.map { StoredBlobID(household: $0["household"], blob: $0["blob"]) }
            }
            guard let end = page.last else { return all }
            all += page
            last = (Data(end.household.bytes), Data(end.blob.bytes))
        }
    }

    public func forgetGarbage(_ blobs: [StoredBlobID]) async throws {
        for start in stride(from: 0, to: blobs.count, by: Self.garbageStep) {
            let step = blobs[start..<min(start + Self.garbageStep, blobs.count)]
            try await write { database, _ in
                let deletion = try database.cachedStatement(
                    sql: "DELETE FROM garbage WHERE household = ? AND blob = ? AND handed_out")
                for blob in step { try deletion.execute(arguments: [blob.household, blob.blob]) }
            }
        }
    }
}
