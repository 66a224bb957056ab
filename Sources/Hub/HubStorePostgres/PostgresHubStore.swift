public import Foundation
public import HubAPI
public import HubStore

/// The hub's store in PostgreSQL: for many households, and for several hubs that share them.
///
/// Every change of a household locks its row first, so its sequence numbers are assigned in the order of the commits.
/// Hubs receive each other's changes by LISTEN and NOTIFY, in that order too.
public final class PostgresHubStore: HubStore {
    let pool: PostgresPool
    let sightings = Sightings()
    private let writes: PostgresWrites
    private let listener: PostgresListener
    private let feed = HubChangeFeed()

    /// Connects, migrates the tables, one hub at a time, and listens.
    /// - Parameter connections: for statements; one more listens. Each has a thread.
    /// - Throws: `PostgresHubStoreError`.
    public init(_ settings: PostgresConnectionSettings, connections: Int = 8) async throws {
        let first = PostgresConnection(settings, label: "postgres migration")
        try await first.perform { try PostgresMigrations.run($0) }
        let absence = PostgresAbsence()
        pool = PostgresPool(settings, size: max(2, connections), absence: absence)
        writes = PostgresWrites(pool)
        listener = PostgresListener(settings, feed: feed, absence: absence)
        try await listener.start()
    }

    /// Without `close`, nothing waits for the end.
    deinit { listener.cancel() }

    public func changes() async throws -> AsyncStream<HubChange> { feed.stream() }

    public func close() async throws {
        await listener.stop()
        try await pool.close()
        feed.close()
    }

    public func write(_ records: [HubRecord], household: HubID, at time: Int64) async throws -> [HubWriteOutcome] {
        try await writes.write(PostgresWrite(household: household, records: records, time: time))
    }

    // MARK: The hub itself

    public func setting(_ name: String, orStore value: Data) async throws -> Data {
        try await pool.transaction { connection in
            try connection.query(
                "INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [.text(name), .bytes(value)])
            return try connection.query("SELECT value FROM setting WHERE name = $1", [.text(name)]).first?.bytes(0)
                ?? value
        }
    }
}

/// A household within a transaction, its row locked until the end.
struct LockedHousehold {
    let number: Int64
    var records: Int64
    var bytes: Int64

    /// - Throws: `noSuchHousehold`.
    init(_ id: HubID, _ connection: PostgresConnection) throws {
        let rows = try connection.query(
            "SELECT number, records, bytes FROM household WHERE id = $1 FOR UPDATE", [.id(id)])
        guard let row = rows.first else { throw HubError.noSuchHousehold }
        number = row.integer(0)
        records = row.integer(1)
        bytes = row.integer(2)
    }

    func save(_ connection: PostgresConnection) throws {
        try connection.query(
            "UPDATE household SET records = $1, bytes = $2 WHERE number = $3",
            [.integer(records), .integer(bytes), .integer(number)])
    }
}
