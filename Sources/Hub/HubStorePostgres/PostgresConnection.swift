import CPostgreSQL
import Dispatch
import Foundation

/// One connection of libpq with a queue of its own, because its calls block.
///
/// `@unchecked Sendable`: everything but `perform` is called only on the queue, or before the value is shared.
final class PostgresConnection: @unchecked Sendable {
    private let queue: DispatchQueue
    private let settings: PostgresConnectionSettings
    private var handle: OpaquePointer?
    /// Statements prepared on the server: name by text.
    private var statements: [String: String] = [:]

    init(_ settings: PostgresConnectionSettings, label: String) {
        self.settings = settings
        queue = DispatchQueue(label: label)
    }

    deinit { if let handle { PQfinish(handle) } }

    func perform<Value: Sendable>(
        _ work: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work(self) }) }
        }
    }

    // MARK: On its queue

    var isConnected: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

    /// For poll(2); -1 without a connection.
    var socket: Int32 { handle.map { PQsocket($0) } ?? -1 }

    /// - Throws: `PostgresHubStoreError`.
    func connect() throws {
        disconnect()
        // A server that vanishes is detected within half a minute. The connection string may override this.
        let keywords = [
            "connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
            "fallback_application_name", "client_encoding", "dbname",
        ]
        let opened = try settings.withText { text in
            let values = ["5", "10", "5", "3", "20000", "applocker-hub", "UTF8"]
            return withCStrings(keywords) { names in
                withCStrings(values) { PQconnectdbParams(names + [nil], $0 + [text, nil], 1) }
            }
        }
        guard let opened else { throw PostgresHubStoreError(.unreachable, cause: "out of memory") }
        guard PQstatus(opened) == CONNECTION_OK else {
            let cause = String(cString: PQerrorMessage(opened))
            PQfinish(opened)
            throw PostgresHubStoreError(.unreachable, cause: cause)
        }
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        handle = opened
        do {
            try prepareSession()
        } catch let error as PostgresError {
            disconnect()
            throw PostgresHubStoreError(.unreachable, cause: error.message)
        }
    }

    private func prepareSession() throws {
        // Durable whatever the server's default is or becomes: the session has its own value. Every query has an
        // index, but without statistics, as for a table that was empty a moment ago, the planner would still scan
        // whole tables.
        let row = try query(
            """
            SELECT current_setting('fsync') = 'on',
                set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
                    THEN 'on' ELSE current_setting('synchronous_commit') END, false),
                set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
                set_config('enable_mergejoin', 'off', false), set_config('jit', 'off', false),
                set_config('idle_in_transaction_session_timeout', '30s', false)
            """
        ).first
        guard row?.flag(0) == true else {
            disconnect()
            throw PostgresHubStoreError(.notDurable)
        }
    }

    func disconnect() {
        if let handle { PQfinish(handle) }
        handle = nil
        statements = [:]
    }

    /// Runs a statement, and prepares it at its first use. Values are always parameters.
    /// - Throws: `PostgresError`.
    @discardableResult
    func query(_ text: String, _ values: [PostgresValue] = []) throws -> PostgresRows {
        guard let handle else { throw PostgresError.notConnected }
        let name = try prepared(text, handle)
        var buffer: [UInt8] = []
        buffer.reserveCapacity(256)
        var places: [(offset: Int, length: Int)?] = []
        for value in values {
            let offset = buffer.count
            places.append(value.append(to: &buffer) ? (offset, buffer.count - offset) : nil)
        }
        buffer.append(0)
        let result = buffer.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                PQexecPrepared(
                    handle, name, Int32(values.count), places.map { $0.map { bytes.baseAddress! + $0.offset } },
                    places.map { Int32($0?.length ?? 0) }, places.map { _ in 1 }, 1)
            }
        }
        return try checked(result, handle)
    }

    /// Runs ROLLBACK and the like, and several statements of a migration at once; without values.
    @discardableResult
    func command(_ text: String) throws -> PostgresRows {
        guard let handle else { throw PostgresError.notConnected }
        return try checked(PQexec(handle, text), handle)
    }

    /// The database may have another default. The statements after a lock have to see what was committed before it.
    func begin() throws { try command("BEGIN ISOLATION LEVEL READ COMMITTED") }

    /// The tag has to be "COMMIT": for a failed transaction, COMMIT returns "ROLLBACK".
    func commit() throws {
        guard let handle else { throw PostgresError.notConnected }
        let result = PQexec(handle, "COMMIT")
        let tag = result.map { String(cString: PQcmdStatus($0)) }
        _ = try checked(result, handle)
        guard tag == "COMMIT" else { throw PostgresError(state: "25P02", message: "rolled back", isLost: false) }
    }

    /// Ends a failed transaction. If that fails, the connection is closed.
    func rollBack() {
        guard let handle else { return }
        guard PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
        if (try? command("ROLLBACK")) == nil { disconnect() }
    }

    /// The notifications that LISTEN received meanwhile.
    /// - Throws: `PostgresError` if the connection is lost.
    func notifications() throws -> [String] {
        guard let handle, PQconsumeInput(handle) == 1 else { throw PostgresError.notConnected }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }

    // MARK: Pieces

    private func prepared(_ text: String, _ handle: OpaquePointer) throws -> String {
        if let name = statements[text] { return name }
        let name = "s\(statements.count)"
        _ = try checked(PQprepare(handle, name, text, 0, nil), handle)
        statements[text] = name
        return name
    }

    private func checked(_ result: OpaquePointer?, _ handle: OpaquePointer) throws -> PostgresRows {
        guard let result else {
            let message = String(cString: PQerrorMessage(handle))
            disconnect()
            throw PostgresError(state: "", message: message, isLost: true)
        }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: return PostgresRows(result)
        default:
            let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
            let message = String(cString: PQresultErrorMessage(result))
            PQclear(result)
            // libpq's own errors have no code: the server closed the connection, or sent an invalid response.
            let isLost = PQstatus(handle) != CONNECTION_OK || state.isEmpty || state.hasPrefix("57P")
            if isLost { disconnect() }
            throw PostgresError(state: state, message: message, isLost: isLost)
        }
    }
}

private func withCStrings<Value>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Value) -> Value {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) })
}
