import DaemonCore
import Foundation
import GRDB
import Policy
public import SealedFormats
public import WireProtocol

// The activity log as a hash chain. An event's number is its link's; the newest head is kept beside the log, so that a
// log that was cut at its end is found out.
extension StateDatabase {
    private static let headDocument = "audit-head"

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

    static func append(_ events: [ActivityEvent], signedBy key: DeviceSigningKey, to database: Database) throws {
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
                Int64(chain.head.number), event.time, event.kind.rawValue, event.app?.rawValue, event.user,
                event.process, event.path, event.reason, event.sentence, Data(link.hash), Data(link.signature),
            ])
        }
        try save(chain.head, to: database)
    }

    /// Follows the whole chain.
    /// - Parameter known: a head that somebody kept; the log has to hold it.
    public func verifyLog(known: AuditChain.Head?) async throws -> LogVerification {
        try await pool.read { [signingKey] database in
            var chain = AuditChain(of: signingKey.publicKey)
            var known = known
            func broken(_ number: UInt64, _ sentence: String) -> LogVerification {
                LogVerification(
                    isWhole: false, links: chain.head.number, head: chain.head.description, firstBroken: number,
                    sentence: sentence)
            }
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM activity ORDER BY number")
            while let row = try rows.next() {
                let number = UInt64(exactly: row["number"] as Int64) ?? 0
                let link = AuditChain.Link(hash: Self.bytes(row, "hash"), signature: Self.bytes(row, "signature"))
                guard let event = try? Self.event(row), chain.follow(event, number: number, link: link) else {
                    return broken(
                        chain.head.number + 1,
                        number == chain.head.number + 1
                            ? "Event \(number) was changed, or everything before it belongs to another device."
                            : "Event \(chain.head.number + 1) is missing: the next one is \(number).")
                }
                if known?.number == number {
                    guard known?.hash == link.hash else {
                        return broken(
                            number, "Event \(number) is not the one whose head was kept: the log was rewritten.")
                    }
                    known = nil
                }
            }
            if let known, known.number > 0 {
                return broken(chain.head.number + 1, "The log ends before event \(known.number), whose head was kept.")
            }
            let stored = try Self.storedHead(database)
            guard stored == chain.head || (stored == nil && chain.head.number == 0) else {
                return broken(
                    chain.head.number + 1,
                    stored.map { "The log was cut: it had \($0.number) events, \(chain.head.number) are left." }
                        ?? "The head that is kept beside the log is gone: events after \(chain.head.number) may be, too."
                )
            }
            return LogVerification(
                isWhole: true, links: chain.head.number, head: chain.head.description,
                sentence: "All \(chain.head.number) events are as they were written.")
        }
    }

    /// - Throws: `RowDecodingError` where a column holds what was never written to it; the subscript would end the
    ///   process.
    private static func event(_ row: Row) throws -> AuditChain.Event {
        try AuditChain.Event(
            time: row.decode(forColumn: "time"), kind: row.decode(forColumn: "kind"),
            app: row.decode(forColumn: "app"), user: row.decode(forColumn: "user"),
            process: row.decode(forColumn: "process"), path: row.decode(forColumn: "path"),
            reason: row.decode(forColumn: "reason"), sentence: row.decode(forColumn: "sentence"))
    }

    private static func bytes(_ row: Row, _ column: String) -> [UInt8] {
        [UInt8]((try? row.decode(Data?.self, forColumn: column)) ?? Data())
    }

    /// Where the head is gone, the log goes on after its last event.
    private static func lastLink(_ database: Database) throws -> AuditChain.Head? {
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM activity ORDER BY number DESC LIMIT 1") else {
            return nil
        }
        return AuditChain.Head(number: UInt64(exactly: row["number"] as Int64) ?? 0, hash: bytes(row, "hash"))
    }

    private static func storedHead(_ database: Database) throws -> AuditChain.Head? {
        try Data.fetchOne(database, sql: "SELECT body FROM document WHERE name = ?", arguments: [headDocument])
            .flatMap { AuditChain.Head(String(decoding: $0, as: UTF8.self)) }
    }

    private static func save(_ head: AuditChain.Head, to database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO document (name, body) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body
                """, arguments: [headDocument, Data(head.description.utf8)])
    }
}
