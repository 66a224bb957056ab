public import ControlAPI
public import SealedFormats

/// The activity log.
public protocol ActivityStore: Sendable {
    /// Durable when it returns. The store numbers the events in order.
    func append(_ events: [ActivityEvent]) async throws
    /// The newest `limit` events with a number above `after` and below `before`, oldest first.
    /// - Parameter user: whose events; nil for all.
    func events(
        after number: Int64, before: Int64, limit: Int, app: String?, user: UInt32?
    ) async throws -> [EventReport]
    /// - Parameter user: of whose events; nil for all.
    func statistics(since time: Double, user: UInt32?) async throws -> [AppStatistics]
    /// The same events by local day, also those of no app; the oldest day first.
    func statisticsByDay(since time: Double, user: UInt32?) async throws -> [DayStatistics]
    /// Verifies the whole hash chain without blocking other readers.
    /// - Parameter known: a head that was noted earlier; the log has to contain it.
    /// - Throws: `CancellationError` where the task is cancelled.
    func verifyLog(known: AuditChain.Head?) async throws -> LogVerification
}

extension ActivityStore {
    /// The same for the events of all users, up to the newest.
    public func events(after number: Int64, limit: Int, app: String?) async throws -> [EventReport] {
        try await events(after: number, before: .max, limit: limit, app: app, user: nil)
    }

    /// The same for the events of all users.
    public func statistics(since time: Double) async throws -> [AppStatistics] {
        try await statistics(since: time, user: nil)
    }
}
