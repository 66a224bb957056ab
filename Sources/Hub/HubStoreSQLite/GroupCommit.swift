import GRDB
import HubAPI
import HubStore
import Synchronization

/// What a committed write changes outside the database.
struct WriteEffects {
    /// Reported in this order.
    var changes: [HubChange] = []
    /// Cached tokens may be wrong now.
    var devicesChanged = false
    /// Households whose records were written: numbers and sums that the table doesn't have yet.
    var households: [HubID: SQLiteHubStore.Household] = [:]

    fileprivate mutating func saveHouseholds(in database: Database) throws {
        for household in households.values { try SQLiteHubStore.save(household, in: database) }
        households = [:]
    }
}

/// While one transaction is made durable, gathers the writes that arrive for the next one, on the one writing
/// connection.
///
/// A caller gets its result when the transaction with its write is on disk. Each write has a savepoint of its own, so a
/// refused write doesn't affect the others.
final class GroupCommit: Sendable {
    private struct Write: Sendable {
        /// Whether it uses the households of the writes before it.
        var sharesHouseholds: Bool
        /// - Returns: a closure that resumes the caller, to be called once the write is durable.
        var perform: @Sendable (Database, inout WriteEffects) throws -> @Sendable () -> Void
        var refuse: @Sendable (HubError) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isRunning = false
        var isClosed = false
    }

    /// The most writes in one transaction.
    private static let largest = 512

    private let state = Mutex(State())
    private let pool: DatabasePool
    private let announce: @Sendable (WriteEffects) -> Void

    /// - Parameter announce: called for each transaction once it is durable and before its callers are answered.
    init(pool: DatabasePool, announce: @escaping @Sendable (WriteEffects) -> Void) {
        self.pool = pool
        self.announce = announce
    }

    /// - Parameter sharesHouseholds: the body reads a household from the effects if it is there, and otherwise from the
    ///   table.
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
            let isClosed = state.withLock { state in
                if state.isClosed { return true }
                state.waiting.append(write)
                // Before `close` can set its state and wait for the writes that precede it on the connection.
                if !state.isRunning { pool.asyncWriteWithoutTransaction { [self] in drain($0) } }
                state.isRunning = true
                return false
            }
            if isClosed { write.refuse(.storeIsClosed) }
        }
    }

    /// Refuses new writes, and returns once all accepted ones are durable.
    func close() async throws {
        state.withLock { $0.isClosed = true }
        try await pool.writeWithoutTransaction { _ in }
    }

    /// Writes that wait for the next transactions.
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
        // A refusal may depend on another write of this transaction, so it is returned only when that is durable.
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
                    // SQLite rolls the whole transaction back when the disk is full.
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
