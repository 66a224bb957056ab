import Foundation
import GRDB
public import HubAPI
public import HubStore

extension SQLiteHubStore {
    private static func blob(_ id: HubID, household: Int64, in database: Database) throws -> StoredBlob? {
        let row = try Row.fetchOne(
            database, sql: "SELECT size, hash, received, complete FROM blob WHERE household = ? AND id = ?",
            arguments: [household, id])
        return row.map { row in
            StoredBlob(
                state: BlobState(
                    size: row.unsigned("size"), received: row.unsigned("received"), isComplete: row["complete"]),
                hash: row["hash"])
        }
    }

    public func blob(_ id: HubID, of household: HubID) async throws -> StoredBlob? {
        try await read { database in
            try Self.blob(id, household: Self.household(household, in: database).number, in: database)
        }
    }

    public func completeBlobs(_ ids: Set<HubID>, of household: HubID) async throws -> Set<HubID> {
        try await read { database in
            let number = try Self.household(household, in: database).number
            let marks = databaseQuestionMarks(count: ids.count)
            return try HubID.fetchSet(
                database, sql: "SELECT id FROM blob WHERE household = ? AND complete AND id IN (\(marks))",
                arguments: [number] + StatementArguments(ids))
        }
    }

    public func beginBlob(
        _ request: NewBlobRequest, by device: HubID, household: HubID, limit: UInt64, at time: Int64
    ) async throws -> BlobState {
        guard (1...UInt64(Int64.max >> 8)).contains(request.size), request.hash.count == 32 else {
            throw HubError.blobIsEmpty
        }
        return try await write { database, _ in
            var totals = try Self.household(household, in: database)
            if let known = try Self.blob(request.id, household: totals.number, in: database) {
                guard known.state.size == request.size, known.hash == request.hash else { throw HubError.otherBlob }
                return known.state
            }
            let isHandedOut = try Bool.fetchOne(
                database, sql: "SELECT handed_out FROM garbage WHERE household = ? AND blob = ?",
                arguments: [household, request.id])
            if isHandedOut == true { throw HubError.blobIsRemoved }
            try database.execute(
                sql: "DELETE FROM garbage WHERE household = ? AND blob = ?", arguments: [household, request.id])
            try database.execute(
                sql: "INSERT INTO blob (household, id, size, hash, idle_since, begun_by) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [totals.number, request.id, Int64(request.size), request.hash, time, device])
            totals.bytes = try request.added(to: totals.bytes, limit: limit)
            try Self.save(totals, in: database)
            return BlobState(size: request.size, received: 0, isComplete: false)
        }
    }

    public func advanceBlob(
        _ id: HubID, of household: HubID, from: UInt64, to: UInt64, isComplete: Bool, at time: Int64
    ) async throws {
        try await write { database, _ in
            let number = try Self.household(household, in: database).number
            guard let blob = try Self.blob(id, household: number, in: database) else { throw HubError.noSuchBlob }
            try blob.requireAdvance(from: from, to: to, isComplete: isComplete)
            try database.execute(
                sql: "UPDATE blob SET received = ?, complete = ?, idle_since = ? WHERE household = ? AND id = ?",
                arguments: [Int64(to), isComplete, time, number, id])
        }
    }
}
