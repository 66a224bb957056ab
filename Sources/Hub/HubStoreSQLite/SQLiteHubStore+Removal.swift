import GRDB
public import HubAPI
import HubStore

/// Removing a household. Its devices have no access from the first transaction on; what it stored, up to its whole quota,
/// is deleted in steps, so that other households' writes wait for one step only.
extension SQLiteHubStore {
    /// Sealed bytes that one transaction deletes. They are overwritten, so each one is written twice.
    static let largestStep = 8 << 20
    private static let mostRows = 4_096

    public func removeHousehold(_ household: HubID) async throws {
        try await closeHousehold(household)
        try await eraseRemovedHouseholds()
        await overwriteLog()
    }

    /// Ends every access to it.
    func closeHousehold(_ household: HubID) async throws {
        try await write { database, effects in
            let number = try Self.household(household, in: database).number
            let devices = try HubID.fetchAll(
                database, sql: "SELECT id FROM device WHERE household = ?", arguments: [number])
            for table in ["device", "roster", "invitation", "revoked_token"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE household = ?", arguments: [number])
            }
            // A new household may have its id at once.
            try database.execute(
                sql: "UPDATE household SET removed = id, id = ?, is_main = 0 WHERE number = ?",
                arguments: [HubID.random(), number])
            effects.devicesChanged = true
            effects.changes += devices.map { .revoked(household: household, device: $0) }
        }
    }

    /// Also those whose removal was interrupted.
    func eraseRemovedHouseholds() async throws {
        while try await write({ database, _ in try Self.eraseStep(in: database) }) {}
    }

    /// - Returns: whether there is more to erase.
    static func eraseStep(in database: Database) throws -> Bool {
        let removed = try Row.fetchOne(
            database, sql: "SELECT number, removed FROM household WHERE removed IS NOT NULL LIMIT 1")
        guard let removed else { return false }
        let (number, id): (Int64, HubID) = (removed["number"], removed["removed"])
        if try eraseRecords(of: number, in: database) { return true }
        try database.execute(
            sql: """
                DELETE FROM record_blob WHERE household = ?1 AND blob IN
                    (SELECT blob FROM record_blob WHERE household = ?1 LIMIT \(mostRows))
                """, arguments: [number])
        if database.changesCount > 0 { return true }
        let blobs = "FROM blob WHERE household = ? ORDER BY id LIMIT \(mostRows)"
        // Not the bytes of a blob that the household has since it was founded again.
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO garbage (household, blob) SELECT ?, id FROM (SELECT id \(blobs)) AS former
                WHERE NOT EXISTS (SELECT 1 FROM blob JOIN household ON household.number = blob.household
                    WHERE household.id = ? AND blob.id = former.id)
                """, arguments: [id, number, id])
        try database.execute(
            sql: "DELETE FROM blob WHERE household = ? AND id IN (SELECT id \(blobs))", arguments: [number, number])
        if database.changesCount > 0 { return true }
        try database.execute(sql: "DELETE FROM household WHERE number = ?", arguments: [number])
        return true
    }

    private static func eraseRecords(of household: Int64, in database: Database) throws -> Bool {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT rowid, length(sealed) AS bytes FROM record WHERE household = ? LIMIT \(mostRows)",
            arguments: [household])
        var (erased, bytes) = ([Int64](), 0)
        while bytes < largestStep, let row = try rows.next() {
            erased.append(row["rowid"])
            bytes += row["bytes"] ?? 0
        }
        for row in erased {
            try database.cachedStatement(sql: "DELETE FROM record WHERE rowid = ?").execute(arguments: [row])
        }
        return !erased.isEmpty
    }
}
