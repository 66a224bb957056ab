import Glibc

/// A file that was found, and where: its folder has to be the same one still when the file is opened.
public struct SelectedFile: Sendable {
    public let path: String
    /// Of the content, in bytes, when it was found.
    public let size: UInt64
    let directory: String
    let name: String
    let directoryIdentity: FileStatus.Identity
}

/// The files that paths name, folders with everything below them.
public struct FileSelection: Sendable {
    public enum Purpose: Sendable { case lock, unlock }

    public struct Options: Sendable {
        public var purpose: Purpose
        /// Whether folders are entered that other file systems are mounted on.
        public var crossesFileSystems = false
        /// A folder that nothing is locked in: AppLocker's own.
        public var protectedFolder: String?

        public init(purpose: Purpose) { self.purpose = purpose }
    }

    /// Something that was found and is left as it is.
    public struct Left: Sendable {
        public let path: String
        public let sentence: String
        /// Whether what was asked for is thereby not done.
        public let isFailure: Bool
    }

    public private(set) var files: [SelectedFile] = []
    public private(set) var left: [Left] = []

    /// Of all files, in bytes.
    public var size: UInt64 { files.reduce(0) { $0 &+ $1.size } }

    private let options: Options
    private var protected: FileStatus.Identity?
    private var swept: Set<FileStatus.Identity> = []

    /// Looks for the files, following no links, and removes what killed runs left in the folders that it sees.
    /// - Throws: `CancellationError`. A path that can't be taken is among `left`.
    public static func find(_ paths: [String], _ options: Options) async throws -> FileSelection {
        try await FileThread.run { cancellation in
            var selection = FileSelection(options)
            for path in paths {
                do {
                    try selection.add(path, cancellation)
                } catch let error as FileLockingError {
                    selection.leave(path, error.sentence)
                }
            }
            return selection
        }
    }

    private init(_ options: Options) {
        self.options = options
        protected = options.protectedFolder.flatMap { try? OpenFile.directory($0).status().identity }
    }

    private mutating func leave(_ path: String, _ sentence: String, isFailure: Bool = true) {
        left.append(Left(path: path, sentence: sentence, isFailure: isFailure))
    }

    private mutating func add(_ argument: String, _ cancellation: Cancellation) throws {
        var path = argument
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard !path.isEmpty, !path.contains("\0") else {
            throw FileLockingError(.notFound, "An empty path names no file.")
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
        guard exists else { throw FileLockingError.system("open", path, number) }
        if status.st_mode & S_IFMT == S_IFDIR {
            if options.purpose == .lock { try checkFolder(path) }
            return try descend(into: path, FileStatus(status), cancellation)
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        let name = String(parts.last ?? "")
        let parent = String(path.dropLast(name.count))
        let directory = try OpenFile.directory(parent.isEmpty ? "." : parent)
        try take(name, in: directory, isNamed: true)
    }

    /// What a computer can't start without is not locked by a slip of the finger.
    private func checkFolder(_ path: String) throws {
        let system = [
            "/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/usr",
            "/var", "/home",
        ]
        guard let resolved = realpath(path, nil) else { throw FileLockingError.system("open", path, errno) }
        defer { free(resolved) }
        guard !system.contains(String(cString: resolved)) else {
            throw FileLockingError(
                .notAllowed,
                "\(path) is a folder that this computer needs as it is; name the folders inside to be locked.")
        }
    }

    /// Goes through a folder and all below it, without recursion: a path has at most 4,096 bytes, but that is many folders.
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
                    leave(next.path, "\(next.path) is AppLocker's own folder and is left out.", isFailure: false)
                    continue
                }
                for name in try directory.names().sorted(by: { ($0 ?? "") < ($1 ?? "") }) {
                    guard let name else {
                        leave(next.path, "\(next.path) has a file whose name is not valid UTF-8; rename it first.")
                        continue
                    }
                    guard let found = try directory.status(of: name) else { continue }
                    guard found.isDirectory else {
                        try take(name, in: directory, isNamed: false)
                        continue
                    }
                    let path = directory.path(of: name)
                    if found.identity.device != status.identity.device, !options.crossesFileSystems {
                        leave(
                            path, "\(path) is another file system and is left out; --cross-file-systems takes it too.",
                            isFailure: false)
                    } else {
                        waiting.append((path, found.identity))
                    }
                }
            } catch let error as FileLockingError {
                leave(next.path, error.sentence)
            }
        }
    }

    private mutating func take(_ name: String, in directory: OpenFile, isNamed: Bool) throws {
        let path = directory.path(of: name)
        let folder = try directory.status().identity
        if swept.insert(folder).inserted { TemporaryFile.sweep(directory) }
        guard folder != protected else {
            throw FileLockingError(.notAllowed, "\(path) is a file of AppLocker itself; it can't be locked.")
        }
        // Swept just now, or being written by another run.
        if !isNamed, TemporaryFile.isName(name) { return }
        guard let status = try directory.status(of: name) else { return }
        if !isNamed {
            let isLocked = name.hasSuffix(FileLocker.suffix)
            guard isLocked == (options.purpose == .unlock) else { return }
            guard status.isFile else {
                leave(path, "\(path) is \(status.kindInWords) and is left as it is.", isFailure: false)
                return
            }
        }
        files.append(
            SelectedFile(
                path: path, size: status.size, directory: directory.path, name: name, directoryIdentity: folder))
    }
}
