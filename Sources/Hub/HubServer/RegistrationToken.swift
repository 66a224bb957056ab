import Foundation
import Glibc
import HubAPI

/// The token for founding a household on a hub that isn't open to all: a file that only the operator can read.
public enum RegistrationToken {
    /// Reads the token, or creates one of 24 random bytes at the first start.
    ///
    /// - Parameter creates: whether to create a missing one.
    /// - Throws: `RegistrationTokenError` if other users can access the file or it can't be written.
    public static func load(path: String, creates: Bool = true) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            guard errno == ENOENT else { throw failure(path) }
            guard creates else { throw RegistrationTokenError.absent(path) }
            return try create(path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & 0o077 == 0, status.st_uid == getuid() else {
            throw RegistrationTokenError.unsafe(path)
        }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count >= 16 else { throw RegistrationTokenError.tooShort(path) }
        return text
    }

    private static func create(_ path: String) throws -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<24).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let token = Base64URL.encode(Data(bytes))
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        let text = Array((token + "\n").utf8)
        guard write(file, text, text.count) == text.count, fsync(file) == 0 else { throw failure(path) }
        return token
    }

    private static func failure(_ path: String) -> RegistrationTokenError {
        .unusable(path: path, cause: String(cString: strerror(errno)))
    }
}

public enum RegistrationTokenError: Error, Equatable, Sendable, CustomStringConvertible {
    case unsafe(String)
    case absent(String)
    case tooShort(String)
    case unusable(path: String, cause: String)

    public var description: String {
        switch self {
        case .absent(let path):
            "\(path) doesn't exist: the hub has not been started there yet, or anybody may found a household at it."
        case .unsafe(let path):
            "\(path) can be read by others, or belongs to another user: its token may be known. Remove it, and start again."
        case .tooShort(let path):
            "\(path) has fewer than 16 characters. Remove it, and start again: a new one is created."
        case .unusable(let path, let cause): "\(path) can't be used: \(cause)."
        }
    }
}
