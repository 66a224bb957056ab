import CPostgreSQL
import Glibc

/// How to reach the database. A password is never an argument: it is read from a file, or from the password file or the
/// service file of libpq (PGPASSFILE, PGSERVICEFILE), or there is none.
public struct PostgresConnectionSettings: Sendable {
    private enum Source {
        case text(String)
        case file(String)
    }

    private let source: Source

    /// The settings of libpq's environment (PGHOST, PGDATABASE, PGUSER, PGSERVICE, PGPASSFILE, …).
    public static let environment = PostgresConnectionSettings(source: .text(""))

    /// A connection string or URI of libpq in a file that only its owner may read. Each connection reads it again, so a
    /// changed password needs no restart.
    public static func file(_ path: String) -> PostgresConnectionSettings {
        PostgresConnectionSettings(source: .file(path))
    }

    /// - Parameter text: a connection string or URI of libpq without a password.
    /// - Throws: `PostgresHubStoreError` if it has a password or is invalid.
    public init(_ text: String) throws {
        source = .text(text)
        try text.withCString { try Self.check($0, mayHavePassword: false) }
    }

    private init(source: Source) { self.source = source }

    /// Calls the body with the connection string, which is overwritten afterwards.
    /// - Throws: `PostgresHubStoreError`, and what the body throws.
    func withText<Value>(_ body: (UnsafePointer<CChar>) throws -> Value) throws -> Value {
        switch source {
        case .text(let text): return try text.withCString(body)
        case .file(let path):
            var buffer = [CChar](repeating: 0, count: 4_097)
            defer { buffer.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) } }
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw Self.refused("can't be opened", path, String(cString: strerror(errno))) }
            defer { close(file) }
            var status = stat()
            guard fstat(file, &status) == 0, status.st_mode & 0o077 == 0 else {
                throw Self.refused("can be read by others; run chmod 0600", path)
            }
            let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress!, $0.count - 1) }
            guard count >= 0, count < buffer.count - 1 else { throw Self.refused("is too long", path) }
            // One line, without the line break that editors append.
            var end = count
            while end > 0, [9, 10, 13, 32].contains(buffer[end - 1]) { end -= 1 }
            buffer[end] = 0
            return try buffer.withUnsafeBufferPointer { bytes in
                try Self.check(bytes.baseAddress!, mayHavePassword: true)
                return try body(bytes.baseAddress!)
            }
        }
    }

    private static func check(_ text: UnsafePointer<CChar>, mayHavePassword: Bool) throws {
        var message: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(text, &message)
        defer {
            PQconninfoFree(options)
            PQfreemem(message)
        }
        // libpq's message quotes the string, which may contain a password.
        guard var option = options else {
            throw PostgresHubStoreError(.badSettings, cause: "it is not a connection string of libpq")
        }
        while let keyword = option.pointee.keyword {
            if !mayHavePassword, strcmp(keyword, "password") == 0, option.pointee.val != nil {
                throw PostgresHubStoreError(
                    .badSettings, cause: "put the password into a file, which other users can't read")
            }
            option += 1
        }
    }

    private static func refused(_ what: String, _ path: String, _ cause: String? = nil) -> PostgresHubStoreError {
        PostgresHubStoreError(.badSettings, cause: "\(path) \(what)" + (cause.map { " (\($0))" } ?? ""))
    }
}
