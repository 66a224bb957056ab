import Foundation
public import HubAPI
public import HubStore

extension PostgresHubStore {
    private static func blob(_ row: PostgresRow) -> StoredBlob {
        StoredBlob(
            state: BlobState(size: row.unsigned(0), received: row.unsigned(2), isComplete: row.flag(3)),
            hash: row.bytes(1) ?? Data())
    }

    private static func blob(_ id: HubID, household: Int64, _ connection: PostgresConnection) throws -> StoredBlob? {
        try connection.query(
            "SELECT size, hash, received, complete FROM blob WHERE household = $1 AND id = $2",
            [.integer(household), .id(id)]
        ).first.map(blob)
    }

    public func blob(_ id: HubID, of household: HubID) async throws -> StoredBlob? {
        try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT size, hash, received, complete FROM household LEFT JOIN blob
                    ON blob.household = household.number AND blob.id = $2 WHERE household.id = $1
                """, [.id(household), .id(id)])
            guard let row = rows.first else { throw HubError.noSuchHousehold }
            return row.isNull(0) ? nil : Self.blob(row)
        }
    }

    public func completeBlobs(_ ids: Set<HubID>, of household: HubID) async throws -> Set<HubID> {
        try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT blob.id FROM household LEFT JOIN blob
                    ON blob.household = household.number AND blob.complete AND blob.id = ANY($2) WHERE household.id = $1
                """, [.id(household), .ids(Array(ids))])
            if rows.first == nil { throw HubError.noSuchHousehold }
            return Set(try rows.filter { !$0.isNull(0) }.map { try $0.id(0) })
        }
    }

    public func beginBlob(
        _ request: NewBlobRequest, by device: HubID, household: HubID, limit: UInt64, at time: Int64
    ) async throws -> BlobState {
        guard (1...UInt64(Int64.max >> 8)).contains(request.size), request.hash.count == 32 else {
            throw HubError.blobIsEmpty
        }
        return try await pool.transaction { connection in
            var totals = try LockedHousehold(household, connection)
            if let known = try Self.blob(request.id, household: totals.number, connection) {
                guard known.state.size == request.size, known.hash == request.hash else { throw HubError.otherBlob }
                return known.state
            }
            let name = [PostgresValue.id(household), .id(request.id)]
            try connection.query("DELETE FROM garbage WHERE household = $1 AND blob = $2 AND NOT handed_out", name)
            let isHandedOut = try connection.query("SELECT 1 FROM garbage WHERE household = $1 AND blob = $2", name)
            if isHandedOut.first != nil { throw HubError.blobIsRemoved }
            try connection.query(
                "INSERT INTO blob (household, id, size, hash, idle_since, begun_by) VALUES ($1, $2, $3, $4, $5, $6)",
                [
                    .integer(totals.number), .id(request.id), .number(request.size), .bytes(request.hash),
                    .integer(time), .id(device),
                ])
            totals.bytes = try request.added(to: totals.bytes, limit: limit)
            try totals.save(connection)
            return BlobState(size: request.size, received: 0, isComplete: false)
        }
    }

    public func advanceBlob(
        _ id: HubID, of household: HubID, from: UInt64, to: UInt64, isComplete: Bool, at time: Int64
    ) async throws {
        try await pool.transaction { connection in
            let number = try LockedHousehold(household, connection).number
            guard let blob = try Self.blob(id, household: number, connection) else { throw HubError.noSuchBlob }
            try blob.requireAdvance(from: from, to: to, isComplete: isComplete)
            try connection.query(
                "UPDATE blob SET received = $1, complete = $2, idle_since = $3 WHERE household = $4 AND id = $5",
                [.number(to), .flag(isComplete), .integer(time), .integer(number), .id(id)])
        }
    }

    /// One transaction for each household that has garbage.
    public func collectGarbage(at time: Int64) async throws -> [StoredBlobID] {
        let unnamed = """
            (NOT was_named AND begun_by NOT IN (SELECT id FROM device)
                OR idle_since < $1::bigint - 86400 AND (NOT was_named OR idle_since < $1::bigint - 86400 * (
                    SELECT event_days FROM household WHERE household.number = blob.household
                ))) AND NOT EXISTS (SELECT 1 FROM record_blob
                WHERE record_blob.household = blob.household AND record_blob.blob = blob.id)
            """
        let households = try await pool.read { connection in
            try connection.query(
                """
                SELECT DISTINCT household.id FROM blob JOIN household ON household.number = blob.household
                WHERE \(unnamed)
                """, [.integer(time)]
            ).map { try $0.id(0) }
        }
        for household in households {
            try await pool.transaction { connection in
                // The household may have been removed meanwhile, with its blobs.
                guard var totals = try? LockedHousehold(household, connection) else { return }
                let rows = try connection.query(
                    """
                    WITH gone AS (DELETE FROM blob WHERE household = $2 AND \(unnamed) RETURNING id, size), kept AS (
                        INSERT INTO garbage (household, blob) SELECT $3, id FROM gone ON CONFLICT DO NOTHING
                    )
                    SELECT size FROM gone
                    """, [.integer(time), .integer(totals.number), .id(household)])
                for row in rows { totals.bytes -= BlobUsage.bytes(size: row.integer(0)) }
                try totals.save(connection)
            }
        }
        return try await pool.transaction { connection in
            try connection.query("UPDATE garbage SET handed_out = true RETURNING household, blob").map {
                StoredBlobID(household: try $0.id(0), blob: try $0.id(1))
            }
        }
    }

    public func forgetGarbage(_ blobs: [StoredBlobID]) async throws {
        guard !blobs.isEmpty else { return }
        try await pool.transaction { connection in
            _ = try connection.query(
                """
                DELETE FROM garbage USING unnest($1::uuid[], $2::uuid[]) AS name (household, blob)
                WHERE garbage.household = name.household AND garbage.blob = name.blob AND handed_out
                """, [.ids(blobs.map(\.household)), .ids(blobs.map(\.blob))])
        }
    }
}
