import CLinux
import Glibc

/// An open file or directory, closed with the value. Its calls block: they belong on a thread of their own.
final class OpenFile: Sendable {
    let descriptor: Int32
    /// As it was named, for sentences.
    let path: String

    /// Takes over a descriptor.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a directory by its path, links in it followed.
    static func directory(_ path: String) throws -> OpenFile {
        try OpenFile(
            descriptor: checked("open", path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }, path: path)
    }

    /// Opens a name in a directory; a link is refused, a pipe is not waited for.
    func open(_ name: String, _ flags: Int32 = O_RDONLY, mode: mode_t = 0) throws -> OpenFile {
        let path = path(of: name)
        let all = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        return try OpenFile(
            descriptor: Self.checked("open", path) { openat(descriptor, name, all, mode) }, path: path)
    }

    func path(of name: String) -> String { path == "." ? name : path.hasSuffix("/") ? path + name : path + "/" + name }

    func status() throws -> FileStatus {
        var status = stat()
        _ = try Self.checked("look at", path) { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Of a name in this directory, links not followed; nil where there is none.
    func status(of name: String) throws -> FileStatus? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw FileLockingError.system("look at", path(of: name), errno)
    }

    /// Reads until the buffer is full or the end is reached; moves the position.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var count = 0
        while count < buffer.count {
            let more = try Self.checked("read", path) {
                Glibc.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
            }
            if more == 0 { break }
            count += more
        }
        return count
    }

    /// Reads at a place until the buffer is full or the end is reached.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
        var count = 0
        while count < buffer.count {
            let more = try Self.checked("read", path) {
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
            count += try Self.checked("write", path) {
                pwrite(descriptor, bytes.baseAddress! + count, bytes.count - count, off_t(offset) + off_t(count))
            }
        }
    }

    /// Takes room on the disk for this many bytes from the start, which makes writing them cheaper, and makes the file that
    /// long. File systems that can't are left to find out while writing.
    func reserve(_ size: UInt64) throws {
        let result = clinux_reserve(descriptor, Int64(size))
        guard result == ENOSPC || result == EDQUOT || result == EFBIG else { return }
        throw FileLockingError.system("write", path, result)
    }

    func setSize(_ size: UInt64) throws { _ = try Self.checked("write", path) { ftruncate(descriptor, off_t(size)) } }

    /// Waits until what was written is on the disk.
    func sync() throws { _ = try Self.checked("write", path) { fsync(descriptor) } }

    /// For a directory: its entries are on the disk afterwards. File systems that can't say so (EINVAL) are believed.
    func syncEntries() throws {
        guard fsync(descriptor) != 0, errno != EINVAL else { return }
        throw FileLockingError.system("write", path, errno)
    }

    /// Removes a name from this directory.
    func remove(_ name: String) throws {
        _ = try Self.checked("remove", path(of: name)) { unlinkat(descriptor, name, 0) }
    }

    /// The names in this directory but "." and ".."; nil for one that is not valid UTF-8.
    func names() throws -> [String?] {
        // Opened anew: the position of a directory is shared by its duplicates.
        let own = try Self.checked("read", path) { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let stream = fdopendir(own) else {
            close(own)
            throw FileLockingError.system("read", path, errno)
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
        if errno != 0 { throw FileLockingError.system("read", path, errno) }
        return names
    }

    /// Repeats what a signal interrupted.
    private static func checked<Number: SignedInteger>(
        _ doing: String, _ path: String, _ call: () -> Number
    ) throws -> Number {
        var result = call()
        while result < 0, errno == EINTR { result = call() }
        guard result >= 0 else { throw FileLockingError.system(doing, path, errno) }
        return result
    }
}

/// What is known of a file without reading it.
struct FileStatus: Sendable {
    /// A point of time as the file system has it.
    struct Time: Equatable, Sendable {
        var seconds: Int
        /// 0 to 999,999,999.
        var nanoseconds: Int
    }

    /// Which file it is.
    struct Identity: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    var identity: Identity
    /// In bytes.
    var size: UInt64
    /// Of 512 bytes.
    var blocks: Int
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
        blocks = Int(status.st_blocks)
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

    /// Whether nothing was written to the file and nothing about it was set in between.
    func isUnchanged(since earlier: FileStatus) -> Bool {
        identity == earlier.identity && size == earlier.size && modified == earlier.modified
            && changed == earlier.changed
    }

    /// In words, for what is no file.
    var kindInWords: String {
        switch kind {
        case S_IFLNK: "a symbolic link"
        case S_IFSOCK: "a socket"
        case S_IFIFO: "a pipe"
        case S_IFCHR, S_IFBLK: "a device"
        case S_IFDIR: "a folder"
        default: "no file"
        }
    }
}
