public import Foundation
public import HubStore
public import WireProtocol

extension PostgresHubStore {
    public func setPINShare(_ request: PINShareRequest, device: HubID, household: HubID) async throws {
        let entries = try request.stored()
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            try connection.query(
                """
                INSERT INTO pin_share (device, entries) VALUES ($1, $2) ON CONFLICT (device) DO UPDATE
                SET entries = excluded.entries, failures = 0, opens_at = 0, destroyed = false
                """, [.id(device), .bytes(entries)])
        }
    }

    /// Locks the household.
    private static func ladder(
        _ device: HubID, _ household: HubID, _ connection: PostgresConnection
    ) throws -> PINLadder? {
        try lockDevice(device, of: household, connection)
        return try connection.query(
            "SELECT failures, opens_at, destroyed FROM pin_share WHERE device = $1", [.id(device)]
        ).first.map {
            PINLadder(failures: Int($0.integer(0)), opensAt: $0.integer(1), isDestroyed: $0.flag(2))
        }
    }

    private static func save(_ ladder: PINLadder, of device: HubID, _ connection: PostgresConnection) throws {
        try connection.query(
            """
            UPDATE pin_share SET failures = $1, opens_at = $2, destroyed = $3,
                entries = CASE WHEN $3 THEN decode(repeat('00', octet_length(entries)), 'hex') ELSE entries END
            WHERE device = $4
            """,
            [
                .integer(Int64(ladder.failures)), .integer(ladder.opensAt), .flag(ladder.isDestroyed), .id(device),
            ])
    }

    public func pinShare(device: HubID, household: HubID) async throws -> StoredPINCounter? {
        try await pool.transaction { connection in
            guard let ladder = try Self.ladder(device, household, connection) else { return nil }
            if ladder.isDestroyed { throw HubError.pinShareIsDestroyed }
            return StoredPINCounter(failures: ladder.failures, opensAt: ladder.opensAt)
        }
    }

    public func attemptPIN(device: HubID, household: HubID, at time: Int64) async throws -> StoredPINAttempt {
        let attempt: StoredPINAttempt? = try await pool.transaction { connection in
            guard var ladder = try Self.ladder(device, household, connection) else { throw HubError.noPINShare }
            let attempt = ladder.attempt(at: time)
            if case .refused(let error) = attempt { throw error }
            try Self.save(ladder, of: device, connection)
            if attempt == .destroys { return nil }
            let stored = try connection.query("SELECT entries FROM pin_share WHERE device = $1", [.id(device)])
            guard let entries = PINShareRequest.entries(stored: stored.first?.bytes(0) ?? Data()) else {
                throw PostgresRow.unexpected
            }
            return StoredPINAttempt(failures: ladder.failures, entries: entries)
        }
        guard let attempt else { throw HubError.pinShareIsDestroyed }
        return attempt
    }

    public func succeedPIN(device: HubID, household: HubID) async throws {
        try await pool.transaction { connection in
            guard let ladder = try Self.ladder(device, household, connection) else { throw HubError.noPINShare }
            if ladder.isDestroyed { throw HubError.pinShareIsDestroyed }
            try Self.save(.fresh, of: device, connection)
        }
    }

    public func succeedPIN(
        device: HubID, household: HubID, replacing verifier: Data, by entry: PINShareRequest.Entry
    ) async throws {
        try await pool.transaction { connection in
            guard let ladder = try Self.ladder(device, household, connection) else { throw HubError.noPINShare }
            if ladder.isDestroyed { throw HubError.pinShareIsDestroyed }
            let stored = try connection.query("SELECT entries FROM pin_share WHERE device = $1", [.id(device)])
            let entries = try PINShareRequest.stored(
                stored.first?.bytes(0) ?? Data(), replacing: verifier, by: entry)
            try connection.query(
                "UPDATE pin_share SET entries = $1 WHERE device = $2", [.bytes(entries), .id(device)])
            try Self.save(.fresh, of: device, connection)
        }
    }

    public func failPIN(device: HubID, household: HubID) async throws {
        try await pool.transaction { connection in
            guard var ladder = try Self.ladder(device, household, connection) else { throw HubError.noPINShare }
            if ladder.fail() { try Self.save(ladder, of: device, connection) }
        }
    }

    public func removePINShare(device: HubID, household: HubID) async throws {
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            try connection.query("DELETE FROM pin_share WHERE device = $1", [.id(device)])
        }
    }

    // MARK: Push

    public func setPushSubscription(
        _ subscription: PushSubscriptionRequest?, device: HubID, household: HubID
    ) async throws {
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            try connection.query("DELETE FROM push WHERE device = $1", [.id(device)])
            guard let subscription else { return }
            try connection.query(
                "INSERT INTO push (device, endpoint, p256dh, auth) VALUES ($1, $2, $3, $4)",
                [
                    .id(device), .text(subscription.endpoint), .text(subscription.keys.p256dh),
                    .text(subscription.keys.auth),
                ])
        }
    }

    public func pushSubscriptions(of household: HubID) async throws -> [StoredPushSubscription] {
        try await pool.read { connection in
            try connection.query(
                """
                SELECT push.device, endpoint, p256dh, auth FROM push JOIN device ON device.id = push.device
                JOIN household ON household.number = device.household WHERE household.id = $1 ORDER BY push.device
                """, [.id(household)]
            ).map { row in
                StoredPushSubscription(
                    device: try row.id(0),
                    subscription: PushSubscriptionRequest(
                        endpoint: row.text(1) ?? "",
                        keys: .init(p256dh: row.text(2) ?? "", auth: row.text(3) ?? "")))
            }
        }
    }

    public func removePushSubscription(endpoint: String, device: HubID, household: HubID) async throws {
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            try connection.query(
                "DELETE FROM push WHERE device = $1 AND endpoint = $2", [.id(device), .text(endpoint)])
        }
    }
}
