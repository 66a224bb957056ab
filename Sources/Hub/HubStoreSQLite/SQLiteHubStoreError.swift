import GRDB
import HubAPI

public struct SQLiteHubStoreError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The file was written by a later version.
        case fromTheFuture
        case inUse
        case damaged
        /// The disk is full, or the file may not be opened.
        case unavailable
    }

    public let code: Code
    public let path: String
    /// The message of the system or SQLite.
    public let cause: String

    init(_ code: Code, path: String, cause: String = "") {
        self.code = code
        self.path = path
        self.cause = cause
    }

    init(_ error: any Error, path: String) {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL?, .SQLITE_IOERR?, .SQLITE_CANTOPEN?, .SQLITE_BUSY?, .SQLITE_PERM?, .SQLITE_READONLY?:
            self.init(.unavailable, path: path, cause: "\(error)")
        default: self.init(.damaged, path: path, cause: "\(error)")
        }
    }

    /// One sentence: what failed and what to do.
    public var description: String {
        switch code {
        case .fromTheFuture: "\(path) was written by a newer applocker-hub; start that version."
        case .inUse: "Another applocker-hub has \(path) open; stop it first, or use another directory."
        case .damaged:
            "\(path) can't be read (\(cause)); restore it from a backup, or move it away to start with a new one."
        case .unavailable:
            "\(path) can't be opened (\(cause)); check the disk's space and the file's permissions, and try again."
        }
    }
}

extension HubError {
    /// The error for a caller. SQLite's own error may contain values, so it isn't passed on.
    init(database error: any Error) {
        if let error = error as? HubError {
            self = error
            return
        }
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_FULL?:
            self.init(.unavailable, "The hub's disk is full; its operator has to free some space.")
        case .SQLITE_CORRUPT?, .SQLITE_NOTADB?:
            self.init(.failed, "The hub's database is damaged; its operator has to restore it from a backup.")
        case .SQLITE_IOERR?, .SQLITE_BUSY?, .SQLITE_LOCKED?, .SQLITE_CANTOPEN?, .SQLITE_READONLY?, .SQLITE_NOMEM?,
            .SQLITE_MISUSE?, .SQLITE_ABORT?, .SQLITE_INTERRUPT?:
            self.init(.unavailable, "The hub can't use its database now; try again in a moment.")
        default: self.init(.failed, "The hub's database rejected the operation; see the hub's log.")
        }
    }
}
