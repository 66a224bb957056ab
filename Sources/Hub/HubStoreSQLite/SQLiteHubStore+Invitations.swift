public import Foundation
import GRDB
public import HubAPI
public import HubStore

extension SQLiteHubStore {
    public func invite(_ request: NewInvitationRequest, household: HubID, by device: HubID, at time: Int64) async throws
    {
        try await write { database, effects in
            let number = try Self.household(household, in: database).number
            let known = try Row.fetchOne(
                database, sql: "SELECT household, inviter, proof_hash FROM invitation WHERE id = ?",
                arguments: [request.id])
            if let known {
                let (inviter, hash): (HubID, Data) = (known["inviter"], known["proof_hash"])
                guard known["household"] == number, inviter == device, hash == request.proofHash else {
                    throw HubError.invitationExists
                }
                return
            }
            try Self.removeOldInvitations(of: number, before: time - StoredInvitation.afterTime, in: database)
            let unused = try Int.fetchOne(
                database,
                sql: "SELECT COUNT(*) FROM invitation WHERE household = ? AND expires > ? AND device IS NULL",
                arguments: [number, time - StoredInvitation.countedAfterTime])
            guard unused ?? 0 < StoredInvitation.maximumUnused else { throw HubError.tooManyInvitations }
            try database.execute(
                sql: """
                    INSERT INTO invitation (id, household, inviter, proof_hash, expires, details)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    request.id, number, device, request.proofHash, time + Int64(request.expiresInSeconds),
                    request.details,
                ])
            effects.devicesChanged = true
        }
    }

    /// Also removes the devices that joined by them and were never admitted.
    private static func removeOldInvitations(of household: Int64, before time: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM device WHERE household = ? AND state = 'pending' AND token_hash IN
                    (SELECT token_hash FROM invitation WHERE household = ? AND expires < ?)
                """, arguments: [household, household, time])
        try database.execute(
            sql: "DELETE FROM invitation WHERE household = ? AND expires < ?", arguments: [household, time])
    }

    static func invitation(_ row: Row) -> StoredInvitation {
        var join: JoinRequest?
        if let device: HubID = row["device"], let role = HubDeviceRole(rawValue: row["role"] ?? "") {
            join = JoinRequest(
                proof: Data(), device: device, role: role, tokenHash: row["token_hash"], sealed: row["sealed"])
        }
        return StoredInvitation(
            id: row["id"], household: row["household_id"], inviter: row["inviter"], expires: row["expires"], join: join)
    }

    static let invitationColumns = """
        SELECT invitation.*, household.id AS household_id FROM invitation
        JOIN household ON household.number = invitation.household
        """

    public func invitation(_ id: HubID, household: HubID, at time: Int64) async throws -> StoredInvitation {
        try await read { database in
            let row = try Row.fetchOne(
                database, sql: Self.invitationColumns + " WHERE invitation.id = ? AND household.id = ?",
                arguments: [id, household])
            guard let row else { throw HubError.noSuchInvitation }
            let invitation = Self.invitation(row)
            try invitation.requireReadable(isWithdrawn: row["withdrawn"], at: time)
            return invitation
        }
    }

    public func withdrawInvitation(_ id: HubID, household: HubID) async throws {
        try await write { database, effects in
            let number = try Self.household(household, in: database).number
            try database.execute(
                sql: "UPDATE invitation SET withdrawn = 1 WHERE id = ? AND household = ?", arguments: [id, number])
            guard database.changesCount > 0 else { throw HubError.noSuchInvitation }
            try database.execute(
                sql: """
                    DELETE FROM device WHERE household = ? AND state = 'pending'
                        AND token_hash = (SELECT token_hash FROM invitation WHERE id = ?)
                    """, arguments: [number, id])
            effects.devicesChanged = true
        }
    }

    public func invitationDetails(_ id: HubID, proofHash: Data, at time: Int64) async throws -> Data {
        try await read { database in
            let select = Self.invitationColumns + " WHERE invitation.id = ? AND proof_hash = ?"
            guard let row = try Row.fetchOne(database, sql: select, arguments: [id, proofHash]),
                let details: Data = row["details"]
            else { throw HubError.noSuchInvitation }
            try Self.invitation(row).requireUnused(isWithdrawn: row["withdrawn"], at: time)
            return details
        }
    }

    public func join(
        _ request: JoinRequest, invitation id: HubID, proofHash: Data, at time: Int64
    ) async throws -> StoredInvitation {
        try await write { database, effects in
            let select = Self.invitationColumns + " WHERE invitation.id = ? AND proof_hash = ?"
            guard let row = try Row.fetchOne(database, sql: select, arguments: [id, proofHash]) else {
                throw HubError.noSuchInvitation
            }
            let stored = Self.invitation(row)
            guard let joined = try stored.joined(by: request, isWithdrawn: row["withdrawn"], at: time) else {
                return stored
            }
            // A device that is pending by an earlier invitation of this household may join by this one instead.
            let household: Int64 = row["household"]
            try database.execute(
                sql: "DELETE FROM device WHERE id = ? AND household = ? AND state = 'pending'",
                arguments: [request.device, household])
            try Self.requireUnknown(request.device, tokenHash: request.tokenHash, in: database)
            try database.execute(
                sql: "INSERT INTO device (id, household, token_hash, role, state) VALUES (?, ?, ?, ?, 'pending')",
                arguments: [request.device, household, request.tokenHash, request.role.rawValue])
            try database.execute(
                sql: "UPDATE invitation SET device = ?, role = ?, token_hash = ?, sealed = ? WHERE id = ?",
                arguments: [request.device, request.role.rawValue, request.tokenHash, request.sealed, id])
            effects.devicesChanged = true
            effects.changes.append(.join(household: stored.household, invitation: id))
            return joined
        }
    }
}
