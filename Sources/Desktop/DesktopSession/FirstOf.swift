/// Waits for the first of two events.
enum FirstOf {
    /// Returns when `event` returns or the time is over; the other wait is cancelled.
    static func sleeping(_ time: Duration, _ event: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Task.sleep(for: time) }
            group.addTask { try await event() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
