public import Foundation
import GRDB
public import HubAPI
import HubStore

extension SQLiteHubStore {
    public func roster(of household: HubID, after number: UInt64) async throws -> [Data] {
        try await read { database in
            let household = try Self.household(household, in: database)
            return try Data.fetchAll(
                database, sql: "SELECT entry FROM roster WHERE household = ? AND number > ? ORDER BY number",
                arguments: [household.number, Int64(clamping: number)])
        }
    }

    public func rosterBytes(of household: HubID, after number: UInt64) async throws -> Int {
        try await read { database in
            try Int.fetchOne(
                database,
                sql: """
                    SELECT COALESCE(SUM(LENGTH(entry) + ?), 0) FROM roster
                    WHERE household = (SELECT number FROM household WHERE id = ?) AND number > ?
                    """, arguments: [RosterSize.entryBytes, household, Int64(clamping: number)]) ?? 0
        }
    }

    public func household(ofRevoked tokenHash: Data) async throws -> HubID? {
        try await read { database in
            try HubID.fetchOne(
                database,
                sql: """
                    SELECT id FROM revoked_token JOIN household ON household.number = revoked_token.household
                    WHERE token_hash = ?
                    """, arguments: [tokenHash])
        }
    }

    public func roster(ofRevoked tokenHash: Data, after number: UInt64) async throws -> [Data]? {
        try await read { database in
            let revoked = try Row.fetchOne(
                database, sql: "SELECT household, number FROM revoked_token WHERE token_hash = ?",
                arguments: [tokenHash])
            guard let revoked else { return nil }
            let (household, last): (Int64, Int64) = (revoked["household"], revoked["number"])
            return try Data.fetchAll(
                database,
                sql: "SELECT entry FROM roster WHERE household = ? AND number > ? AND number <= ? ORDER BY number",
                arguments: [household, Int64(clamping: number), last])
        }
    }

    public func appendToRoster(_ request: RosterAppendRequest, of household: HubID) async throws {
        try await write { database, effects in
            let number = try Self.household(household, in: database).number
            let stored = try Row.fetchOne(
                database,
                sql: """
                    SELECT COALESCE(MAX(number), 0) AS number, COALESCE(SUM(LENGTH(entry) + ?), 0) AS bytes FROM roster
                    WHERE household = ?
                    """, arguments: [RosterSize.entryBytes, number])
            let newest: Int64 = stored?["number"] ?? 0
            let place = Int64(clamping: request.number)
            guard place == newest + 1 else {
                let there = try Data.fetchOne(
                    database, sql: "SELECT entry FROM roster WHERE household = ? AND number = ?",
                    arguments: [number, place])
                if there == request.entry { return }
                throw HubError.rosterNumber(next: UInt64(newest + 1))
            }
            if case .admit(let device, let role, let invitation) = request.change {
                try Self.admit(device, role: role, by: invitation, household: number, in: database)
            }
            var removesDevice = false
            if let device = request.change.revoked {
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO revoked_token SELECT token_hash, household, ? FROM device
                            WHERE id = ? AND household = ? AND token_hash IS NOT NULL
                        """, arguments: [place, device, number])
                // Foreign keys remove its push subscription and PIN share.
                try database.execute(
                    sql: "DELETE FROM device WHERE id = ? AND household = ?", arguments: [device, number])
                removesDevice = database.changesCount > 0
                if case .revoke = request.change, !removesDevice { throw HubError.noSuchDevice }
            }
            try RosterSize.requireRoom(
                for: request.entry, after: stored?["bytes"] ?? 0, removesDevice: removesDevice)
            try database.execute(
                sql: "INSERT INTO roster (household, number, entry) VALUES (?, ?, ?)",
                arguments: [number, place, request.entry])
            effects.devicesChanged = true
            effects.changes.append(.roster(household: household, number: request.number))
            if let device = request.change.revoked {
                effects.changes.append(.revoked(household: household, device: device))
            }
        }
        if request.change.revoked != nil { await overwriteLog() }
    }

    private static func admit(
        _ device: HubID, role: HubDeviceRole, by invitation: HubID, household: Int64, in database: Database
    ) throws {
        let joined = try Row.fetchOne(
            database,
            sql: """
                SELECT device.role FROM invitation JOIN device ON device.id = invitation.device
                    AND device.household = invitation.household AND device.token_hash = invitation.token_hash
                WHERE invitation.id = ? AND invitation.household = ? AND invitation.device = ? AND NOT withdrawn
                    AND device.state = 'pending'
                """, arguments: [invitation, household, device])
        guard let joined else { throw HubError.noSuchInvitation }
        guard joined["role"] == role.rawValue else { throw HubError.otherRole }
        try database.execute(
            sql: "UPDATE device SET state = 'active' WHERE id = ?", arguments: [device])
    }
}
