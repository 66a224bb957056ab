import Foundation
public import HubAPI
public import HubStore

extension PostgresHubStore {
    public func setReminders(
        _ request: PushRemindersRequest, device: HubID, household: HubID, at time: Int64
    ) async throws {
        try await pool.transaction { connection in
            try Self.lockDevice(device, of: household, connection)
            let push = try connection.query("SELECT 1 FROM push WHERE device = $1", [.id(device)])
            guard push.first != nil else { throw HubError.noPushSubscription }
            try connection.query(
                "DELETE FROM reminder WHERE device = $1 AND list = $2", [.id(device), .id(request.list)])
            guard !request.reminders.isEmpty else { return }
            try connection.query(
                """
                DELETE FROM reminder WHERE device = $1 AND list NOT IN
                    (SELECT list FROM reminder WHERE device = $1 GROUP BY list ORDER BY max(set_at) DESC, list
                        LIMIT \(PushRemindersRequest.maximumLists - 1))
                """, [.id(device)])
            try connection.query(
                """
                INSERT INTO reminder (device, list, due, set_at, content)
                SELECT $1, $2, due, $3, content FROM unnest($4::bigint[], $5::bytea[]) AS added (due, content)
                """,
                [
                    .id(device), .id(request.list), .integer(time),
                    .integers(request.reminders.map { Int64(clamping: $0.at) }),
                    .byteRows(request.reminders.map(\.content)),
                ])
        }
    }

    public func nextReminder() async throws -> Int64? {
        try await pool.read { try $0.query("SELECT min(due) FROM reminder").first?.optionalInteger(0) }
    }

    /// Skips rows that another hub is taking.
    public func takeReminders(dueAt time: Int64, limit: Int) async throws -> [DueReminder] {
        try await pool.transaction { connection in
            try connection.query(
                """
                WITH due AS (
                    SELECT device, list, due FROM reminder WHERE due <= $1 ORDER BY due LIMIT $2
                    FOR UPDATE SKIP LOCKED
                ), taken AS (
                    DELETE FROM reminder USING due
                    WHERE reminder.device = due.device AND reminder.list = due.list AND reminder.due = due.due
                    RETURNING reminder.device, reminder.due, reminder.content
                )
                SELECT push.device, endpoint, p256dh, auth, title, body, navigate, taken.due, taken.content, household.id
                FROM taken JOIN push ON push.device = taken.device JOIN device ON device.id = push.device
                JOIN household ON household.number = device.household ORDER BY taken.due
                """, [.integer(time), .integer(Int64(limit))]
            ).map { row in
                DueReminder(
                    household: try row.id(9), at: row.integer(7), content: row.bytes(8) ?? Data(),
                    subscription: try Self.subscription(row))
            }
        }
    }
}
