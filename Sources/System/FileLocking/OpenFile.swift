import CLinux
import Glibc

/// An open file or directory, closed with the value. Its calls block: use them on a thread of their own.
final class OpenFile: Sendable {
    let descriptor: Int32
    /// The given path, for error messages.
    let path: String

    /// Owns the descriptor from now on.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a directory by its path; links in it are followed.
    static func directory(_ path: String) throws -> OpenFile {
        try OpenFile(
            descriptor: checked("open it", path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }, path: path)
    }

    /// Opens a name in a directory. A link is refused, and opening a pipe doesn't block.
    func open(_ name: String, _ flags: Int32 = O_RDONLY, mode: mode_t = 0) throws -> OpenFile {
        let path = path(of: name)
        let all = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        return try OpenFile(
            descriptor: Self.checked("open it", path) { openat(descriptor, name, all, mode) }, path: path)
    }

    func path(of name: String) -> String { path == "." ? name : path.hasSuffix("/") ? path + name : path + "/" + name }

    func status() throws -> FileStatus {
        var status = stat()
        _ = try Self.checked("inspect it", path) { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// The status of a name in this directory, without following links; nil if it doesn't exist.
    func status(of name: String) throws -> FileStatus? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw FileLockingError.system("inspect it", path(of: name), errno)
    }

    /// Reads at an offset until the buffer is full or the end is reached.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        var count = 0
        while count < buffer.count {
            let more = try Self.checked("read it", path) {
                pread(descriptor, buffer.baseAddress! + count, buffer.count - count, off_t(offset) + off_t(count))
            }
            if more == 0 { break }
            count += more
        }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        var count = 0
        while count < bytes.count {
            count += try Self.checked("write it", path) {
                pwrite(descriptor, bytes.baseAddress! + count, bytes.count - count, off_t(offset) + off_t(count))
            }
        }
    }

    /// Reserves space for this many bytes from the start, which makes writing cheaper, and sets the file's length. File
    /// systems without support are ignored: a full disk is then noticed while writing.
    func reserve(_ size: UInt64) throws {
        let result = clinux_reserve(descriptor, Int64(size))
        guard result == ENOSPC || result == EDQUOT || result == EFBIG else { return }
        throw FileLockingError.system("write it", path, result)
    }

    func setSize(_ size: UInt64) throws {
        _ = try Self.checked("write it", path) { ftruncate(descriptor, off_t(size)) }
    }

    /// Returns when everything that was written is on the disk.
    func sync() throws { _ = try Self.checked("write it", path) { fsync(descriptor) } }

    /// For a directory: makes its entries durable. EINVAL, of file systems that can't do it, is ignored.
    func syncEntries() throws {
        guard fsync(descriptor) != 0, errno != EINVAL else { return }
        throw FileLockingError.system("write it", path, errno)
    }

    /// Removes a name from this directory.
    func remove(_ name: String) throws {
        _ = try Self.checked("remove it", path(of: name)) { unlinkat(descriptor, name, 0) }
    }

    /// The names in this directory except "." and ".."; nil for one that is not valid UTF-8.
    func names() throws -> [String?] {
        // Opened again, because duplicates of a descriptor share the position.
        let own = try Self.checked("read it", path) { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(own) else {
            close(own)
            throw FileLockingError.system("read it", path, errno)
        }
        defer { closedir(stream) }
        var names: [String?] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        if errno != 0 { throw FileLockingError.system("read it", path, errno) }
        return names
    }

    /// Repeats a call that a signal interrupted.
    private static func checked<Number: SignedInteger>(
        _ doing: String, _ path: String, _ call: () -> Number
    ) throws -> Number {
        var result = call()
        while result < 0, errno == EINTR { result = call() }
        guard result >= 0 else { throw FileLockingError.system(doing, path, errno) }
        return result
    }
}

struct FileStatus: Sendable {
    /// A time with the file system's precision.
    struct Time: Equatable, Sendable {
        var seconds: Int
        /// 0 to 999,999,999.
        var nanoseconds: Int
    }

    struct Identity: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    var identity: Identity
    /// Size in bytes.
    var size: UInt64
    var kind: mode_t
    /// Permission bits with set-user, set-group and sticky.
    var mode: mode_t
    var links: UInt
    var owner: uid_t
    var group: gid_t
    var modified: Time
    var changed: Time

    init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        size = UInt64(status.st_size)
        kind = status.st_mode & S_IFMT
        mode = status.st_mode & 0o7777
        links = UInt(status.st_nlink)
        owner = status.st_uid
        group = status.st_gid
        modified = Time(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        changed = Time(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
    }

    var isFile: Bool { kind == S_IFREG }
    var isDirectory: Bool { kind == S_IFDIR }

    /// Whether the content and the metadata have not changed since then.
    func isUnchanged(since earlier: FileStatus) -> Bool {
        identity == earlier.identity && size == earlier.size && modified == earlier.modified
            && changed == earlier.changed
    }
}
