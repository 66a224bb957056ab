import Foundation
public import HubAPI
public import HubStore

extension PostgresHubStore {
    public func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws {
        let share = try StoredPINShare(request)
        try await pool.transaction { connection in
            if try Self.share(of: device, household, connection)?.isSettled == true { throw HubError.pinShareExists }
            try connection.query(
                """
                INSERT INTO pin_share (device, entries) VALUES ($1, $2) ON CONFLICT (device) DO UPDATE
                SET entries = excluded.entries, failures = 0, opens_at = 0
                """, [.id(device), .bytes(share.storedEntries)])
        }
    }

    /// Locks the household.
    private static func share(
        of device: HubID, _ household: HubID, _ connection: PostgresConnection
    ) throws -> StoredPINShare? {
        try lockDevice(device, of: household, connection)
        let row = try connection.query(
            "SELECT entries, failures, opens_at, settled FROM pin_share WHERE device = $1", [.id(device)]
        ).first
        guard let row else { return nil }
        let share = StoredPINShare(
            storedEntries: row.bytes(0) ?? Data(), failures: Int(row.integer(1)), opensAt: row.integer(2),
            isSettled: row.flag(3))
        guard let share else { throw PostgresRow.unexpected }
        return share
    }

    public func changePINShare<Result: Sendable>(
        of device: HubID, household: HubID, _ change: @Sendable @escaping (inout StoredPINShare) throws -> Result
    ) async throws -> Result {
        try await pool.transaction { connection in
            guard var share = try Self.share(of: device, household, connection) else { throw HubError.noPINShare }
            let result = try change(&share)
            try connection.query(
                "UPDATE pin_share SET entries = $1, failures = $2, opens_at = $3, settled = $4 WHERE device = $5",
                [
                    .bytes(share.storedEntries), .integer(Int64(share.failures)), .integer(share.opensAt),
                    .flag(share.isSettled), .id(device),
                ])
            return result
        }
    }

    public func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter? {
        try await pool.transaction { connection in
            guard let share = try Self.share(of: device, household, connection) else { return nil }
            if share.isDestroyed { throw HubError.pinShareIsDestroyed }
            return StoredPINCounter(failures: share.failures, opensAt: share.opensAt)
        }
    }

    // MARK: Push

    public func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws {
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            guard let subscription else {
                try connection.query("DELETE FROM push WHERE device = $1", [.id(device)])
                return
            }
            // The row stays: its reminders belong to it.
            try connection.query(
                """
                INSERT INTO push (device, endpoint, p256dh, auth, title, body, navigate)
                VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (device) DO UPDATE SET
                    endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth,
                    title = excluded.title, body = excluded.body, navigate = excluded.navigate
                """,
                [
                    .id(device), .text(subscription.endpoint), .text(subscription.keys.p256dh),
                    .text(subscription.keys.auth), .text(subscription.fallback?.title),
                    .text(subscription.fallback?.body), .text(subscription.fallback?.navigate),
                ])
        }
    }

    public func pushSubscriptions(of household: HubID) async throws -> [StoredPushSubscription] {
        try await pool.read { connection in
            try connection.query(
                """
                SELECT push.device, endpoint, p256dh, auth, title, body, navigate FROM push JOIN device ON device.id = push.device
                JOIN household ON household.number = device.household WHERE household.id = $1 ORDER BY push.device
                """, [.id(household)]
            ).map(Self.subscription)
        }
    }

    /// - Parameter row: begins with device, endpoint, p256dh, auth, title, body, navigate.
    static func subscription(_ row: PostgresRow) throws -> StoredPushSubscription {
        StoredPushSubscription(
            device: try row.id(0),
            subscription: PushSubscriptionRequest(
                endpoint: row.text(1) ?? "", keys: .init(p256dh: row.text(2) ?? "", auth: row.text(3) ?? ""),
                fallback: fallback(row)))
    }

    private static func fallback(_ row: PostgresRow) -> PushFallback? {
        guard let title = row.text(4), let body = row.text(5), let navigate = row.text(6) else { return nil }
        return PushFallback(title: title, body: body, navigate: navigate)
    }

    public func removePushSubscription(endpoint: String, device: HubID, household: HubID) async throws {
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            try connection.query(
                "DELETE FROM push WHERE device = $1 AND endpoint = $2", [.id(device), .text(endpoint)])
        }
    }
}
