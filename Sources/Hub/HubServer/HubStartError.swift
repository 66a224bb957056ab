import Glibc

public enum HubStartError: Error, Equatable, Sendable, CustomStringConvertible {
    case badCertificate(path: String, cause: String)
    case badWebDirectory(path: String, cause: String)
    case socketPathTooLong(String)
    case notASocket(String)
    case inUse(String)

    public var description: String {
        switch self {
        case .badCertificate(let path, let cause): "The certificate or key \(path) can't be used: \(cause)."
        case .badWebDirectory(let path, let cause): "The companion's files in \(path) can't be read: \(cause)."
        case .socketPathTooLong(let path): "The socket's path is longer than 107 bytes: \(path). Use a shorter one."
        case .notASocket(let path): "\(path) exists and is not a socket. Move it away, or use another path."
        case .inUse(let path): "Another process listens on \(path). Stop it first, or use another path."
        }
    }
}

/// The socket that an earlier hub left.
enum StaleSocket {
    /// Removes a socket that no process listens on.
    /// - Throws: `HubStartError` for a path that is too long, isn't a socket, or is in use.
    static func remove(_ path: String) throws {
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else { throw HubStartError.socketPathTooLong(path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw HubStartError.notASocket(path) }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isInUse = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard !isInUse else { throw HubStartError.inUse(path) }
        unlink(path)
    }
}
