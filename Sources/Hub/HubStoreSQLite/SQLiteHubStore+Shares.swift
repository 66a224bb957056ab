import GRDB
public import HubAPI
public import HubStore
import Synchronization

extension SQLiteHubStore {
    public func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws {
        let share = try StoredPINShare(request)
        try await write { database, _ in
            if try Self.share(of: device, household, in: database)?.isSettled == true { throw HubError.pinShareExists }
            try database.execute(sql: "DELETE FROM pin_share WHERE device = ?", arguments: [device])
            try database.execute(
                sql: "INSERT INTO pin_share (device, entries) VALUES (?, ?)", arguments: [device, share.storedEntries])
        }
        await overwriteLog()
    }

    /// - Throws: `noSuchDevice`.
    private static func share(
        of device: HubID, _ household: HubID, in database: Database
    ) throws -> StoredPINShare? {
        try requireDevice(device, of: household, in: database)
        let row = try Row.fetchOne(
            database, sql: "SELECT entries, failures, opens_at, settled FROM pin_share WHERE device = ?",
            arguments: [device])
        guard let row else { return nil }
        let share = StoredPINShare(
            storedEntries: row["entries"], failures: row["failures"], opensAt: row["opens_at"],
            isSettled: row["settled"])
        guard let share else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return share
    }

    public func changePINShare<Result: Sendable>(
        of device: HubID, household: HubID, _ change: @Sendable @escaping (inout StoredPINShare) throws -> Result
    ) async throws -> Result {
        let (result, isOverwritten) = try await write { database, _ in
            guard var share = try Self.share(of: device, household, in: database) else { throw HubError.noPINShare }
            let before = share.entries.map(\.verifier)
            let result = try change(&share)
            try database.execute(
                sql: "UPDATE pin_share SET entries = ?, failures = ?, opens_at = ?, settled = ? WHERE device = ?",
                arguments: [share.storedEntries, share.failures, share.opensAt, share.isSettled, device])
            return (result, share.entries.map(\.verifier) != before)
        }
        // Not awaited: the time of the response would reveal that an entry was destroyed.
        if isOverwritten { Task { await overwriteLog() } }
        return result
    }

    public func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter? {
        try await read { database in
            guard let share = try Self.share(of: device, household, in: database) else { return nil }
            if share.isDestroyed { throw HubError.pinShareIsDestroyed }
            return StoredPINCounter(failures: share.failures, opensAt: share.opensAt)
        }
    }

    /// Moves the zeros from the write-ahead log into the database, and truncates the log, which contains older pages. A
    /// reader prevents this: no write waits for it, and it is tried again each second until it succeeds.
    func overwriteLog() async {
        guard (try? await becameBlocked()) == true else { return }
        Task { [weak self] in
            while self?.isLogBlocked.load(ordering: .relaxed) == true {
                try? await Task.sleep(for: .seconds(1))
                // The store is closed.
                guard (try? await self?.becameBlocked()) != nil else { return }
            }
        }
    }

    /// Tries once.
    /// - Returns: true if it fails and the attempt before did not.
    private func becameBlocked() async throws -> Bool {
        try await pool.writeWithoutTransaction { [self] database in
            try database.execute(sql: "PRAGMA busy_timeout = 0")
            defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.busySeconds * 1_000)") }
            let isBlocked = (try? database.checkpoint(.truncate)) == nil
            return !isLogBlocked.exchange(isBlocked, ordering: .relaxed) && isBlocked
        }
    }

    // MARK: Push

    public func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws {
        try await write { database, effects in
            try Self.requireDevice(device, of: household, in: database)
            if let subscription {
                // The row stays: its reminders belong to it.
                try database.execute(
                    sql: """
                        INSERT INTO push (device, endpoint, p256dh, auth, title, body, navigate)
                        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET
                            endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth,
                            title = excluded.title, body = excluded.body, navigate = excluded.navigate
                        """,
                    arguments: [
                        device, subscription.endpoint, subscription.keys.p256dh, subscription.keys.auth,
                        subscription.fallback?.title, subscription.fallback?.body, subscription.fallback?.navigate,
                    ])
            } else {
                try database.execute(sql: "DELETE FROM push WHERE device = ?", arguments: [device])
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
            ).map(Self.subscription)
        }
    }

    /// - Parameter row: with the columns of `push`.
    static func subscription(_ row: Row) -> StoredPushSubscription {
        StoredPushSubscription(
            device: row["device"],
            subscription: PushSubscriptionRequest(
                endpoint: row["endpoint"], keys: .init(p256dh: row["p256dh"], auth: row["auth"]),
                fallback: fallback(row)))
    }

    private static func fallback(_ row: Row) -> PushFallback? {
        guard let title: String = row["title"], let body: String = row["body"], let navigate: String = row["navigate"]
        else { return nil }
        return PushFallback(title: title, body: body, navigate: navigate)
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
