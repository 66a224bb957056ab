public import Foundation
import GRDB
public import HubStore
public import WireProtocol

extension SQLiteHubStore {
    public func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws {
        let entries = try request.stored()
        try await write { database, _ in
            try Self.requireDevice(device, of: household, in: database)
            try database.execute(
                sql: """
                    INSERT INTO pin_share (device, entries) VALUES (?, ?) ON CONFLICT (device) DO UPDATE
                    SET entries = excluded.entries, failures = 0, opens_at = 0, destroyed = 0
                    """, arguments: [device, entries])
        }
        await overwriteLog()
    }

    /// - Throws: `noSuchDevice`.
    private static func ladder(_ device: HubID, _ household: HubID, in database: Database) throws -> PINLadder? {
        try requireDevice(device, of: household, in: database)
        return try Row.fetchOne(
            database, sql: "SELECT failures, opens_at, destroyed FROM pin_share WHERE device = ?", arguments: [device]
        ).map { PINLadder(failures: $0["failures"], opensAt: $0["opens_at"], isDestroyed: $0["destroyed"]) }
    }

    private static func save(_ ladder: PINLadder, of device: HubID, in database: Database) throws {
        try database.execute(
            sql: "UPDATE pin_share SET failures = ?, opens_at = ?, destroyed = ? WHERE device = ?",
            arguments: [ladder.failures, ladder.opensAt, ladder.isDestroyed, device])
        guard ladder.isDestroyed else { return }
        // Of the same length, so that SQLite writes the zeros over the entries.
        try database.execute(
            sql: "UPDATE pin_share SET entries = zeroblob(\(PINShareRequest.storedBytes)) WHERE device = ?",
            arguments: [device])
    }

    public func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter? {
        try await read { database in
            guard let ladder = try Self.ladder(device, household, in: database) else { return nil }
            if ladder.isDestroyed { throw HubError.pinShareIsDestroyed }
            return StoredPINCounter(failures: ladder.failures, opensAt: ladder.opensAt)
        }
    }

    public func attemptPIN(device: HubID, household: HubID, at time: Int64) async throws -> StoredPINAttempt {
        let attempt: StoredPINAttempt? = try await write { database, _ in
            guard var ladder = try Self.ladder(device, household, in: database) else { throw HubError.noPINShare }
            let attempt = ladder.attempt(at: time)
            if case .refused(let error) = attempt { throw error }
            try Self.save(ladder, of: device, in: database)
            if attempt == .destroys { return nil }
            let stored = try Data.fetchOne(
                database, sql: "SELECT entries FROM pin_share WHERE device = ?", arguments: [device])
            guard let entries = PINShareRequest.entries(stored: stored ?? Data()) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
            return StoredPINAttempt(failures: ladder.failures, entries: entries)
        }
        if let attempt { return attempt }
        await overwriteLog()
        throw HubError.pinShareIsDestroyed
    }

    public func succeedPIN(device: HubID, household: HubID) async throws {
        try await write { database, _ in
            guard let ladder = try Self.ladder(device, household, in: database) else { throw HubError.noPINShare }
            if ladder.isDestroyed { throw HubError.pinShareIsDestroyed }
            try Self.save(.fresh, of: device, in: database)
        }
    }

    public func succeedPIN(
        device: HubID, household: HubID, replacing verifier: Data, by entry: PINShareRequest.Entry
    ) async throws {
        try await write { database, _ in
            guard let ladder = try Self.ladder(device, household, in: database) else { throw HubError.noPINShare }
            if ladder.isDestroyed { throw HubError.pinShareIsDestroyed }
            let stored = try Data.fetchOne(
                database, sql: "SELECT entries FROM pin_share WHERE device = ?", arguments: [device])
            let entries = try PINShareRequest.stored(stored ?? Data(), replacing: verifier, by: entry)
            try database.execute(
                sql: "UPDATE pin_share SET entries = ? WHERE device = ?", arguments: [entries, device])
            try Self.save(.fresh, of: device, in: database)
        }
        await overwriteLog()
    }

    public func failPIN(device: HubID, household: HubID) async throws {
        let isDestroyed = try await write { database, _ in
            guard var ladder = try Self.ladder(device, household, in: database) else { throw HubError.noPINShare }
            guard ladder.fail() else { return false }
            try Self.save(ladder, of: device, in: database)
            return true
        }
        if isDestroyed { await overwriteLog() }
    }

    public func removePINShare(device: HubID, household: HubID) async throws {
        try await write { database, _ in
            try Self.requireDevice(device, of: household, in: database)
            try database.execute(sql: "DELETE FROM pin_share WHERE device = ?", arguments: [device])
        }
        await overwriteLog()
    }

    /// Moves the zeros from the write-ahead log into the database, and empties the log, which has older pages in it. While
    /// somebody reads it stays; it is overwritten later then.
    func overwriteLog() async {
        _ = try? await pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    // MARK: Push

    public func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws {
        try await write { database, effects in
            try Self.requireDevice(device, of: household, in: database)
            try database.execute(sql: "DELETE FROM push WHERE device = ?", arguments: [device])
            if let subscription {
                try database.execute(
                    sql: "INSERT INTO push (device, endpoint, p256dh, auth) VALUES (?, ?, ?, ?)",
                    arguments: [device, subscription.endpoint, subscription.keys.p256dh, subscription.keys.auth])
            }
            effects.devicesChanged = true
        }
    }

    public func pushSubscriptions(of household: HubID) async throws -> [StoredPushSubscription] {
        try await read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT push.* FROM push JOIN device ON device.id = push.device
                    JOIN household ON household.number = device.household WHERE household.id = ? ORDER BY push.device
                    """, arguments: [household]
            ).map { row in
                StoredPushSubscription(
                    device: row["device"],
                    subscription: PushSubscriptionRequest(
                        endpoint: row["endpoint"], keys: .init(p256dh: row["p256dh"], auth: row["auth"])))
            }
        }
    }

    public func removePushSubscription(endpoint: String, device: HubID, household: HubID) async throws {
        try await write { database, effects in
            try Self.requireDevice(device, of: household, in: database)
            try database.execute(
                sql: "DELETE FROM push WHERE device = ? AND endpoint = ?", arguments: [device, endpoint])
            effects.devicesChanged = true
        }
    }
}
