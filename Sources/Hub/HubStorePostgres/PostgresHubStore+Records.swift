import Foundation
public import HubAPI
import HubStore

extension PostgresHubStore {
    static let recordColumns = """
        record.collection, record.id, record.sequence, record.vault, record.revision, record.epoch, record.author,
        record.blobs, record.signature, record.sealed, record.ancestors
        """

    /// Reads the columns above, the first eleven of a row.
    static func record(_ row: PostgresRow) throws -> HubRecord {
        guard let collection = row.text(0), let signature = row.bytes(8), let epoch = UInt32(exactly: row.integer(5))
        else { throw PostgresRow.unexpected }
        let blobs = [UInt8](row.bytes(7) ?? Data())
        return HubRecord(
            collection: collection, id: try row.id(1), vault: try row.id(3), revision: row.unsigned(4), epoch: epoch,
            author: try row.id(6), sealed: row.bytes(9),
            blobs: stride(from: 0, to: blobs.count, by: 16).compactMap { HubID(bytes: blobs[$0...].prefix(16)) },
            signature: signature, sequence: row.unsigned(2), ancestors: row.bytes(10))
    }

    public func record(_ collection: String, _ id: HubID, of household: HubID) async throws -> HubRecord? {
        // PostgreSQL may refuse an invalid name as text.
        let name = RecordDecision.isCollection(collection) ? collection : ""
        return try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT \(Self.recordColumns) FROM household LEFT JOIN record ON record.household = household.number
                    AND record.collection = $2 AND record.id = $3 WHERE household.id = $1
                """, [.id(household), .text(name), .id(id)])
            guard let row = rows.first else { throw HubError.noSuchHousehold }
            return row.isNull(0) ? nil : try Self.record(row)
        }
    }

    /// One statement, so one snapshot. The sums limit what the server sends: it has the lengths without the bytes.
    public func records(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> HubRecordPage {
        return try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT \(Self.recordColumns), household.sequence, record.found FROM household LEFT JOIN LATERAL (
                    SELECT *, row_number() OVER up_to_here AS place, count(*) OVER () AS found,
                        coalesce(sum(octet_length(sealed)) OVER up_to_here, 0)::bigint AS bytes
                    FROM (
                        SELECT * FROM record WHERE record.household = household.number AND record.sequence > $2
                            ORDER BY record.sequence LIMIT $3::bigint + 1
                    ) AS next WINDOW up_to_here AS (ORDER BY sequence ROWS UNBOUNDED PRECEDING)
                ) AS record ON record.place = 1 OR record.bytes <= $4::bigint
                WHERE household.id = $1 ORDER BY record.sequence
                """,
                [
                    .id(household), .number(sequence), .integer(Int64(max(1, limit))), .integer(Int64(maximumBytes)),
                ])
            guard let first = rows.first else { throw HubError.noSuchHousehold }
            var page = RecordPage(limit: limit, maximumBytes: maximumBytes)
            for row in rows where !row.isNull(0) {
                guard page.append(try Self.record(row)) else { break }
            }
            return page.finished(newest: first.unsigned(11), found: Int(first.integer(12)))
        }
    }

    public func recordBytes(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> Int {
        return try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT coalesce(octet_length(sealed), 0)::bigint FROM record
                WHERE household = (SELECT number FROM household WHERE id = $1) AND sequence > $2
                ORDER BY sequence LIMIT $3
                """, [.id(household), .number(sequence), .integer(Int64(max(1, limit)))])
            return RecordPage(limit: limit, maximumBytes: maximumBytes).bytes(sealed: rows.map { Int($0.integer(0)) })
        }
    }

    public func recordBytes(_ collection: String, _ id: HubID, of household: HubID) async throws -> Int {
        let name = RecordDecision.isCollection(collection) ? collection : ""
        return try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT coalesce(octet_length(sealed), 0)::bigint FROM record
                WHERE household = (SELECT number FROM household WHERE id = $1) AND collection = $2 AND id = $3
                """, [.id(household), .text(name), .id(id)])
            return rows.first.map { Int(RecordDecision.bytes(sealed: Int($0.integer(0)))) } ?? 0
        }
    }

    // MARK: Retention

    public func prune(
        _ collection: String, of household: HubID, writtenBefore time: Int64, limit: Int
    ) async throws -> Int {
        try await pool.transaction { connection in
            var totals = try LockedHousehold(household, connection)
            let rows = try connection.query(
                """
                WITH gone AS (
                    DELETE FROM record WHERE household = $1 AND sequence = ANY (ARRAY(
                        SELECT sequence FROM record WHERE household = $1 AND written < $2 AND collection = $3
                            AND \(RecordDecision.expiring) LIMIT $4))
                    RETURNING collection, id, sealed IS NOT NULL AS is_live,
                        \(RecordDecision.rowBytes) + coalesce(octet_length(sealed), 0)::bigint AS bytes
                ), unnamed AS (
                    DELETE FROM record_blob USING gone WHERE record_blob.household = $1
                        AND record_blob.collection = gone.collection AND record_blob.record = gone.id
                )
                SELECT count(*), count(*) FILTER (WHERE is_live), coalesce(sum(bytes), 0)::bigint FROM gone
                """, [.integer(totals.number), .integer(time), .text(collection), .integer(Int64(limit))])
            guard let row = rows.first else { throw PostgresRow.unexpected }
            totals.records -= row.integer(1)
            totals.bytes -= row.integer(2)
            try totals.save(connection)
            return Int(row.integer(0))
        }
    }
}
