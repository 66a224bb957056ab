public import Foundation
public import HubAPI
import HubStore

extension PostgresHubStore {
    public func roster(of household: HubID, after number: UInt64) async throws -> [Data] {
        try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT roster.entry FROM household LEFT JOIN roster ON roster.household = household.number
                    AND roster.number > $2 WHERE household.id = $1 ORDER BY roster.number
                """, [.id(household), .number(number)])
            if rows.first == nil { throw HubError.noSuchHousehold }
            return rows.compactMap { $0.bytes(0) }
        }
    }

    public func rosterBytes(of household: HubID, after number: UInt64) async throws -> Int {
        try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT coalesce(sum(octet_length(entry) + $3::bigint), 0)::bigint FROM roster
                WHERE household = (SELECT number FROM household WHERE id = $1) AND number > $2
                """, [.id(household), .number(number), .integer(Int64(RosterSize.entryBytes))])
            return Int(rows.first?.integer(0) ?? 0)
        }
    }

    public func household(ofRevoked tokenHash: Data) async throws -> HubID? {
        try await pool.read { connection in
            try connection.query(
                """
                SELECT id FROM revoked_token JOIN household ON household.number = revoked_token.household
                WHERE token_hash = $1
                """, [.bytes(tokenHash)]
            ).first?.id(0)
        }
    }

    public func roster(ofRevoked tokenHash: Data, after number: UInt64) async throws -> [Data]? {
        try await pool.read { connection in
            let rows = try connection.query(
                """
                SELECT roster.entry FROM revoked_token LEFT JOIN roster ON roster.household = revoked_token.household
                    AND roster.number > $2 AND roster.number <= revoked_token.number
                WHERE revoked_token.token_hash = $1 ORDER BY roster.number
                """, [.bytes(tokenHash), .number(number)])
            return rows.first == nil ? nil : rows.compactMap { $0.bytes(0) }
        }
    }

    public func appendToRoster(_ request: RosterAppendRequest, of household: HubID) async throws {
        try await pool.transaction { connection in
            let number = PostgresValue.integer(try LockedHousehold(household, connection).number)
            let stored = try connection.query(
                """
                SELECT max(number), coalesce(sum(octet_length(entry) + $2::bigint), 0)::bigint FROM roster
                WHERE household = $1
                """, [number, .integer(Int64(RosterSize.entryBytes))]
            ).first
            let next = (stored?.unsigned(0) ?? 0) + 1
            let place = PostgresValue.number(request.number)
            guard request.number == next else {
                let there = try connection.query(
                    "SELECT entry FROM roster WHERE household = $1 AND number = $2", [number, place])
                if there.first?.bytes(0) == request.entry { return }
                throw HubError.rosterNumber(next: next)
            }
            var changes: [HubChange] = [.roster(household: household, number: next)]
            if case .admit(let device, let role, let invitation) = request.change {
                try Self.admit(device, role: role, by: invitation, household: number, connection)
            }
            var removesDevice = false
            if let device = request.change.revoked {
                try connection.query(
                    """
                    INSERT INTO revoked_token SELECT token_hash, household, $1 FROM device
                        WHERE id = $2 AND household = $3 AND token_hash IS NOT NULL
                        ON CONFLICT (token_hash)
                        DO UPDATE SET household = excluded.household, number = excluded.number
                    """, [place, .id(device), number])
                // Foreign keys remove its push subscription and PIN share.
                let rows = try connection.query(
                    "DELETE FROM device WHERE id = $1 AND household = $2", [.id(device), number])
                removesDevice = rows.changed > 0
                if case .revoke = request.change, !removesDevice { throw HubError.noSuchDevice }
                changes.append(.revoked(household: household, device: device))
            }
            try RosterSize.requireRoom(
                for: request.entry, after: stored?.integer(1) ?? 0, removesDevice: removesDevice)
            try connection.query(
                "INSERT INTO roster (household, number, entry) VALUES ($1, $2, $3)",
                [number, place, .bytes(request.entry)])
            try PostgresNotice.send(changes, connection)
        }
    }

    private static func admit(
        _ device: HubID, role: HubDeviceRole, by invitation: HubID, household: PostgresValue,
        _ connection: PostgresConnection
    ) throws {
        let joined = try connection.query(
            """
            SELECT device.role FROM invitation JOIN device ON device.id = invitation.device
                AND device.household = invitation.household AND device.token_hash = invitation.token_hash
            WHERE invitation.id = $1 AND invitation.household = $2 AND invitation.device = $3 AND NOT withdrawn
                AND device.state = 'pending'
            """, [.id(invitation), household, .id(device)]
        ).first
        guard let joined else { throw HubError.noSuchInvitation }
        guard joined.text(0) == role.rawValue else { throw HubError.otherRole }
        try connection.query("UPDATE device SET state = 'active' WHERE id = $1", [.id(device)])
    }
}
