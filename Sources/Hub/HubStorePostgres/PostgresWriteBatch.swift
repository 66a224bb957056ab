import Foundation
import HubAPI
import HubStore

/// Writes of several callers in one transaction with five round trips, however many they are; more only where the stored
/// records that they replace are large.
struct PostgresWriteBatch {
    private struct Key: Hashable {
        var household: Int64
        var collection: String
        var id: HubID
    }

    private struct Totals {
        var number: Int64
        var sequence: UInt64
        var records: Int64
        var bytes: Int64
        var generations: StoredGenerations
        /// The generation of the server's current run.
        var run: HubID
        var hasChanged = false
    }

    private let connection: PostgresConnection
    private var households: [HubID: Totals] = [:]
    /// The records that the writes name, each once, in their order.
    private var keys: [Key] = []
    private var stored: [Key: HubRecord] = [:]
    /// Those that are stored and not read yet, because all of them together are too large.
    private var unread: Set<Key> = []
    /// The most sealed bytes that are read at once, unless a single record has more.
    private static let mostBytes: Int64 = 16 << 20
    /// Complete blobs that a record of these writes names.
    private var blobs: Set<StoredBlobID> = []
    /// When each was written, and whether it had or has blobs.
    private var changed: [Key: (time: Int64, hasBlobs: Bool)] = [:]
    /// Blobs that a record of these writes named until another of them replaced it.
    private var replacedInBatch: [(household: Int64, blob: HubID, time: Int64)] = []

    static func run(
        _ writes: [PostgresWrite], _ connection: PostgresConnection
    ) throws -> [Result<[HubWriteOutcome], any Error>] {
        var batch = PostgresWriteBatch(connection)
        try batch.lockHouseholds(writes)
        var seen: Set<Key> = []
        batch.keys = writes.flatMap { write in
            write.records.compactMap { batch.key($0, write.household) }.filter { seen.insert($0).inserted }
        }
        try batch.readRecords(batch.keys)
        try batch.readBlobs(writes)
        let outcomes = try writes.map { try batch.decide($0) }
        try batch.store()
        return outcomes
    }

    private init(_ connection: PostgresConnection) { self.connection = connection }

    private mutating func lockHouseholds(_ writes: [PostgresWrite]) throws {
        let ids = Set(writes.map(\.household)).sorted()
        let rows = try connection.query(
            """
            SELECT id, number, sequence, records, bytes, generations, \(PostgresHubStore.run) FROM household
            WHERE id = ANY($1) ORDER BY id FOR UPDATE
            """, [.ids(ids)])
        for row in rows {
            households[try row.id(0)] = Totals(
                number: row.integer(1), sequence: row.unsigned(2), records: row.integer(3), bytes: row.integer(4),
                generations: StoredGenerations(bytes: row.bytes(5) ?? Data()), run: try row.id(6))
        }
    }

    private func key(_ record: HubRecord, _ household: HubID) -> Key? {
        guard let number = households[household]?.number, RecordDecision.isWellFormed(record) else { return nil }
        return Key(household: number, collection: record.collection, id: record.id)
    }

    /// The sums limit what the server sends: it has the lengths without the bytes.
    private mutating func readRecords(_ keys: [Key]) throws {
        guard !keys.isEmpty else { return }
        let rows = try connection.query(
            """
            SELECT \(PostgresHubStore.recordColumns), record.household, record.is_read FROM (
                SELECT household, collection, id, sequence, vault, revision, epoch, author, blobs, signature, ancestors,
                    is_first OR bytes <= $4::bigint AS is_read,
                    CASE WHEN is_first OR bytes <= $4::bigint THEN sealed END AS sealed
                FROM (
                    SELECT record.*, row_number() OVER up_to_here = 1 AS is_first,
                        coalesce(sum(octet_length(record.sealed)) OVER up_to_here, 0)::bigint AS bytes
                    FROM unnest($1::bigint[], $2::text[], $3::uuid[]) WITH ORDINALITY
                        AS name (household, collection, id, place) JOIN record USING (household, collection, id)
                    WINDOW up_to_here AS (ORDER BY name.place ROWS UNBOUNDED PRECEDING)
                ) AS measured
            ) AS record
            """,
            [
                .integers(keys.map(\.household)), .texts(keys.map(\.collection)), .ids(keys.map(\.id)),
                .integer(Self.mostBytes),
            ])
        for row in rows {
            let record = try PostgresHubStore.record(row)
            let key = Key(household: row.integer(11), collection: record.collection, id: record.id)
            if row.flag(12) {
                stored[key] = record
                unread.remove(key)
            } else {
                unread.insert(key)
            }
        }
    }

    /// Reads this record and following ones, in place of those that were compared and are unchanged.
    private mutating func readRecords(from key: Key) throws {
        for other in stored.keys where changed[other] == nil {
            stored[other] = nil
            unread.insert(other)
        }
        try readRecords(keys[(keys.firstIndex(of: key) ?? 0)...].filter(unread.contains))
    }

    private mutating func readBlobs(_ writes: [PostgresWrite]) throws {
        let names = Set(
            writes.flatMap { write in
                write.records.flatMap { record in
                    record.blobs.map { StoredBlobID(household: write.household, blob: $0) }
                }
            }
        ).filter { households[$0.household] != nil }
        guard !names.isEmpty else { return }
        let rows = try connection.query(
            """
            SELECT household.id, blob.id FROM unnest($1::uuid[], $2::uuid[]) AS name (household, blob)
            JOIN household ON household.id = name.household
            JOIN blob ON blob.household = household.number AND blob.id = name.blob WHERE blob.complete
            """, [.ids(names.map(\.household)), .ids(names.map(\.blob))])
        for row in rows { blobs.insert(StoredBlobID(household: try row.id(0), blob: try row.id(1))) }
    }

    private mutating func decide(_ write: PostgresWrite) throws -> Result<[HubWriteOutcome], any Error> {
        guard var totals = households[write.household] else { return .failure(HubError.noSuchHousehold) }
        let outcomes = try write.records.map { try decide($0, write, &totals) }
        households[write.household] = totals
        return .success(outcomes)
    }

    private mutating func decide(
        _ record: HubRecord, _ write: PostgresWrite, _ totals: inout Totals
    ) throws -> HubWriteOutcome {
        let key = Key(household: totals.number, collection: record.collection, id: record.id)
        if unread.contains(key) { try readRecords(from: key) }
        let before = stored[key]
        switch RecordDecision(record, stored: before) {
        case .isStored(let sequence): return HubWriteOutcome(sequence: sequence)
        case .refused(let outcome): return outcome
        case .isNext: break
        }
        let isComplete = record.blobs.allSatisfy {
            blobs.contains(StoredBlobID(household: write.household, blob: $0))
        }
        guard isComplete else { return HubWriteOutcome(error: .incompleteBlob) }
        _ = totals.generations.begin(totals.run, after: totals.sequence)
        totals.sequence += 1
        totals.records += (record.sealed == nil ? 0 : 1) - (before?.sealed == nil ? 0 : 1)
        totals.bytes += RecordDecision.bytes(of: record) - (before.map(RecordDecision.bytes) ?? 0)
        totals.hasChanged = true
        var after = record
        (after.sequence, after.replaces, after.replacedVersion) = (totals.sequence, nil, nil)
        after.ancestors = RecordDecision.ancestors(of: record, after: before)
        stored[key] = after
        if changed[key] != nil {
            replacedInBatch += (before?.blobs ?? []).map { (household: totals.number, blob: $0, time: write.time) }
        }
        let hadBlobs = changed[key]?.hasBlobs == true || before?.blobs.isEmpty == false
        changed[key] = (write.time, hadBlobs || !record.blobs.isEmpty)
        return HubWriteOutcome(sequence: totals.sequence)
    }

    private func store() throws {
        let rows = changed.compactMap { key, change in stored[key].map { (key: key, record: $0, time: change.time) } }
        guard !rows.isEmpty else { return }
        let totals = households.filter(\.value.hasChanged).sorted { $0.key < $1.key }
        let notices = totals.compactMap {
            PostgresNotice.payload(.records(household: $0.key, through: $0.value.sequence))
        }
        try connection.query(
            Self.statement,
            [
                .integers(rows.map(\.key.household)), .texts(rows.map(\.key.collection)), .ids(rows.map(\.key.id)),
                .integers(rows.map { Int64(clamping: $0.record.sequence ?? 0) }), .ids(rows.map(\.record.vault)),
                .integers(rows.map { Int64(clamping: $0.record.revision) }),
                .integers(rows.map { Int64($0.record.epoch) }), .ids(rows.map(\.record.author)),
                .byteRows(rows.map { $0.record.blobs.isEmpty ? nil : Data($0.record.blobs.flatMap(\.bytes)) }),
                .byteRows(rows.map(\.record.signature)), .integers(rows.map(\.time)),
                .byteRows(rows.map(\.record.sealed)), .byteRows(rows.map(\.record.ancestors)),
                .integers(totals.map(\.value.number)), .integers(totals.map { Int64(clamping: $0.value.sequence) }),
                .integers(totals.map(\.value.records)), .integers(totals.map(\.value.bytes)),
                .byteRows(totals.map(\.value.generations.changedBytes)), .texts(notices),
            ])
        try storeBlobNames()
    }

    /// Stores which blobs the records name, and no others.
    private func storeBlobNames() throws {
        let changes = changed.filter(\.value.hasBlobs)
        let keys = Array(changes.keys)
        guard !keys.isEmpty else { return }
        try connection.query(
            """
            WITH name AS (
                SELECT * FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::bigint[])
                    AS name (household, collection, id, written)
            ), unnamed AS (
                DELETE FROM record_blob USING name WHERE record_blob.household = name.household
                    AND record_blob.collection = name.collection AND record_blob.record = name.id
                RETURNING record_blob.household, record_blob.blob, name.written
            )
            UPDATE blob SET idle_since = unnamed.written, was_named = true FROM unnamed
            WHERE blob.household = unnamed.household AND blob.id = unnamed.blob
            """,
            [
                .integers(keys.map(\.household)), .texts(keys.map(\.collection)), .ids(keys.map(\.id)),
                .integers(keys.map { changes[$0]?.time ?? 0 }),
            ])
        try connection.query(
            """
            UPDATE blob SET idle_since = replaced.written, was_named = true
            FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) AS replaced (household, id, written)
            WHERE blob.household = replaced.household AND blob.id = replaced.id
            """,
            [
                .integers(replacedInBatch.map(\.household)), .ids(replacedInBatch.map(\.blob)),
                .integers(replacedInBatch.map(\.time)),
            ])
        let names = keys.flatMap { key in Set(stored[key]?.blobs ?? []).map { (key: key, blob: $0) } }
        try connection.query(
            """
            INSERT INTO record_blob (household, blob, collection, record)
            SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::uuid[])
            """,
            [
                .integers(names.map(\.key.household)), .ids(names.map(\.blob)), .texts(names.map(\.key.collection)),
                .ids(names.map(\.key.id)),
            ])
    }

    /// Writes the records, the households' totals and the message to the other hubs at once.
    private static let statement = """
        WITH written AS (
            INSERT INTO record (household, collection, id, sequence, vault, revision, epoch, author, blobs, signature,
                written, sealed, ancestors)
            SELECT * FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::bigint[], $5::uuid[], $6::bigint[], $7::bigint[],
                $8::uuid[], $9::bytea[], $10::bytea[], $11::bigint[], $12::bytea[], $13::bytea[])
            ON CONFLICT (household, collection, id) DO UPDATE SET sequence = excluded.sequence, vault = excluded.vault,
                revision = excluded.revision, epoch = excluded.epoch, author = excluded.author, blobs = excluded.blobs,
                signature = excluded.signature, written = excluded.written, sealed = excluded.sealed,
                ancestors = excluded.ancestors
        ), counted AS (
            UPDATE household SET sequence = new.sequence, records = new.records, bytes = new.bytes,
                generations = coalesce(new.generations, household.generations)
            FROM unnest($14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bytea[])
                AS new (number, sequence, records, bytes, generations)
            WHERE household.number = new.number
        )
        SELECT pg_notify('\(PostgresNotice.channel)', notice) FROM unnest($19::text[]) AS notice
        """
}
