import HubAPI

public struct PostgresHubStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A later version of the hub has migrated the database.
        case fromTheFuture
        /// The server isn't running, or refused the connection.
        case unreachable
        /// The connection string is invalid, or its file can't be read.
        case badSettings
        /// The server acknowledges writes before they are on its disk.
        case notDurable
        case refused
    }

    public let code: Code
    /// The message of the server, libpq or the system.
    public let cause: String

    init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// One sentence: what failed and what to do.
    public var description: String {
        switch code {
        case .fromTheFuture: "The database was migrated by a newer applocker-hub; start that version."
        case .unreachable:
            "PostgreSQL can't be reached (\(cause)); start it, or correct the connection string."
        case .badSettings: "The connection settings for PostgreSQL are invalid: \(cause)."
        case .notDurable:
            "PostgreSQL runs with fsync=off and would lose what the hub acknowledged; turn fsync on and restart it."
        case .refused:
            "PostgreSQL refused to create the hub's tables (\(cause)); make the hub's user the owner of its database."
        }
    }
}

/// The error of PostgreSQL or libpq for a statement.
struct PostgresError: Error {
    /// Five characters (PostgreSQL's appendix "Error Codes"); empty if the error isn't from the server.
    var state: String
    var message: String
    /// The connection can't be used any more.
    var isLost: Bool

    static let notConnected = PostgresError(state: "", message: "not connected", isLost: true)

    /// Whether a retry of the same transaction may succeed: it conflicted with another one.
    var isCollision: Bool { ["40001", "40P01", "23505"].contains(state) }

    var isDiskFull: Bool { state == "53100" }

    /// Whether the database is unreachable or full, and the request isn't wrong.
    var isUnavailability: Bool {
        isLost || ["08", "53", "57", "58"].contains(state.prefix(2))
            || ["25006", "55P03", "40001", "40P01"].contains(state)
    }
}

extension HubError {
    /// The error for a caller. PostgreSQL's messages may contain values, so they aren't passed on.
    init(database error: any Error) {
        if let error = error as? HubError {
            self = error
        } else if (error as? PostgresError)?.isDiskFull == true {
            self.init(.unavailable, "The disk of the hub's database is full; its operator has to free some space.")
        } else if error is PostgresHubStoreError || (error as? PostgresError)?.isUnavailability == true {
            self.init(.unavailable, "The hub can't reach its database now; try again in a moment.")
        } else if let error = error as? PostgresError, ["22021", "22P05"].contains(error.state) {
            self.init(.badRequest, "A text has a character that the hub can't store.")
        } else {
            self.init(.failed, "The hub's database rejected the operation; see the database's log.")
        }
    }
}
