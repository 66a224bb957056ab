public import Foundation
public import HubAPI
public import HubStore

extension PostgresHubStore {
    public func invite(_ request: NewInvitationRequest, household: HubID, by device: HubID, at time: Int64) async throws
    {
        try await pool.transaction { connection in
            let number = try LockedHousehold(household, connection).number
            let known = try connection.query(
                "SELECT household, inviter, proof_hash FROM invitation WHERE id = $1", [.id(request.id)]
            ).first
            if let known {
                guard known.integer(0) == number, try known.id(1) == device, known.bytes(2) == request.proofHash
                else { throw HubError.invitationExists }
                return
            }
            let old = [PostgresValue.integer(number), .integer(time - StoredInvitation.afterTime)]
            // Also removes the devices that joined by them and were never admitted.
            try connection.query(
                """
                DELETE FROM device WHERE household = $1 AND state = 'pending' AND token_hash IN
                    (SELECT token_hash FROM invitation WHERE household = $1 AND expires < $2)
                """, old)
            try connection.query("DELETE FROM invitation WHERE household = $1 AND expires < $2", old)
            let unused = try connection.query(
                "SELECT count(*) FROM invitation WHERE household = $1 AND expires > $2 AND device IS NULL",
                [.integer(number), .integer(time - StoredInvitation.countedAfterTime)])
            guard unused.first?.integer(0) ?? 0 < StoredInvitation.maximumUnused else {
                throw HubError.tooManyInvitations
            }
            try connection.query(
                """
                INSERT INTO invitation (id, household, inviter, proof_hash, expires, details)
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .id(request.id), .integer(number), .id(device), .bytes(request.proofHash),
                    .integer(time + Int64(request.expiresInSeconds)), .bytes(request.details),
                ])
        }
    }

    static let invitationColumns = """
        SELECT invitation.id, household.id, inviter, expires, withdrawn, device, role, token_hash, sealed,
            household.number, has_founded, details
        FROM invitation JOIN household ON household.number = invitation.household
        """

    static func invitation(_ row: PostgresRow) throws -> StoredInvitation {
        var join: JoinRequest?
        if let role = row.text(6).flatMap({ HubDeviceRole(rawValue: $0) }) {
            join = JoinRequest(
                proof: Data(), device: try row.id(5), role: role, tokenHash: row.bytes(7) ?? Data(),
                sealed: row.bytes(8) ?? Data())
        }
        return StoredInvitation(
            id: try row.id(0), household: try row.id(1), inviter: try row.id(2), expires: row.integer(3), join: join)
    }

    public func invitation(_ id: HubID, household: HubID, at time: Int64) async throws -> StoredInvitation {
        try await pool.read { connection in
            let row = try connection.query(
                Self.invitationColumns + " WHERE invitation.id = $1 AND household.id = $2", [.id(id), .id(household)]
            ).first
            guard let row else { throw HubError.noSuchInvitation }
            let invitation = try Self.invitation(row)
            try invitation.requireReadable(isWithdrawn: row.flag(4), at: time)
            return invitation
        }
    }

    public func withdrawInvitation(_ id: HubID, household: HubID) async throws {
        try await pool.transaction { connection in
            let number = PostgresValue.integer(try LockedHousehold(household, connection).number)
            let rows = try connection.query(
                "UPDATE invitation SET withdrawn = true WHERE id = $1 AND household = $2", [.id(id), number])
            guard rows.changed > 0 else { throw HubError.noSuchInvitation }
            try connection.query(
                """
                DELETE FROM device WHERE household = $2 AND state = 'pending'
                    AND token_hash = (SELECT token_hash FROM invitation WHERE id = $1)
                """, [.id(id), number])
        }
    }

    public func invitationDetails(_ id: HubID, proofHash: Data, at time: Int64) async throws -> Data {
        try await pool.read { connection in
            let select = Self.invitationColumns + " WHERE invitation.id = $1 AND proof_hash = $2"
            guard let row = try connection.query(select, [.id(id), .bytes(proofHash)]).first,
                let details = row.bytes(11)
            else { throw HubError.noSuchInvitation }
            try Self.invitation(row).requireUnused(isWithdrawn: row.flag(4), at: time)
            return details
        }
    }

    public func join(
        _ request: JoinRequest, invitation id: HubID, proofHash: Data, at time: Int64
    ) async throws -> StoredInvitation {
        try await pool.transaction { connection in
            let select = Self.invitationColumns + " WHERE invitation.id = $1 AND proof_hash = $2"
            let name = [PostgresValue.id(id), .bytes(proofHash)]
            // Read once to find the household, and again under its lock.
            guard let found = try connection.query(select, name).first else { throw HubError.noSuchInvitation }
            _ = try LockedHousehold(try found.id(1), connection)
            guard let row = try connection.query(select, name).first else { throw HubError.noSuchInvitation }
            let stored = try Self.invitation(row)
            guard let joined = try stored.joined(by: request, isWithdrawn: row.flag(4), at: time) else {
                return stored
            }
            // A device that is pending by an earlier invitation of this household may join by this one instead.
            let household = PostgresValue.integer(row.integer(9))
            try connection.query(
                "DELETE FROM device WHERE id = $1 AND household = $2 AND state = 'pending'",
                [.id(request.device), household])
            try Self.requireUnknown(request.device, tokenHash: request.tokenHash, connection)
            let joining = [
                .id(request.device), household, .bytes(request.tokenHash), .text(request.role.rawValue),
            ]
            try connection.query(
                "INSERT INTO device (id, household, token_hash, role, state) VALUES ($1, $2, $3, $4, 'pending')",
                joining)
            try connection.query(
                "UPDATE invitation SET device = $1, role = $2, token_hash = $3, sealed = $4 WHERE id = $5",
                [
                    .id(request.device), .text(request.role.rawValue), .bytes(request.tokenHash),
                    .bytes(request.sealed), .id(id),
                ])
            try PostgresNotice.send([.join(household: stored.household, invitation: id)], connection)
            return joined
        }
    }
}
