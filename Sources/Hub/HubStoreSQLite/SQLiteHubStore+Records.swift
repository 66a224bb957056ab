import Foundation
import GRDB
public import HubAPI
import HubStore

extension SQLiteHubStore {
    public func write(_ records: [HubRecord], household: HubID, at time: Int64) async throws -> [HubWriteOutcome] {
        try await commits.run(sharesHouseholds: true) { [run] database, effects in
            var totals = try effects.households[household] ?? Self.household(household, in: database)
            let before = totals.sequence
            _ = totals.generations.begin(run, after: UInt64(before))
            let outcomes = try records.map { try Self.write($0, of: &totals, at: time, in: database) }
            if totals.sequence > before {
                effects.households[household] = totals
                effects.changes.append(.records(household: household, through: UInt64(totals.sequence)))
            }
            return outcomes
        }
    }

    private static func write(
        _ record: HubRecord, of household: inout Household, at time: Int64, in database: Database
    ) throws -> HubWriteOutcome {
        if record.revision == 1, record.replaces ?? 0 == 0, record.blobs.isEmpty, RecordDecision.isWellFormed(record) {
            // Most records are new: one statement checks and writes.
            try put(
                record, instead: nil, of: household, at: time,
                sql: insert + " ON CONFLICT (household, collection, id) DO NOTHING",
                in: database)
            if database.changesCount > 0 { return count(record, instead: nil, of: &household) }
        }
        let stored = try self.record(record.collection, record.id, household: household.number, in: database)
        switch RecordDecision(record, stored: stored) {
        case .isStored(let sequence): return HubWriteOutcome(sequence: sequence)
        case .refused(let outcome): return outcome
        case .isNext: break
        }
        for blob in record.blobs {
            let isComplete = try Bool.fetchOne(
                database, sql: "SELECT complete FROM blob WHERE household = ? AND id = ?",
                arguments: [household.number, blob])
            guard isComplete == true else { return HubWriteOutcome(error: .incompleteBlob) }
        }
        try put(
            record, instead: stored, of: household, at: time, sql: stored == nil ? insert : update, in: database)
        if !record.blobs.isEmpty || stored?.blobs.isEmpty == false {
            try name(record.blobs, by: record, at: time, household: household.number, in: database)
        }
        return count(record, instead: stored, of: &household)
    }

    private static let insert = """
        INSERT INTO record (sequence, vault, revision, epoch, author, blobs, ancestors, signature, written, sealed,
            household, collection, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    private static let update = """
        UPDATE record SET sequence = ?, vault = ?, revision = ?, epoch = ?, author = ?, blobs = ?, ancestors = ?,
            signature = ?, written = ?, sealed = ? WHERE household = ? AND collection = ? AND id = ?
        """

    /// Stores the record with the household's next number.
    private static func put(
        _ record: HubRecord, instead stored: HubRecord?, of household: Household, at time: Int64, sql: String,
        in database: Database
    ) throws {
        let blobs: Data? = record.blobs.isEmpty ? nil : Data(record.blobs.flatMap(\.bytes))
        try database.cachedStatement(sql: sql).execute(arguments: [
            household.sequence + 1, record.vault, Int64(record.revision), record.epoch, record.author, blobs,
            RecordDecision.ancestors(of: record, after: stored), record.signature, time, record.sealed,
            household.number,
            record.collection, record.id,
        ])
    }

    private static func count(
        _ record: HubRecord, instead stored: HubRecord?, of household: inout Household
    ) -> HubWriteOutcome {
        household.sequence += 1
        household.records += (record.sealed == nil ? 0 : 1) - (stored?.sealed == nil ? 0 : 1)
        household.bytes += RecordDecision.bytes(of: record) - (stored.map(RecordDecision.bytes) ?? 0)
        return HubWriteOutcome(sequence: UInt64(household.sequence))
    }

    /// Stores which blobs the record names, and no others.
    private static func name(
        _ blobs: [HubID], by record: HubRecord, at time: Int64, household: Int64, in database: Database
    ) throws {
        try database.execute(
            sql: """
                UPDATE blob SET idle_since = ?, was_named = 1 WHERE household = ? AND id IN (
                    SELECT blob FROM record_blob WHERE household = ? AND collection = ? AND record = ?)
                """, arguments: [time, household, household, record.collection, record.id])
        try database.execute(
            sql: "DELETE FROM record_blob WHERE household = ? AND collection = ? AND record = ?",
            arguments: [household, record.collection, record.id])
        for blob in blobs {
            try database.execute(
                sql: "INSERT OR IGNORE INTO record_blob (household, blob, collection, record) VALUES (?, ?, ?, ?)",
                arguments: [household, blob, record.collection, record.id])
        }
    }

    // MARK: Reading

    private static let recordColumns =
        "SELECT collection, id, sequence, vault, revision, epoch, author, blobs, signature, sealed, ancestors FROM record"

    private static func record(_ row: Row) throws -> HubRecord {
        let blobs: Data? = row[7]
        let bytes = [UInt8](blobs ?? Data())
        return HubRecord(
            collection: row[0], id: row[1], vault: row[3], revision: row.unsigned("revision"), epoch: row[5],
            author: row[6], sealed: row[9],
            blobs: stride(from: 0, to: bytes.count, by: 16).compactMap { HubID(bytes: bytes[$0...].prefix(16)) },
            signature: row[8], sequence: row.unsigned("sequence"), ancestors: row[10])
    }

    private static func record(
        _ collection: String, _ id: HubID, household: Int64, in database: Database
    ) throws -> HubRecord? {
        let statement = try database.cachedStatement(
            sql: recordColumns + " WHERE household = ? AND collection = ? AND id = ?")
        return try Row.fetchOne(statement, arguments: [household, collection, id]).map(record)
    }

    public func record(_ collection: String, _ id: HubID, of household: HubID) async throws -> HubRecord? {
        try await read { database in
            let household = try Self.household(household, in: database)
            return try Self.record(collection, id, household: household.number, in: database)
        }
    }

    public func records(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> HubRecordPage {
        try await read { database in
            let household = try Self.household(household, in: database)
            var page = RecordPage(limit: limit, maximumBytes: maximumBytes)
            let statement = try database.cachedStatement(
                sql: Self.recordColumns + " WHERE household = ? AND sequence > ? ORDER BY sequence")
            let rows = try Row.fetchCursor(statement, arguments: [household.number, Int64(clamping: sequence)])
            while let row = try rows.next() {
                guard page.append(try Self.record(row)) else { break }
            }
            return page.finished(newest: UInt64(household.sequence))
        }
    }

    public func recordBytes(
        of household: HubID, after sequence: UInt64, limit: Int, maximumBytes: Int
    ) async throws -> Int {
        try await read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT COALESCE(LENGTH(sealed), 0) FROM record
                    WHERE household = (SELECT number FROM household WHERE id = ?) AND sequence > ?
                    ORDER BY sequence LIMIT ?
                    """)
            let sizes = try Int.fetchAll(
                statement, arguments: [household, Int64(clamping: sequence), max(1, limit)])
            return RecordPage(limit: limit, maximumBytes: maximumBytes).bytes(sealed: sizes)
        }
    }

    public func recordBytes(_ collection: String, _ id: HubID, of household: HubID) async throws -> Int {
        try await read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT COALESCE(LENGTH(sealed), 0) FROM record
                    WHERE household = (SELECT number FROM household WHERE id = ?) AND collection = ? AND id = ?
                    """)
            let size = try Int.fetchOne(statement, arguments: [household, collection, id])
            return size.map { Int(RecordDecision.bytes(sealed: $0)) } ?? 0
        }
    }

    // MARK: Retention

    static let expired = """
        SELECT rowid, id, LENGTH(sealed) AS bytes, blobs IS NOT NULL AS has_blobs FROM record
        WHERE household = ? AND collection = ? AND \(RecordDecision.expiring) AND written < ? LIMIT ?
        """

    public func prune(
        _ collection: String, of household: HubID, writtenBefore time: Int64, limit: Int
    ) async throws -> Int {
        try await write { database, _ in
            var totals = try Self.household(household, in: database)
            let rows = try Row.fetchAll(
                database, sql: Self.expired, arguments: [totals.number, collection, time, limit])
            var (removed, removedBytes) = (0, 0)
            for row in rows where removedBytes < Self.largestStep {
                let (rowID, id): (Int64, HubID) = (row["rowid"], row["id"])
                try database.cachedStatement(sql: "DELETE FROM record WHERE rowid = ?").execute(arguments: [rowID])
                if row["has_blobs"] {
                    try database.execute(
                        sql: "DELETE FROM record_blob WHERE household = ? AND collection = ? AND record = ?",
                        arguments: [totals.number, collection, id])
                }
                let bytes: Int? = row["bytes"]
                totals.bytes -= RecordDecision.bytes(sealed: bytes ?? 0)
                totals.records -= bytes == nil ? 0 : 1
                removed += 1
                removedBytes += bytes ?? 0
            }
            try Self.save(totals, in: database)
            return removed
        }
    }
}
