public import Foundation
import GRDB
import Glibc
import HubAPI
public import HubStore
import Synchronization

/// The hub's store in one SQLite file.
///
/// Write-ahead log with `synchronous=FULL`: an acknowledged write survives a crash and a power failure. One process
/// owns the file, so its cache of tokens is always right.
public final class SQLiteHubStore: HubStore {
    let pool: DatabasePool
    let commits: GroupCommit
    let tokens: TokenCache
    let sightings = Sightings()
    private let feed: HubChangeFeed
    private let lock: FileLock
    let path: String
    /// A reader prevented that the log is overwritten, and it is tried again.
    let isLogBlocked = Atomic<Bool>(false)
    static let busySeconds = 5
    /// The generation of this run of the store.
    let run = HubID.random()

    /// Creates the file if it is absent, with mode 0600, and its directory with 0700, and migrates an older one.
    /// - Parameter path: of the file; its directory is created if the parent exists.
    /// - Throws: `SQLiteHubStoreError`.
    public init(path: String) throws {
        self.path = path
        let directory = (path as NSString).deletingLastPathComponent
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw SQLiteHubStoreError(.unavailable, path: path, cause: String(cString: strerror(errno)))
        }
        lock = try FileLock(of: path)
        // The pool reports a failure when it opens the file. An existing file isn't opened here: closing it would
        // release SQLite's locks on it (fcntl(2), record locks).
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { Glibc.close(file) } else { chmod(path, 0o600) }
        let (feed, tokens) = (HubChangeFeed(), TokenCache())
        do {
            var configuration = Configuration()
            configuration.maximumReaderCount = 4
            configuration.busyMode = .timeout(TimeInterval(Self.busySeconds))
            configuration.prepareDatabase { database in
                // Overwrites removed PIN shares and tokens in the file.
                try database.execute(sql: "PRAGMA secure_delete = ON")
            }
            pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { database in
                // GRDB sets NORMAL while it opens a pool; FULL has to be set after that.
                try database.execute(sql: "PRAGMA synchronous = FULL")
                // 32 MiB of log before it is moved into the database, which every writer waits for: inserts at random
                // places of an index change many pages, and most of them again soon.
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 8192")
            }
            let migrator = Self.migrator
            if try pool.writeWithoutTransaction(migrator.hasBeenSuperseded) {
                throw SQLiteHubStoreError(.fromTheFuture, path: path)
            }
            try migrator.migrate(pool)
        } catch let error as SQLiteHubStoreError {
            throw error
        } catch {
            throw SQLiteHubStoreError(error, path: path)
        }
        self.feed = feed
        self.tokens = tokens
        commits = GroupCommit(pool: pool) { effects in
            if effects.devicesChanged { tokens.forget() }
            feed.publish(effects.changes)
        }
    }

    public func changes() async throws -> AsyncStream<HubChange> { feed.stream() }

    public func close() async throws {
        try await commits.close()
        feed.close()
        do {
            try pool.close()
        } catch {
            throw HubError(database: error)
        }
        lock.release()
    }

    /// The `synchronous` setting in force on the writing connection: 2 is FULL.
    func synchronousLevel() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    // MARK: Pieces

    /// Durable when it returns.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout WriteEffects) throws -> Value
    ) async throws -> Value {
        try await commits.run(body)
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw HubError(database: error)
        }
    }

    // MARK: The hub itself

    public func setting(_ name: String, orStore value: Data) async throws -> Data {
        try await write { database, _ in
            try database.execute(
                sql: "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                arguments: [name, value])
            return try Data.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
                ?? value
        }
    }
}
