import Foundation
import HubAPI
import HubStore
import Synchronization

/// A fixed number of connections, each with its own thread. While the server is unreachable, calls are refused at once,
/// with an attempt to reconnect now and then.
final class PostgresPool: Sendable {
    private struct State {
        var idle: [PostgresConnection]
        var waiting: [CheckedContinuation<PostgresConnection, any Error>] = []
        var isClosed = false
    }

    /// The most callers that wait for a connection.
    private static let longestQueue = 10_000

    private let state: Mutex<State>
    private let size: Int
    private let absence: PostgresAbsence

    init(_ settings: PostgresConnectionSettings, size: Int, absence: PostgresAbsence) {
        self.size = size
        self.absence = absence
        state = Mutex(
            State(idle: (0..<size).map { PostgresConnection(settings, label: "postgres \($0)") }))
    }

    /// Runs one transaction. It is retried if it certainly wasn't committed, and failed by a conflict or a lost
    /// connection.
    /// - Throws: `HubError`.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await perform { connection in
            var mayBeCommitted = false
            return try Self.retrying(connection, while: { !mayBeCommitted }) {
                try connection.begin()
                let value = try body(connection)
                mayBeCommitted = true
                try connection.commit()
                return value
            }
        }
    }

    /// Runs read-only statements, each in a snapshot of its own.
    /// - Throws: `HubError`.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await perform { connection in
            try Self.retrying(connection, while: { true }) { try body(connection) }
        }
    }

    private static func retrying<Value>(
        _ connection: PostgresConnection, while isHarmless: () -> Bool, _ body: () throws -> Value
    ) throws -> Value {
        var triesLeft = 3
        while true {
            do {
                return try body()
            } catch {
                connection.rollBack()
                triesLeft -= 1
                guard let refusal = error as? PostgresError, triesLeft > 0 else { throw error }
                // The server has rolled a conflicting transaction back, even if COMMIT found the conflict.
                guard refusal.isCollision || (refusal.isLost && isHarmless()) else { throw error }
                if refusal.isLost { try connection.connect() }
            }
        }
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        let connection = try await acquire()
        do {
            let value = try await connection.perform { [absence] connection in
                if !connection.isConnected {
                    try absence.mayTry()
                    do { try connection.connect() } catch {
                        absence.failed()
                        throw error
                    }
                }
                let value = try body(connection)
                // One connection has reached the server; the others need not wait any longer.
                absence.ended()
                return value
            }
            release(connection)
            return value
        } catch {
            release(connection)
            throw HubError(database: error)
        }
    }

    private func acquire() async throws -> PostgresConnection {
        try await withCheckedThrowingContinuation { continuation in
            let outcome: Result<PostgresConnection, HubError>? = state.withLock { state in
                if state.isClosed { return .failure(.storeIsClosed) }
                if let connection = state.idle.popLast() { return .success(connection) }
                if state.waiting.count >= Self.longestQueue {
                    return .failure(HubError(.unavailable, "The hub's database is too busy; try again in a moment."))
                }
                state.waiting.append(continuation)
                return nil
            }
            switch outcome {
            case .success(let connection)?: continuation.resume(returning: connection)
            case .failure(let error)?: continuation.resume(throwing: error)
            case nil: break
            }
        }
    }

    private func release(_ connection: PostgresConnection) {
        let next = state.withLock { state -> CheckedContinuation<PostgresConnection, any Error>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.idle.append(connection)
            return nil
        }
        next?.resume(returning: connection)
    }

    /// Refuses new calls, and returns once all begun ones have ended and every connection is closed.
    func close() async throws {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(throwing: HubError.storeIsClosed) }
        var closed = 0
        while closed < size {
            guard let connection = state.withLock({ $0.idle.popLast() }) else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            try await connection.perform { $0.disconnect() }
            closed += 1
        }
    }
}

/// The pause between attempts to reach the server, with jitter, so that several hubs don't reconnect at the same time.
final class PostgresAbsence: Sendable {
    private struct State {
        var backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))
        var next: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// - Throws: `unavailable` before the time of the next attempt.
    func mayTry() throws {
        let isTooEarly = state.withLock { state in state.next.map { $0 > .now } ?? false }
        if isTooEarly { throw PostgresError.notConnected }
    }

    func failed() {
        _ = delayAfterFailure()
    }

    /// - Returns: how long to wait before the next attempt.
    func delayAfterFailure() -> Duration {
        state.withLock { state in
            let delay = state.backoff.next()
            state.next = .now + delay
            return delay
        }
    }

    func ended() { state.withLock { $0 = State() } }
}
