public import ControlAPI
import DaemonCore
import Foundation
import GRDB
import Policy
public import SealedFormats

// The activity log as a hash chain. An event's number is its link's; the newest head is kept beside the log, so that a
// log that was truncated is detected.
extension StateDatabase {
    private static let headDocument = "audit-head"
    private static let beginningDocument = "audit-beginning"

    /// Takes the events that are there into the chain, as they stand.
    static func chainActivity(_ database: Database, signedBy key: DeviceSigningKey) throws {
        try database.alter(table: "activity") { table in
            table.add(column: "hash", .blob)
            table.add(column: "signature", .blob)
        }
        let numbers = try Int64.fetchAll(database, sql: "SELECT number FROM activity ORDER BY number")
        // Numbers are links' numbers from here on: without holes, from 1.
        for (index, number) in numbers.enumerated() where number != Int64(index + 1) {
            try database.execute(
                sql: "UPDATE activity SET number = ? WHERE number = ?", arguments: [index + 1, number])
        }
        try database.execute(
            sql: "UPDATE sqlite_sequence SET seq = ? WHERE name = 'activity'", arguments: [numbers.count])
        var chain = AuditChain(of: key.publicKey)
        for number in 1..<Int64(numbers.count + 1) {
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT * FROM activity WHERE number = ?", arguments: [number])
            else { continue }
            let link = chain.append(try event(row), signedBy: key)
            try database.execute(
                sql: "UPDATE activity SET hash = ?, signature = ? WHERE number = ?",
                arguments: [Data(link.hash), Data(link.signature), number])
        }
        try save(chain.head, to: database)
    }

    /// - Parameter limit: how many events are kept; up to a sixteenth more until the oldest are removed.
    static func append(
        _ events: [ActivityEvent], signedBy key: DeviceSigningKey, keeping limit: Int, to database: Database
    ) throws {
        var chain = AuditChain(of: key.publicKey, from: try storedHead(database) ?? lastLink(database))
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO activity (number, time, kind, app, user, process, path, reason, sentence, hash, signature)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        for event in events {
            let link = chain.append(
                AuditChain.Event(
                    time: event.time, kind: event.kind.rawValue, app: event.app?.rawValue, user: event.user,
                    process: event.process, path: event.path, reason: event.reason, sentence: event.sentence),
                signedBy: key)
            try statement.execute(arguments: [
                Int64(clamping: chain.head.number), event.time, event.kind.rawValue, event.app?.rawValue, event.user,
                event.process, event.path, event.reason, event.sentence, Data(link.hash), Data(link.signature),
            ])
        }
        try save(chain.head, to: database)
        try removeOldest(before: chain.head, keeping: limit, signedBy: key, in: database)
    }

    /// Removes the oldest events and signs where the log begins from now on. Where the event that it would begin after
    /// can't be read, nothing is removed, so that the change of the log can still be found.
    private static func removeOldest(
        before head: AuditChain.Head, keeping limit: Int, signedBy key: DeviceSigningKey, in database: Database
    ) throws {
        guard let last = Int64(exactly: head.number), last > Int64(limit) else { return }
        let cut = last - Int64(limit)
        let first = try Int64.fetchOne(database, sql: "SELECT MIN(number) FROM activity") ?? 0
        guard first <= cut - Int64(limit / 16),
            let hash = try Row.fetchOne(database, sql: "SELECT hash FROM activity WHERE number = ?", arguments: [cut])
                .map({ bytes($0, "hash") }), hash.count == 32
        else { return }
        try database.execute(sql: "DELETE FROM activity WHERE number <= ?", arguments: [cut])
        let beginning = AuditChain.Beginning(AuditChain.Head(number: UInt64(cut), hash: hash), signedBy: key)
        try save(Data(beginning.description.utf8), as: beginningDocument, to: database)
    }

    /// As it is written, whether it is signed or not; nil where no event was removed yet.
    static func storedBeginning(_ database: Database) throws -> String? {
        try document(beginningDocument, in: database)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Verifies the whole chain in parts, so that other readers are not blocked and the caller can cancel.
    /// - Parameter known: a head that was stored elsewhere; the log must contain it.
    /// - Throws: `CancellationError`, or what the database throws.
    public func verifyLog(known: AuditChain.Head?) async throws -> LogVerification {
        var check: LogCheck?
        while true {
            try Task.checkCancellation()
            let (next, verification) = try await pool.read { [check, signingKey] database in
                let stored = try Self.storedBeginning(database)
                // Older events can be removed meanwhile: then the verification starts again.
                var check =
                    check.flatMap { $0.stored == stored ? $0 : nil }
                    ?? LogCheck(of: signingKey.publicKey, begunAs: stored, known: known)
                let verification = try check.followNextPiece(in: database)
                return (check, verification)
            }
            if let verification { return verification }
            check = next
        }
    }

    /// - Throws: `RowDecodingError` where a column holds what was never written to it; the subscript would end the
    ///   process.
    static func event(_ row: Row) throws -> AuditChain.Event {
        try AuditChain.Event(
            time: row.decode(forColumn: "time"), kind: row.decode(forColumn: "kind"),
            app: row.decode(forColumn: "app"), user: row.decode(forColumn: "user"),
            process: row.decode(forColumn: "process"), path: row.decode(forColumn: "path"),
            reason: row.decode(forColumn: "reason"), sentence: row.decode(forColumn: "sentence"))
    }

    static func bytes(_ row: Row, _ column: String) -> [UInt8] {
        [UInt8]((try? row.decode(Data?.self, forColumn: column)) ?? Data())
    }

    /// If the head is missing, the log continues after its last event.
    private static func lastLink(_ database: Database) throws -> AuditChain.Head? {
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM activity ORDER BY number DESC LIMIT 1") else {
            return nil
        }
        return AuditChain.Head(number: UInt64(exactly: row["number"] as Int64) ?? 0, hash: bytes(row, "hash"))
    }

    /// Nil also for one that no log reaches: after it there would be no number for the next event.
    static func storedHead(_ database: Database) throws -> AuditChain.Head? {
        try document(headDocument, in: database)
            .flatMap { AuditChain.Head(String(decoding: $0, as: UTF8.self)) }
            .flatMap { $0.number < UInt64(Int64.max) ? $0 : nil }
    }

    private static func save(_ head: AuditChain.Head, to database: Database) throws {
        try save(Data(head.description.utf8), as: headDocument, to: database)
    }
}
