import GRDB
public import HubAPI
public import HubStore

extension SQLiteHubStore {
    public func setReminders(
        _ request: PushRemindersRequest, device: HubID, household: HubID, at time: Int64
    ) async throws {
        try await write { database, _ in
            try Self.requireDevice(device, of: household, in: database)
            let hasPush = try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM push WHERE device = ?)", arguments: [device])
            guard hasPush == true else { throw HubError.noPushSubscription }
            try database.execute(
                sql: "DELETE FROM reminder WHERE device = ? AND list = ?", arguments: [device, request.list])
            guard !request.reminders.isEmpty else { return }
            try database.execute(
                sql: """
                    DELETE FROM reminder WHERE device = ?1 AND list NOT IN
                        (SELECT list FROM reminder WHERE device = ?1 GROUP BY list ORDER BY MAX(set_at) DESC, list
                            LIMIT \(PushRemindersRequest.maximumLists - 1))
                    """, arguments: [device])
            for reminder in request.reminders {
                try database.execute(
                    sql: "INSERT INTO reminder (device, list, due, set_at, content) VALUES (?, ?, ?, ?, ?)",
                    arguments: [device, request.list, Int64(clamping: reminder.at), time, reminder.content])
            }
        }
    }

    public func nextReminder() async throws -> Int64? {
        try await read { try Int64.fetchOne($0, sql: "SELECT MIN(due) FROM reminder") }
    }

    public func takeReminders(dueAt time: Int64, limit: Int) async throws -> [DueReminder] {
        try await write { database, _ in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT reminder.list, reminder.due, reminder.content, push.*, household.id AS household_id
                    FROM reminder JOIN push ON push.device = reminder.device JOIN device ON device.id = push.device
                    JOIN household ON household.number = device.household
                    WHERE reminder.due <= ? ORDER BY reminder.due LIMIT ?
                    """, arguments: [time, limit])
            return try rows.map { row in
                let (list, due): (HubID, Int64) = (row["list"], row["due"])
                let subscription = Self.subscription(row)
                try database.execute(
                    sql: "DELETE FROM reminder WHERE device = ? AND list = ? AND due = ?",
                    arguments: [subscription.device, list, due])
                return DueReminder(
                    household: row["household_id"], at: due, content: row["content"], subscription: subscription)
            }
        }
    }
}
