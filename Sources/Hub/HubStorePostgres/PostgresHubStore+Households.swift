public import Foundation
public import HubAPI
public import HubStore

extension PostgresHubStore {
    public func foundHousehold(_ request: NewHouseholdRequest, _ terms: FoundingTerms) async throws -> Bool {
        try await pool.transaction { connection in
            let new = try connection.query(
                """
                INSERT INTO household (id, is_main, event_days) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING
                RETURNING number
                """, [.id(request.household), .flag(terms.isMain), .integer(Int64(terms.eventDays ?? 30))])
            guard let number = new.first?.integer(0) else {
                let known = try connection.query(
                    """
                    SELECT device.token_hash, roster.entry FROM household
                    JOIN device ON device.household = household.number AND device.id = $2
                    JOIN roster ON roster.household = household.number AND roster.number = 1
                    WHERE household.id = $1
                    """, [.id(request.household), .id(request.device)]
                ).first
                guard let known, known.bytes(0) == request.tokenHash, known.bytes(1) == request.entry else {
                    throw HubError.householdExists
                }
                return false
            }
            try Self.requireUnknown(request.device, tokenHash: request.tokenHash, connection)
            if terms.isMain, let maximum = terms.maximumMain { try Self.requireAtMost(maximum, connection) }
            if let invitation = terms.invitation { try Self.use(invitation, at: terms.time, connection) }
            try connection.query(
                "INSERT INTO device (id, household, token_hash, role, state) VALUES ($1, $2, $3, $4, 'active')",
                [
                    .id(request.device), .integer(number), .bytes(request.tokenHash),
                    .text(request.founderRole.rawValue),
                ])
            try connection.query(
                "INSERT INTO roster (household, number, entry) VALUES ($1, 1, $2)",
                [.integer(number), .bytes(request.entry)])
            return true
        }
    }

    /// Counts the new household too. Two that are founded at once would not count each other, so they take turns.
    private static func requireAtMost(_ maximum: Int, _ connection: PostgresConnection) throws {
        try connection.query("SELECT pg_advisory_xact_lock($1)", [.integer(foundingLock)])
        let count = try connection.query("SELECT count(*) FROM household WHERE is_main").first?.integer(0) ?? 0
        guard count <= maximum else { throw HubError.tooManyHouseholds(maximum) }
    }

    /// The key of an advisory lock; any number that nothing else uses.
    private static let foundingLock: Int64 = 0x6170_706c_6f63_6b66

    private static func use(
        _ invitation: FoundingTerms.Invitation, at time: Int64, _ connection: PostgresConnection
    ) throws {
        switch invitation {
        case .start(let id, let expires):
            guard expires > time else { throw HubError.startIsOver }
            // A day later: another hub's clock may be behind this one's.
            try connection.query("DELETE FROM used_start WHERE expires <= $1", [.integer(time - 86_400)])
            // Waits for a transaction that uses the same one.
            let used = try connection.query(
                "INSERT INTO used_start (id, expires) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
                [.id(id), .integer(expires)])
            if used.changed == 0 { throw HubError.startIsUsed }
        case .household(let id, let proofHash):
            let row = try connection.query(
                Self.invitationColumns + " WHERE invitation.id = $1 AND proof_hash = $2 FOR UPDATE OF invitation",
                [.id(id), .bytes(proofHash)]
            ).first
            guard let row else { throw HubError.noSuchInvitation }
            try Self.invitation(row).requireFounding(
                isWithdrawn: row.flag(4), hasFounded: row.flag(10), at: time)
            try connection.query("UPDATE invitation SET has_founded = true WHERE id = $1", [.id(id)])
        }
    }

    /// - Throws: `deviceExists`.
    static func requireUnknown(_ device: HubID, tokenHash: Data, _ connection: PostgresConnection) throws {
        let known = try connection.query(
            "SELECT 1 FROM device WHERE id = $1 OR token_hash = $2 LIMIT 1", [.id(device), .bytes(tokenHash)])
        if known.first != nil { throw HubError.deviceExists }
    }

    public func household(_ household: HubID) async throws -> StoredHousehold {
        let (stored, _, run) = try await pool.read { try Self.household(household, $0) }
        guard stored.generations.last?.id != run else { return stored }
        let noted = try? await pool.transaction { connection in
            _ = try LockedHousehold(household, connection)
            var (stored, generations, run) = try Self.household(household, connection)
            if generations.begin(run, after: stored.sequence) {
                try connection.query(
                    "UPDATE household SET generations = $1 WHERE id = $2", [.bytes(generations.bytes), .id(household)])
            }
            stored.generations = generations.list
            return stored
        }
        // A full disk must not prevent reading; the next write stores it.
        return noted ?? stored
    }

    /// Identifies the server's start, the database and the table, one of which differs after a restore or a promotion.
    /// The same for all hubs that share the database, whatever the time zone and date style of their sessions.
    static let run = """
        md5(concat_ws('/', (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
            'household'::regclass::oid, (SELECT oid FROM pg_database WHERE datname = current_database())))::uuid
        """

    private static func household(
        _ household: HubID, _ connection: PostgresConnection
    ) throws -> (StoredHousehold, StoredGenerations, run: HubID) {
        let rows = try connection.query(
            """
            SELECT sequence, records, bytes, event_days,
                (SELECT max(number) FROM roster WHERE roster.household = household.number), generations, \(run)
            FROM household WHERE id = $1
            """, [.id(household)])
        guard let row = rows.first else { throw HubError.noSuchHousehold }
        let generations = StoredGenerations(bytes: row.bytes(5) ?? Data())
        let stored = StoredHousehold(
            household: household, sequence: row.unsigned(0), records: Int(row.integer(1)), bytes: row.unsigned(2),
            eventDays: Int(row.integer(3)), rosterNumber: row.unsigned(4),
            generations: generations.list)
        return (stored, generations, try row.id(6))
    }

    public func households() async throws -> [HubID] {
        try await pool.read { try $0.query("SELECT id FROM household ORDER BY id").map { try $0.id(0) } }
    }

    public func changeHousehold(_ household: HubID, eventDays: Int) async throws {
        try await pool.transaction { connection in
            let rows = try connection.query(
                "UPDATE household SET event_days = $1 WHERE id = $2 AND event_days <= $1",
                [.integer(Int64(eventDays)), .id(household)])
            guard rows.changed == 0 else { return }
            _ = try LockedHousehold(household, connection)
            throw HubError.fewerDays
        }
    }

    public func removeHousehold(_ household: HubID) async throws {
        try await pool.transaction { connection in
            let number = PostgresValue.integer(try LockedHousehold(household, connection).number)
            let devices = try connection.query("SELECT id FROM device WHERE household = $1", [number])
            try PostgresNotice.send(
                try devices.map { .revoked(household: household, device: try $0.id(0)) }, connection)
            try connection.query(
                """
                INSERT INTO garbage (household, blob) SELECT $1, id FROM blob WHERE household = $2
                ON CONFLICT DO NOTHING
                """, [.id(household), number])
            try connection.query("DELETE FROM household WHERE number = $1", [number])
        }
    }

    // MARK: Devices

    private static let deviceColumns = """
        SELECT household.id, device.id, device.role, device.state, device.last_seen,
            EXISTS (SELECT 1 FROM push WHERE push.device = device.id)
        FROM device JOIN household ON household.number = device.household
        """

    private static func device(_ row: PostgresRow) throws -> StoredDevice {
        guard let role = row.text(2).flatMap({ HubDeviceRole(rawValue: $0) }),
            let state = row.text(3).flatMap({ HubDeviceState(rawValue: $0) })
        else { throw PostgresRow.unexpected }
        return StoredDevice(
            household: try row.id(0), id: try row.id(1), role: role, state: state, lastSeen: row.optionalInteger(4),
            hasPush: row.flag(5))
    }

    /// Not cached: another hub may have revoked it a moment ago.
    public func device(tokenHash hash: Data) async throws -> StoredDevice? {
        try await pool.read { connection in
            try connection.query(Self.deviceColumns + " WHERE device.token_hash = $1", [.bytes(hash)])
                .first.map(Self.device)
        }
    }

    public func devices(of household: HubID) async throws -> [StoredDevice] {
        try await pool.read { connection in
            try connection.query(
                Self.deviceColumns
                    + " WHERE household.id = $1 AND device.token_hash IS NOT NULL ORDER BY device.id",
                [.id(household)]
            ).map(Self.device)
        }
    }

    public func removeDevice(_ device: HubID, of household: HubID) async throws {
        try await pool.transaction { connection in
            let number = try LockedHousehold(household, connection).number
            let rows = try connection.query(
                "UPDATE device SET token_hash = NULL WHERE id = $1 AND household = $2 AND token_hash IS NOT NULL",
                [.id(device), .integer(number)])
            guard rows.changed > 0 else { return }
            try connection.query("DELETE FROM push WHERE device = $1", [.id(device)])
            try connection.query("DELETE FROM pin_share WHERE device = $1", [.id(device)])
            try PostgresNotice.send([.revoked(household: household, device: device)], connection)
        }
    }

    public func updateLastSeen(_ device: HubID, of household: HubID, at time: Int64) async throws {
        let minute = time - time % 60
        guard sightings.isNewMinute(minute, of: device) else { return }
        try await pool.transaction { connection in
            _ = try connection.query(
                """
                UPDATE device SET last_seen = $1 WHERE id = $2 AND (last_seen IS NULL OR last_seen < $1)
                    AND household = (SELECT number FROM household WHERE id = $3)
                """, [.integer(minute), .id(device), .id(household)])
        }
    }

    /// Locks the household.
    /// - Throws: `noSuchDevice` if the device isn't in the household or has left, `noSuchHousehold`.
    static func lockDevice(_ device: HubID, of household: HubID, _ connection: PostgresConnection) throws {
        let number = try LockedHousehold(household, connection).number
        let rows = try connection.query(
            "SELECT 1 FROM device WHERE id = $1 AND household = $2 AND token_hash IS NOT NULL",
            [.id(device), .integer(number)])
        if rows.first == nil { throw HubError.noSuchDevice }
    }
}
