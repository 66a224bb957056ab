import BlockingThread
import Glibc

/// A file that was found, and its folder, which must be the same when the file is opened.
public struct SelectedFile: Sendable {
    public let path: String
    /// Size of the content in bytes when it was found.
    public let size: UInt64
    let directory: String
    let name: String
    let directoryIdentity: FileStatus.Identity
}

/// The files at the given paths, including everything below folders.
public struct FileSelection: Sendable {
    public enum Purpose: Sendable { case lock, unlock }

    public struct Options: Sendable {
        public var purpose: Purpose
        /// Whether to enter folders on which other file systems are mounted.
        public var crossesFileSystems = false
        /// A folder in which nothing is locked: AppLocker's own.
        public var protectedFolder: String?

        public init(purpose: Purpose) { self.purpose = purpose }
    }

    /// A file or folder that was found and is skipped.
    public struct Skipped: Sendable {
        public let path: String
        public let sentence: String
        /// Whether the request is thereby incomplete.
        public let isFailure: Bool
    }

    public private(set) var files: [SelectedFile] = []
    public private(set) var skipped: [Skipped] = []

    /// The size of all files in bytes.
    public var size: UInt64 { files.reduce(0) { $0 &+ $1.size } }

    private let options: Options
    private var protected: FileStatus.Identity?
    private var swept: Set<FileStatus.Identity> = []
    private var chosen: Set<Entry> = []

    private struct Entry: Hashable {
        let folder: FileStatus.Identity
        let name: String
    }

    /// Finds the files, following no links, and removes what killed runs left in the folders that it visits.
    /// - Throws: `CancellationError`. A path that can't be used is reported in `skipped`.
    public static func find(_ paths: [String], _ options: Options) async throws -> FileSelection {
        try await runBlocking { cancellation in
            var selection = FileSelection(options)
            for path in paths {
                do {
                    try selection.add(path, cancellation)
                } catch let error as FileLockingError {
                    selection.skip(path, error.sentence)
                }
            }
            return selection
        }
    }

    private init(_ options: Options) {
        self.options = options
        protected = options.protectedFolder.flatMap { try? OpenFile.directory($0).status().identity }
    }

    private mutating func skip(_ path: String, _ sentence: String, isFailure: Bool = true) {
        skipped.append(Skipped(path: path, sentence: sentence, isFailure: isFailure))
    }

    private mutating func add(_ argument: String, _ cancellation: Cancellation) throws {
        var path = argument
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, !path.contains("\0") else {
            throw FileLockingError(.notFound, "The path is empty. Enter the path of a file or folder.")
        }
        var status = stat()
        let exists = lstat(path, &status) == 0
        let number = errno
        if options.purpose == .unlock, !path.hasSuffix(FileLocker.suffix),
            !exists || status.st_mode & S_IFMT != S_IFDIR,
            access(path + FileLocker.suffix, F_OK) == 0
        {
            return try add(path + FileLocker.suffix, cancellation)
        }
        guard exists else { throw FileLockingError.system("open it", path, number) }
        if status.st_mode & S_IFMT == S_IFDIR {
            if options.purpose == .lock { try checkFolder(path) }
            return try descend(into: path, FileStatus(status), cancellation)
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        let name = String(parts.last ?? "")
        let parent = String(path.dropLast(name.count))
        let directory = try OpenFile.directory(parent.isEmpty ? "." : parent)
        try addItem(name, in: directory, isNamed: true)
    }

    /// Refuses folders that the computer needs to start, which somebody could name by mistake.
    private func checkFolder(_ path: String) throws {
        let system = [
            "/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/usr",
            "/var", "/home",
        ]
        guard let resolved = realpath(path, nil) else { throw FileLockingError.system("open it", path, errno) }
        defer { free(resolved) }
        guard !system.contains(String(cString: resolved)) else {
            throw FileLockingError(
                .notAllowed,
                "\(path) is a folder that this computer needs; name the folders inside to lock.")
        }
    }

    /// Visits a folder and all below it, without recursion: a path has at most 4,096 bytes, which can be thousands of
    /// folders.
    private mutating func descend(into path: String, _ status: FileStatus, _ cancellation: Cancellation) throws {
        var waiting = [(path: path, identity: status.identity)]
        while let next = waiting.popLast() {
            try cancellation.check()
            do {
                let directory = try OpenFile.directory(next.path)
                guard try directory.status().identity == next.identity else {
                    throw FileInspection.changedMeanwhile(next.path)
                }
                if next.identity == protected {
                    skip(next.path, "\(next.path) is AppLocker's own folder and is skipped.", isFailure: false)
                    continue
                }
                for name in try directory.names().sorted(by: { ($0 ?? "") < ($1 ?? "") }) {
                    guard let name else {
                        skip(next.path, "\(next.path) has a file whose name is not valid UTF-8; rename it first.")
                        continue
                    }
                    guard let found = try directory.status(of: name) else { continue }
                    guard found.isDirectory else {
                        try addItem(name, in: directory, isNamed: false)
                        continue
                    }
                    let path = directory.path(of: name)
                    if found.identity.device != status.identity.device, !options.crossesFileSystems {
                        skip(
                            path,
                            "\(path) is another file system and is skipped; name it itself to include it.",
                            isFailure: false)
                    } else {
                        waiting.append((path, found.identity))
                    }
                }
            } catch let error as FileLockingError {
                skip(next.path, error.sentence)
            }
        }
    }

    private mutating func addItem(_ name: String, in directory: OpenFile, isNamed: Bool) throws {
        let path = directory.path(of: name)
        let folder = try directory.status().identity
        if swept.insert(folder).inserted { TemporaryFile.sweep(directory) }
        guard folder != protected else {
            throw FileLockingError(.notAllowed, "\(path) is a file of AppLocker itself; it can't be locked.")
        }
        // Just removed by the cleanup, or being written by another run.
        if !isNamed, TemporaryFile.isName(name) { return }
        guard let status = try directory.status(of: name) else { return }
        if !isNamed {
            let isLocked = name.hasSuffix(FileLocker.suffix)
            guard isLocked == (options.purpose == .unlock) else { return }
            guard status.isFile else {
                skip(path, Self.skipping(status, path), isFailure: false)
                return
            }
        }
        // Named twice, or beside a folder that contains it.
        guard chosen.insert(Entry(folder: folder, name: name)).inserted else { return }
        files.append(
            SelectedFile(
                path: path, size: status.size, directory: directory.path, name: name, directoryIdentity: folder))
    }

    private static func skipping(_ status: FileStatus, _ path: String) -> String {
        switch status.kind {
        case S_IFLNK: "\(path) is a symbolic link and is skipped."
        case S_IFSOCK: "\(path) is a socket and is skipped."
        case S_IFIFO: "\(path) is a pipe and is skipped."
        case S_IFCHR, S_IFBLK: "\(path) is a device and is skipped."
        case S_IFDIR: "\(path) is a folder and is skipped."
        default: "\(path) is not a file and is skipped."
        }
    }
}
