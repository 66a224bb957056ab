public import ControlAPI
public import DaemonCore
import Foundation
import GRDB
import Glibc
import Policy
public import SealedFormats
public import Sync
import Synchronization

/// Why the state could not be opened.
public enum StateDatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file was written by a later version.
    case fromTheFuture(path: String)
    case damaged(path: String, cause: String)
    /// The disk is full, the file may not be opened, or another process holds it.
    case unavailable(path: String, cause: String)

    public var description: String {
        switch self {
        case .fromTheFuture(let path):
            "\(path) was written by a newer AppLocker. Start that version, or use another --state."
        case .damaged(let path, let cause):
            "\(path) can't be opened (\(cause)). Restore it from a backup, or move it away to start with a new one."
        case .unavailable(let path, let cause):
            "\(path) can't be opened (\(cause)). Check the disk's space and the file's permissions, and try again."
        }
    }

    fileprivate init(_ error: any Error, path: String) {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL?, .SQLITE_IOERR?, .SQLITE_CANTOPEN?, .SQLITE_BUSY?, .SQLITE_PERM?, .SQLITE_READONLY?:
            self = .unavailable(path: path, cause: "\(error)")
        default: self = .damaged(path: path, cause: "\(error)")
        }
    }
}

/// AppLocker's state in one SQLite file: documents that are written whole, sealed records, and the activity log.
///
/// Write-ahead log with `synchronous=FULL`: what a call acknowledged is on disk, whatever is killed or unplugged next.
public final class StateDatabase: DocumentStore, ActivityStore {
    /// Nil once the file is closed.
    let openPool: Mutex<DatabasePool?>
    private let path: String
    /// How many events the activity log keeps: about 40 MB.
    public static let maximumEvents = 100_000
    private let maximumEvents: Int
    /// Of what other devices replaced.
    let maximumEarlierBytes: Int
    /// What this device never sends for another one, as to a restored hub.
    let sentByAuthorAlone: [RecordCollection]
    /// Signs the activity log.
    let signingKey: DeviceSigningKey
    public let outboxChanges: AsyncStream<Void>
    /// Many writes in a row are one.
    let outboxSignal: AsyncStream<Void>.Continuation

    /// Creates the file where it is absent, brings an older one up to date, and gives it mode 0600.
    ///
    /// - Parameters:
    ///   - signingKey: this device's; the activity log is signed with it from the first event on.
    ///   - maximumEvents: how many events are kept.
    ///   - maximumEarlierBytes: how much is kept of what other devices replaced.
    ///   - sentByAuthorAlone: what this device never sends for another one, as to a restored hub.
    /// - Throws: `StateDatabaseError`.
    public init(
        path: String, signingKey: DeviceSigningKey, maximumEvents: Int = StateDatabase.maximumEvents,
        maximumEarlierBytes: Int = EarlierVersion.maximumBytes, sentByAuthorAlone: [RecordCollection] = [.audit]
    ) throws {
        self.sentByAuthorAlone = sentByAuthorAlone
        self.path = path
        self.maximumEarlierBytes = maximumEarlierBytes
        self.maximumEvents = maximumEvents
        self.signingKey = signingKey
        (outboxChanges, outboxSignal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // A failure shows when the pool opens the file. One that exists is not opened here: closing it again would drop
        // SQLite's locks on it (fcntl(2), record locks).
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) } else { chmod(path, 0o600) }
        do {
            var configuration = Configuration()
            configuration.maximumReaderCount = 2
            configuration.busyMode = .timeout(5)
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL while it opens a pool; only after that does FULL stay.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let migrator = Self.migrator(signingKey)
            // On the writer: a reader that was opened before the migrations would use the old columns.
            if try pool.writeWithoutTransaction(migrator.hasBeenSuperseded) {
                throw StateDatabaseError.fromTheFuture(path: path)
            }
            try migrator.migrate(pool)
            openPool = Mutex(pool)
        } catch let error as StateDatabaseError {
            throw error
        } catch {
            throw StateDatabaseError(error, path: path)
        }
    }

    var pool: DatabasePool {
        get throws {
            guard let pool = openPool.withLock({ $0 }) else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE)
            }
            return pool
        }
    }

    /// This device's public key.
    public var device: DevicePublicKey { signingKey.publicKey }

    /// Migrations are never edited once released, only added.
    static func migrator(_ signingKey: DeviceSigningKey) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: documents and activity") { database in
            try database.create(table: "document") { table in
                table.primaryKey("name", .text)
                table.column("body", .blob).notNull()
            }
            try database.create(table: "activity") { table in
                table.autoIncrementedPrimaryKey("number")
                table.column("time", .double).notNull().indexed()
                table.column("kind", .text).notNull()
                table.column("app", .text).indexed()
                table.column("user", .integer)
                table.column("process", .integer)
                table.column("path", .text)
                table.column("reason", .text)
                table.column("sentence", .text).notNull()
            }
        }
        migrator.registerMigration("2: sealed records and the audit chain") { database in
            try createRecords(database)
            try chainActivity(database, signedBy: signingKey)
        }
        migrator.registerMigration("3: what the hub has, and commands") { try createSync($0) }
        migrator.registerMigration("4: the content of records") { try createBlobs($0) }
        migrator.registerMigration("5: what the hub ever had") { try createVersions($0) }
        migrator.registerMigration("6: what other devices replaced") { try createEarlier($0) }
        migrator.registerMigration("7: the last version is what the hub has") { database in
            // Where that is not certain, none is named until the hub has answered.
            try database.execute(
                sql: "UPDATE record SET versions = x'' WHERE (collection, id) IN (SELECT collection, id FROM outbox)")
        }
        return migrator
    }

    /// The `synchronous` setting in force on the writing connection: 2 is FULL.
    func synchronousLevel() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    // MARK: DocumentStore

    public func document(_ name: String) async throws -> [UInt8]? {
        do {
            return try await pool.read { database in
                try Self.document(name, in: database)
            }.map { [UInt8]($0) }
        } catch {
            throw StateDatabaseError(error, path: path)
        }
    }

    static func document(_ name: String, in database: Database) throws -> Data? {
        try Data.fetchOne(database, sql: "SELECT body FROM document WHERE name = ?", arguments: [name])
    }

    public func save(_ bytes: [UInt8], as name: String) async throws {
        try await pool.write { try Self.save(Data(bytes), as: name, to: $0) }
    }

    static func save(_ body: Data, as name: String, to database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO document (name, body) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body
                """, arguments: [name, body])
    }

    // MARK: ActivityStore

    public func append(_ events: [ActivityEvent]) async throws {
        try await pool.write { [signingKey, maximumEvents] database in
            try Self.append(events, signedBy: signingKey, keeping: maximumEvents, to: database)
        }
    }

    public func events(
        after number: Int64, before: Int64, limit: Int, app: String?, user: UInt32?
    ) async throws -> [EventReport] {
        let rows: [EventReport] = try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM activity
                    WHERE number > ? AND number < ? AND (? IS NULL OR app = ?) AND (? IS NULL OR user = ?)
                    ORDER BY number DESC LIMIT ?
                    """, arguments: [number, before, app, app, user, user, limit]
            ).map { row in
                // A line that was changed in the file is shown as far as it can be; verifying the log reports it.
                EventReport(
                    number: row["number"], time: row.any("time") ?? 0, kind: row.any("kind") ?? "unreadable",
                    app: row.any("app"), user: row.any("user"), process: row.any("process"), path: row.any("path"),
                    reason: row.any("reason"), sentence: row.any("sentence") ?? "This event can't be read.")
            }
        }
        return rows.reversed()
    }

    /// Each unlock counts once: as its `unlocked` event, or as its launch if the answer allowed that launch alone. A
    /// launch whose answer also unlocked the app, or that a prompter started again, has another reason.
    private static let counts = """
        SUM(kind = 'launch_asked') AS asked, SUM(kind = 'launch_allowed') AS allowed,
        SUM(kind = 'launch_denied') AS denied, SUM(kind = 'passcode_wrong') AS wrong,
        SUM(kind = 'launch_allowed' AND (reason IS 'passcodeGiven' OR reason IS 'approvedRemotely')
            OR kind = 'unlocked' AND (reason IS NULL OR reason IN ('unlockedByPasscode', 'unlockedRemotely')))
            AS unlocks,
        MAX(CASE WHEN kind = 'launch_denied' THEN time END) AS lastDenied
        """

    public func statistics(since time: Double, user: UInt32?) async throws -> [AppStatistics] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT app, \(Self.counts)
                    FROM activity WHERE app IS NOT NULL AND time >= ? AND (? IS NULL OR user = ?)
                    GROUP BY app ORDER BY app
                    """, arguments: [time, user, user]
            ).compactMap { row in
                guard let app: String = row.any("app") else { return nil }
                return AppStatistics(
                    app: app, name: app, asked: row["asked"], allowed: row["allowed"], denied: row["denied"],
                    wrongPasscodes: row["wrong"], unlocks: row["unlocks"], lastDenied: row.any("lastDenied"))
            }
        }
    }

    public func statisticsByDay(since time: Double, user: UInt32?) async throws -> [DayStatistics] {
        try await pool.read { database in
            // A day is nil for a time that no calendar has.
            try Row.fetchAll(
                database,
                sql: """
                    SELECT date(time, 'unixepoch', 'localtime') AS day, \(Self.counts)
                    FROM activity WHERE kind IN ('launch_asked', 'launch_allowed', 'launch_denied', 'passcode_wrong', 'unlocked')
                        AND time >= ? AND (? IS NULL OR user = ?)
                    GROUP BY day HAVING day IS NOT NULL ORDER BY day
                    """, arguments: [time, user, user]
            ).map { row in
                DayStatistics(
                    day: row["day"], asked: row["asked"], allowed: row["allowed"], denied: row["denied"],
                    wrongPasscodes: row["wrong"], unlocks: row["unlocks"])
            }
        }
    }
}

extension Row {
    /// A column's value; nil where it holds none, or what was never written to it.
    fileprivate func any<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: String) -> Value? {
        try? decode(Value?.self, forColumn: column)
    }
}
