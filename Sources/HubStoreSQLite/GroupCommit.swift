import GRDB
import HubStore
import Synchronization
import WireProtocol

/// What a committed write means beyond the database.
struct WriteEffects {
    /// Told in this order.
    var changes: [HubChange] = []
    /// Tokens known from before may not be right any more.
    var devicesChanged = false
    /// Households whose records were written: numbers and sums that the table does not have yet.
    var households: [HubID: SQLiteHubStore.Household] = [:]

    fileprivate mutating func saveHouseholds(in database: Database) throws {
        for household in households.values { try SQLiteHubStore.save(household, in: database) }
        households = [:]
    }
}

/// Gathers the writes that come while one transaction is made durable into the next one, on the one writing connection.
///
/// A caller gets its answer when the transaction that has its write is on disk. Each write has a savepoint of its own: one
/// that is refused takes nothing of the others with it.
final class GroupCommit: Sendable {
    private struct Write: Sendable {
        /// Whether it goes on with the households of the writes before it.
        var sharesHouseholds: Bool
        /// - Returns: what is to be done once it is durable: whoever waits is answered.
        var perform: @Sendable (Database, inout WriteEffects) throws -> @Sendable () -> Void
        var refuse: @Sendable (HubError) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isRunning = false
        var isClosed = false
    }

    /// Writes in one transaction, at most.
    private static let largest = 512

    private let state = Mutex(State())
    private let pool: DatabasePool
    private let announce: @Sendable (WriteEffects) -> Void

    /// - Parameter announce: called for each transaction once it is durable and before its callers are answered.
    init(pool: DatabasePool, announce: @escaping @Sendable (WriteEffects) -> Void) {
        self.pool = pool
        self.announce = announce
    }

    /// - Parameter sharesHouseholds: what the body reads of a household is in the effects, where it is there; otherwise the
    ///   table has it.
    /// - Throws: `HubError`.
    func run<Value: Sendable>(
        sharesHouseholds: Bool = false,
        _ body: @escaping @Sendable (Database, inout WriteEffects) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let write = Write(
                sharesHouseholds: sharesHouseholds,
                perform: { database, effects in
                    let value = try body(database, &effects)
                    return { continuation.resume(returning: value) }
                }, refuse: { continuation.resume(throwing: $0) })
            let (isClosed, hasToStart) = state.withLock { state in
                if state.isClosed { return (true, false) }
                state.waiting.append(write)
                defer { state.isRunning = true }
                return (false, !state.isRunning)
            }
            if isClosed { write.refuse(.storeIsClosed) }
            if hasToStart { pool.asyncWriteWithoutTransaction { [self] in drain($0) } }
        }
    }

    /// Takes nothing more, and returns once what was taken is durable.
    func close() async throws {
        state.withLock { $0.isClosed = true }
        try await pool.writeWithoutTransaction { _ in }
    }

    /// Writes that the next transactions will have.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func drain(_ database: Database) {
        while let writes = next() { commit(writes, to: database) }
    }

    private func next() -> [Write]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            let writes = Array(state.waiting.prefix(Self.largest))
            state.waiting.removeFirst(writes.count)
            return writes
        }
    }

    private func commit(_ writes: [Write], to database: Database) {
        var effects = WriteEffects()
        // A refusal may come from what another write of this transaction did: it is told when that is durable, too.
        var answers: [@Sendable () -> Void] = []
        do {
            try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
            for write in writes {
                if !write.sharesHouseholds { try effects.saveHouseholds(in: database) }
                try database.cachedStatement(sql: "SAVEPOINT one").execute()
                let before = effects
                do {
                    answers.append(try write.perform(database, &effects))
                } catch {
                    // SQLite itself rolls the whole transaction back when the disk is full.
                    guard database.isInsideTransaction else { throw error }
                    effects = before
                    try database.cachedStatement(sql: "ROLLBACK TO one").execute()
                    answers.append { write.refuse(HubError(database: error)) }
                }
                try database.cachedStatement(sql: "RELEASE one").execute()
            }
            try effects.saveHouseholds(in: database)
            try database.cachedStatement(sql: "COMMIT").execute()
        } catch {
            if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
            let refusal = HubError(database: error is HubError ? DatabaseError(resultCode: .SQLITE_ABORT) : error)
            for write in writes { write.refuse(refusal) }
            return
        }
        announce(effects)
        for answer in answers { answer() }
    }
}
