import Glibc

/// Read-only view of a machine's files. Every path given and returned is absolute and as the machine itself sees it;
/// `root` goes in front when a tree that is not "/" is looked at. Symbolic links are resolved inside that root, so a
/// link never leads out of it. Nothing here starts a process or blocks on a FIFO or a device.
struct HostFiles: Sendable {
    let root: String

    /// Links followed before a path counts as a loop; the kernel's own limit (path_resolution(7)).
    private static let linkLimit = 40

    enum ReadFailure: Error, Equatable {
        case missing
        case notRegular
        case tooLarge
        case failed(errno: Int32)
    }

    /// The file itself, a symbolic link not followed. Nil when there is none.
    func status(_ path: String) -> FileStatus? {
        var raw = stat()
        return lstat(root + path, &raw) == 0 ? FileStatus(raw) : nil
    }

    /// The file that `path` leads to in the end, with its real path. Nil for nothing, a dangling link or a loop.
    func resolve(_ path: String) -> (path: String, status: FileStatus)? {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0), path.utf8.count < Int(PATH_MAX) else {
            return nil
        }
        var pending = path.split(separator: "/").reversed().map(String.init)
        var resolved = ""
        var links = 0
        var last = FileStatus.Kind.directory
        var lastStatus = status("/")
        while let component = pending.popLast() {
            guard last == .directory else { return nil }
            if component == "." { continue }
            if component == ".." {
                resolved = Self.directory(of: resolved)
                if resolved == "/" { resolved = "" }
                lastStatus = status(resolved.isEmpty ? "/" : resolved)
                continue
            }
            let candidate = resolved + "/" + component
            guard let found = status(candidate) else { return nil }
            if found.kind == .link {
                links += 1
                guard links <= Self.linkLimit, let target = link(candidate), !target.isEmpty else { return nil }
                if target.hasPrefix("/") {
                    resolved = ""
                    lastStatus = status("/")
                }
                pending.append(contentsOf: target.split(separator: "/").reversed().map(String.init))
                last = .directory
                continue
            }
            resolved = candidate
            last = found.kind
            lastStatus = found
        }
        guard let lastStatus else { return nil }
        return (resolved.isEmpty ? "/" : resolved, lastStatus)
    }

    func isDirectory(_ path: String) -> Bool { resolve(path)?.status.kind == .directory }

    /// The real path of a regular file, nil for anything else.
    func regularFile(_ path: String) -> (path: String, status: FileStatus)? {
        guard let found = resolve(path), found.status.kind == .regular else { return nil }
        return found
    }

    private func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes {
            readlink(root + path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
        }
        guard count > 0 else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    /// The whole file. - Throws: ReadFailure; `.tooLarge` when it has more than `limit` bytes.
    func read(_ path: String, limit: Int) throws(ReadFailure) -> [UInt8] {
        let bytes = try head(path, count: limit + 1)
        guard bytes.count <= limit else { throw .tooLarge }
        return bytes
    }

    /// At most the first `count` bytes of a regular file.
    func head(_ path: String, count: Int) throws(ReadFailure) -> [UInt8] {
        guard let real = resolve(path) else { throw .missing }
        guard real.status.kind == .regular else { throw .notRegular }
        return try head(ofReal: real.path, count: count)
    }

    /// The same for a path that ``resolve(_:)`` has given.
    func head(ofReal path: String, count: Int) throws(ReadFailure) -> [UInt8] {
        let descriptor = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        guard descriptor >= 0 else { throw errno == ENOENT ? .missing : .failed(errno: errno) }
        defer { close(descriptor) }
        var raw = stat()
        guard fstat(descriptor, &raw) == 0 else { throw .failed(errno: errno) }
        guard raw.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        var failure: Int32 = 0
        let capacity = min(count, max(Int(raw.st_size), 4096))
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
            while filled < capacity {
                let got = Glibc.read(descriptor, buffer.baseAddress! + filled, capacity - filled)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { break }
                filled += got
            }
        }
        guard failure == 0 else { throw .failed(errno: failure) }
        return bytes
    }

    /// The names in a directory, sorted; empty when it can't be read. Names that are not UTF-8 are left out.
    func names(in directory: String) -> [String] {
        guard let stream = opendir(root + directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        let nameOffset = MemoryLayout<dirent>.offset(of: \dirent.d_name)!
        while let entry = readdir(stream) {
            let start = UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
            guard let name = String(validatingCString: start), name != ".", name != ".." else { continue }
            names.append(name)
        }
        return names.sorted()
    }

    /// "/usr/bin" of "/usr/bin/foo", "/" of "/foo" and of "/".
    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// "foo" of "/usr/bin/foo".
    static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// Whether `path` is `directory` or below it.
    static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || directory == "/" || path.hasPrefix(directory + "/")
    }
}
