import Glibc

/// Which file a name leads to, whatever the name: the pair that hard links, symbolic links and bind mounts of one file
/// share (`st_dev` and `st_ino` of stat(2)).
public struct FileIdentity: Hashable, Sendable {
    public let device: UInt64
    public let inode: UInt64

    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The fields of stat(2) that the catalog needs.
struct FileStatus {
    enum Kind { case regular, directory, link, other }

    let identity: FileIdentity
    let kind: Kind
    /// Whether owner, group or others may execute it.
    let isExecutable: Bool
    let isReadableByAll: Bool
    let isOwnedByRoot: Bool
    /// Changes whenever the file does: modification time in seconds and nanoseconds.
    let modified: [Int]

    init(_ raw: stat) {
        identity = FileIdentity(device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino))
        switch raw.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        default: kind = .other
        }
        isExecutable = raw.st_mode & 0o111 != 0
        isReadableByAll = raw.st_mode & 0o004 != 0
        isOwnedByRoot = raw.st_uid == 0
        modified = [raw.st_mtim.tv_sec, raw.st_mtim.tv_nsec]
    }
}
