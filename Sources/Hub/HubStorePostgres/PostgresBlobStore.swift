import Foundation
import HubAPI
public import HubStore

/// The bytes of blobs in PostgreSQL, in pieces of 256 KiB, available to every hub of the database.
public final class PostgresBlobStore: HubBlobStore {
    /// The size of all pieces but the last, in bytes.
    private static let pieceBytes = 256 << 10

    private let pool: PostgresPool

    /// Uses the connections of the store.
    public init(_ store: PostgresHubStore) { pool = store.pool }

    private static func name(_ blob: StoredBlobID) -> [PostgresValue] { [.id(blob.household), .id(blob.blob)] }

    public func write(_ bytes: [UInt8], at offset: UInt64, of blob: StoredBlobID) async throws {
        guard !bytes.isEmpty, offset < UInt64(Int64.max >> 8) else { return }
        try await pool.transaction { connection in
            try Self.lock(blob, connection)
            let size = try Self.size(blob, connection)
            guard offset <= size else { throw HubError.blobOffset(size) }
            let (begin, end) = (Int(offset), Int(offset) + bytes.count)
            for place in begin / Self.pieceBytes...(end - 1) / Self.pieceBytes {
                let base = place * Self.pieceBytes
                let part = bytes[max(0, base - begin)..<min(bytes.count, base + Self.pieceBytes - begin)]
                let from = max(0, begin - base)
                // Stored bytes before and after the piece are kept.
                try connection.query(
                    """
                    INSERT INTO blob_piece (household, blob, place, bytes) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (household, blob, place) DO UPDATE SET
                        bytes = overlay(blob_piece.bytes PLACING excluded.bytes FROM $5::bigint::integer + 1)
                    """,
                    Self.name(blob) + [.integer(Int64(place)), .bytes(Data(part)), .integer(Int64(from))])
            }
        }
    }

    /// Serialises the writers of a blob and its removal, until the transaction ends.
    private static func lock(_ blob: StoredBlobID, _ connection: PostgresConnection) throws {
        try connection.query(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [.text("\(blob.household)\(blob.blob)")])
    }

    private static func size(_ blob: StoredBlobID, _ connection: PostgresConnection) throws -> UInt64 {
        let last = try connection.query(
            """
            SELECT place * \(pieceBytes) + octet_length(bytes) FROM blob_piece WHERE household = $1 AND blob = $2
            ORDER BY place DESC LIMIT 1
            """, name(blob))
        return last.first?.unsigned(0) ?? 0
    }

    public func read(_ blob: StoredBlobID, offset: UInt64, length: Int) async throws -> [UInt8] {
        try await pool.read { connection in
            let size = try Self.size(blob, connection)
            guard size > 0 else { throw HubError.noSuchBlob }
            guard offset < size, length > 0 else { return [] }
            let end = Int(min(UInt64(length), size - offset)) + Int(offset)
            let first = Int(offset) / Self.pieceBytes
            let rows = try connection.query(
                """
                SELECT bytes FROM blob_piece WHERE household = $1 AND blob = $2 AND place BETWEEN $3 AND $4
                ORDER BY place
                """, Self.name(blob) + [.integer(Int64(first)), .integer(Int64((end - 1) / Self.pieceBytes))])
            let bytes = rows.compactMap { $0.bytes(0) }.flatMap { $0 }
            let skipped = Int(offset) - first * Self.pieceBytes
            return Array(bytes.dropFirst(skipped).prefix(end - Int(offset)))
        }
    }

    public func remove(_ blobs: [StoredBlobID]) async throws {
        for blob in blobs {
            try await pool.transaction { connection in
                try Self.lock(blob, connection)
                // Another hub may have removed it too; since then it may have been begun again.
                try connection.query(
                    """
                    DELETE FROM blob_piece WHERE household = $1 AND blob = $2 AND NOT EXISTS (
                        SELECT 1 FROM household JOIN blob ON blob.household = household.number
                        WHERE household.id = $1 AND blob.id = $2)
                    """, Self.name(blob))
            }
        }
    }
}
