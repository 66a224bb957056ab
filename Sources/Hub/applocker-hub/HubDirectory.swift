import Foundation
import Glibc

struct HubDirectory {
    let path: String

    /// Creates it if it is absent, with mode 0700.
    /// - Throws: `HubDirectoryError` if other users may access it, or another user owns it.
    init(path: String) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw HubDirectoryError.unusable(path: path, cause: String(cString: strerror(errno)))
        }
        try self.init(existing: path)
    }

    /// - Parameter becomesOwner: root becomes the directory's owner for the rest of the process: what root wrote there, the
    ///   hub could not read, and what the hub's user put there must not lead root elsewhere.
    /// - Throws: as `init(path:)`, also if it is absent.
    init(existing path: String, becomesOwner: Bool = false) throws {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw HubDirectoryError.unusable(path: path, cause: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw HubDirectoryError.unusable(path: path, cause: "it is not a directory")
        }
        if becomesOwner, geteuid() == 0, status.st_uid != 0 {
            guard setgroups(0, nil) == 0, setgid(status.st_gid) == 0, setuid(status.st_uid) == 0 else {
                throw HubDirectoryError.foreign(path: path)
            }
        }
        guard status.st_uid == geteuid() else { throw HubDirectoryError.foreign(path: path) }
        guard status.st_mode & 0o077 == 0 else {
            throw HubDirectoryError.open(path: path, mode: String(status.st_mode & 0o7777, radix: 8))
        }
    }

    var database: String { path + "/hub.sqlite" }
    var blobs: String { path + "/blobs" }
    var registrationToken: String { path + "/registration-token" }
    /// The hub's address as phones open it, of the last `applocker-hub invite --address`.
    var address: String { path + "/address" }
}

/// Why a state directory is not used.
enum HubDirectoryError: Error, CustomStringConvertible {
    case unusable(path: String, cause: String)
    case foreign(path: String)
    case open(path: String, mode: String)

    var description: String {
        switch self {
        case .unusable(let path, let cause): "The directory \(path) can't be used: \(cause)."
        case .foreign(let path):
            "The directory \(path) is another user's. Start the hub as that user, or use another one."
        case .open(let path, let mode):
            "Others may enter \(path) (its mode is \(mode)). Close it with: chmod 700 \(path)"
        }
    }
}
