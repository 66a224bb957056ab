import WireProtocol

/// Why the hub's database could not be opened.
public struct PostgresHubStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// A later version of the hub has brought the database up to its own date.
        case fromTheFuture
        /// The server is not there, or refused the connection.
        case unreachable
        /// The connection string, or the file that it is in.
        case badSettings
        /// The server acknowledges what is not on its disk.
        case notDurable
        /// The server refused what makes the tables.
        case refused
    }

    public let code: Code
    /// What the server, libpq or the system said.
    public let cause: String

    init(_ code: Code, cause: String = "") {
        self.code = code
        self.cause = cause.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// One sentence: what was wrong and what to do.
    public var description: String {
        switch code {
        case .fromTheFuture: "The database was brought up to date by a newer applocker-hub; start that version."
        case .unreachable:
            "PostgreSQL can't be reached (\(cause)); start it, or correct the connection string."
        case .badSettings: "The connection to PostgreSQL is not described well: \(cause)."
        case .notDurable:
            "PostgreSQL runs with fsync=off and would lose what the hub acknowledged; turn fsync on and restart it."
        case .refused:
            "PostgreSQL refused to make the hub's tables (\(cause)); let the hub's user own its database."
        }
    }
}

/// What PostgreSQL or libpq answered to a statement.
struct PostgresError: Error {
    /// Five characters (PostgreSQL's appendix "Error Codes"); empty where the server said nothing.
    var state: String
    var message: String
    /// The connection can't be used any more.
    var isLost: Bool

    static let notConnected = PostgresError(state: "", message: "not connected", isLost: true)

    /// Whether the same transaction may succeed when it is tried once more: another one was in its way.
    var isCollision: Bool { ["40001", "40P01", "23505"].contains(state) }

    /// Whether the database is away or full, and what is asked for is not wrong.
    var isUnavailability: Bool {
        isLost || ["08", "53", "57", "58"].contains(state.prefix(2))
            || ["25006", "55P03", "40001", "40P01"].contains(state)
    }
}

extension HubError {
    /// What a caller is told. PostgreSQL's words may hold values, so they go no further.
    init(database error: any Error) {
        if let error = error as? HubError {
            self = error
        } else if error is PostgresHubStoreError || (error as? PostgresError)?.isUnavailability == true {
            self.init(.unavailable, "The hub can't reach its database now; try again in a moment.")
        } else if let error = error as? PostgresError, ["22021", "22P05"].contains(error.state) {
            self.init(.badRequest, "A text has a character that the hub can't store.")
        } else {
            self.init(.failed, "The hub's database refused this; its operator finds more in the database's log.")
        }
    }
}
