public import Foundation
import GRDB
public import HubAPI
public import HubStore

extension SQLiteHubStore {
    struct Household {
        var number: Int64
        var sequence: Int64
        var records: Int64
        var bytes: Int64
        var generations: StoredGenerations
    }

    /// - Throws: `noSuchHousehold`.
    static func household(_ id: HubID, in database: Database) throws -> Household {
        let statement = try database.cachedStatement(
            sql: "SELECT number, sequence, records, bytes, generations FROM household WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { throw HubError.noSuchHousehold }
        return Household(
            number: row[0], sequence: row[1], records: row[2], bytes: row[3],
            generations: StoredGenerations(bytes: row[4]))
    }

    static func save(_ household: Household, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE household SET sequence = ?, records = ?, bytes = ?, generations = COALESCE(?, generations)
                WHERE number = ?
                """
        ).execute(arguments: [
            household.sequence, household.records, household.bytes, household.generations.changedBytes,
            household.number,
        ])
    }

    public func foundHousehold(_ request: NewHouseholdRequest, _ terms: FoundingTerms) async throws -> Bool {
        try await write { database, effects in
            let known = try Row.fetchOne(
                database,
                sql: """
                    SELECT device.id, device.token_hash, roster.entry FROM household
                    LEFT JOIN device ON device.household = household.number AND device.id = ?
                    LEFT JOIN roster ON roster.household = household.number AND roster.number = 1
                    WHERE household.id = ?
                    """, arguments: [request.device, request.household])
            if let known {
                let (token, entry): (Data?, Data?) = (known["token_hash"], known["entry"])
                guard token == request.tokenHash, entry == request.entry else { throw HubError.householdExists }
                return false
            }
            try Self.requireUnknown(request.device, tokenHash: request.tokenHash, in: database)
            if terms.isMain, let maximum = terms.maximumMain {
                let count = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM household WHERE is_main") ?? 0
                guard count < maximum else { throw HubError.tooManyHouseholds(maximum) }
            }
            if let invitation = terms.invitation { try Self.use(invitation, at: terms.time, in: database) }
            try database.execute(
                sql: "INSERT INTO household (id, is_main, event_days) VALUES (?, ?, ?)",
                arguments: [request.household, terms.isMain, terms.eventDays ?? 30])
            let number = database.lastInsertedRowID
            try database.execute(
                sql: """
                    INSERT INTO device (id, household, token_hash, role, state) VALUES (?, ?, ?, ?, 'active')
                    """, arguments: [request.device, number, request.tokenHash, request.founderRole.rawValue])
            try database.execute(
                sql: "INSERT INTO roster (household, number, entry) VALUES (?, 1, ?)",
                arguments: [number, request.entry])
            effects.devicesChanged = true
            return true
        }
    }

    private static func use(
        _ invitation: FoundingTerms.Invitation, at time: Int64, in database: Database
    ) throws {
        switch invitation {
        case .start(let id, let expires):
            guard expires > time else { throw HubError.startIsOver }
            // A day later: the clock may be set back.
            try database.execute(sql: "DELETE FROM used_start WHERE expires <= ?", arguments: [time - 86_400])
            try database.execute(
                sql: "INSERT OR IGNORE INTO used_start (id, expires) VALUES (?, ?)", arguments: [id, expires])
            if database.changesCount == 0 { throw HubError.startIsUsed }
        case .household(let id, let proofHash):
            let row = try Row.fetchOne(
                database, sql: Self.invitationColumns + " WHERE invitation.id = ? AND proof_hash = ?",
                arguments: [id, proofHash])
            guard let row else { throw HubError.noSuchInvitation }
            try Self.invitation(row).requireFounding(
                isWithdrawn: row["withdrawn"], hasFounded: row["has_founded"], at: time)
            try database.execute(sql: "UPDATE invitation SET has_founded = 1 WHERE id = ?", arguments: [id])
        }
    }

    /// - Throws: `deviceExists`.
    static func requireUnknown(_ device: HubID, tokenHash: Data, in database: Database) throws {
        let isKnown = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM device WHERE id = ? OR token_hash = ?)",
            arguments: [device, tokenHash])
        if isKnown == true { throw HubError.deviceExists }
    }

    public func household(_ household: HubID) async throws -> StoredHousehold {
        let stored = try await storedHousehold(household)
        guard stored.generations.last?.id != run else { return stored }
        // A full disk must not prevent reading; the next write stores it.
        try? await commits.run(sharesHouseholds: true) { [run] database, effects in
            var totals = try effects.households[household] ?? Self.household(household, in: database)
            if totals.generations.begin(run, after: UInt64(totals.sequence)) { effects.households[household] = totals }
        }
        return try await storedHousehold(household)
    }

    private func storedHousehold(_ household: HubID) async throws -> StoredHousehold {
        try await read { database in
            guard
                let row = try Row.fetchOne(
                    database,
                    sql: """
                        SELECT sequence, records, bytes, event_days, generations,
                            (SELECT MAX(number) FROM roster WHERE roster.household = household.number) AS roster
                        FROM household WHERE id = ?
                        """, arguments: [household])
            else { throw HubError.noSuchHousehold }
            return StoredHousehold(
                household: household, sequence: row.unsigned("sequence"), records: row["records"],
                bytes: row.unsigned("bytes"), eventDays: row["event_days"], rosterNumber: row.unsigned("roster"),
                generations: StoredGenerations(bytes: row["generations"]).list)
        }
    }

    public func households() async throws -> [HubID] {
        try await read { try HubID.fetchAll($0, sql: "SELECT id FROM household WHERE removed IS NULL ORDER BY id") }
    }

    public func changeHousehold(_ household: HubID, eventDays: Int) async throws {
        try await write { database, _ in
            try database.execute(
                sql: "UPDATE household SET event_days = ? WHERE id = ? AND event_days <= ?",
                arguments: [eventDays, household, eventDays])
            guard database.changesCount == 0 else { return }
            _ = try Self.household(household, in: database)
            throw HubError.fewerDays
        }
    }

    // MARK: Devices

    private static let deviceColumns = """
        SELECT household.id AS household_id, device.id, device.role, device.state, device.last_seen,
            EXISTS (SELECT 1 FROM push WHERE push.device = device.id) AS has_push
        FROM device JOIN household ON household.number = device.household
        """

    private static func device(_ row: Row) throws -> StoredDevice {
        guard let role = HubDeviceRole(rawValue: row["role"]), let state = HubDeviceState(rawValue: row["state"])
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return StoredDevice(
            household: row["household_id"], id: row["id"], role: role, state: state, lastSeen: row["last_seen"],
            hasPush: row["has_push"])
    }

    public func device(tokenHash hash: Data) async throws -> StoredDevice? {
        let (known, generation) = tokens.device(hash)
        if let known { return known }
        let device = try await read { database in
            try Row.fetchOne(
                database, sql: Self.deviceColumns + " WHERE device.token_hash = ?", arguments: [hash]
            ).map(Self.device)
        }
        if let device { tokens.keep(device, hash: hash, generation: generation) }
        return device
    }

    public func devices(of household: HubID) async throws -> [StoredDevice] {
        try await read { database in
            try Row.fetchAll(
                database,
                sql: Self.deviceColumns
                    + " WHERE household.id = ? AND device.token_hash IS NOT NULL ORDER BY device.id",
                arguments: [household]
            ).map(Self.device)
        }
    }

    public func removeDevice(_ device: HubID, of household: HubID) async throws {
        try await write { database, effects in
            let number = try Self.household(household, in: database).number
            try database.execute(
                sql: "UPDATE device SET token_hash = NULL WHERE id = ? AND household = ? AND token_hash IS NOT NULL",
                arguments: [device, number])
            guard database.changesCount > 0 else { return }
            try database.execute(sql: "DELETE FROM push WHERE device = ?", arguments: [device])
            try database.execute(sql: "DELETE FROM pin_share WHERE device = ?", arguments: [device])
            effects.devicesChanged = true
            effects.changes.append(.revoked(household: household, device: device))
        }
        await overwriteLog()
    }

    public func updateLastSeen(_ device: HubID, of household: HubID, at time: Int64) async throws {
        let minute = time - time % 60
        guard sightings.isNewMinute(minute, of: device) else { return }
        try await write { database, _ in
            try database.execute(
                sql: """
                    UPDATE device SET last_seen = ? WHERE id = ? AND (last_seen IS NULL OR last_seen < ?)
                        AND household = (SELECT number FROM household WHERE id = ?)
                    """, arguments: [minute, device, minute, household])
        }
    }

    /// - Throws: `noSuchDevice` if it isn't in the household or has left.
    static func requireDevice(_ device: HubID, of household: HubID, in database: Database) throws {
        let isThere = try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM device JOIN household ON household.number = device.household
                    WHERE device.id = ? AND household.id = ? AND device.token_hash IS NOT NULL)
                """, arguments: [device, household])
        guard isThere == true else { throw HubError.noSuchDevice }
    }
}

extension Row {
    /// A number that is never negative; 0 if there is none.
    func unsigned(_ column: String) -> UInt64 {
        let value: Int64? = self[column]
        return UInt64(clamping: value ?? 0)
    }
}
