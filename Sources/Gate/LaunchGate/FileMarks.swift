import CLinux
import GateProtocol
import Glibc

/// Adds and removes the marks of an app.
struct FileMarks {
    /// Limits for the directories below a private directory that are marked: their number, and their depth.
    static let maximumDirectories = 4096
    static let maximumDepth = 32

    let hook: any LaunchHook
    /// Nil where the kernel has none, or needs none.
    let overlayGuard: (any OverlayGuard)?
    /// Files that gate and daemon need in order to start: with a mark, their restart would wait for the gate itself.
    let neverMarked: Set<FileIdentity>

    struct Outcome {
        var files: [FileIdentity: PathBytes] = [:]
        var directories: [FileIdentity: PathBytes] = [:]
        var marks: UInt32 = 0
        /// Paths that are missing, are reached through a symbolic link, are not of the kind that was sent, or can't or
        /// must not be marked.
        var failures: UInt32 = 0
        /// The failures whose files exist: they start without a prompt.
        var unguarded: UInt32 = 0
        /// Descriptors or memory were missing, so files and directories are incomplete.
        var isIncomplete = false
        /// The links through which files were found, and the missing components of their paths.
        var linkPlaces: Set<PathBytes> = []
        /// Handles of files and directories that a user can move.
        var handles: Set<FileHandle> = []
        /// Handles whose files no longer exist.
        var goneHandles: Set<FileHandle> = []

        fileprivate mutating func noteUnguarded(_ refused: RefusedByKernel) {
            unguarded += 1
            if refused.isShortage { isIncomplete = true }
        }
    }

    /// Finds the files of the paths, and marks them if `marking`.
    func apply(_ paths: [GuardedApp.Path], marking: Bool) -> Outcome {
        var outcome = Outcome()
        var fileSystems: HandleFileSystems?
        var movable = MovablePlaces()
        for path in paths {
            switch path.kind {
            case .executable:
                apply(path.bytes, isDirectory: false, marking: marking, &outcome)
                noteHandle(of: path.bytes, &movable, &outcome)
            case .privateDirectory:
                applyAllBelow(path.bytes, marking: marking, &outcome)
                noteHandle(of: path.bytes, &movable, &outcome)
            case .link: apply(link: LinkedPath(following: path.bytes), marking: marking, &movable, &outcome)
            case .handle:
                fileSystems = fileSystems ?? HandleFileSystems()
                apply(FileHandle(bytes: path.bytes), on: fileSystems!, marking: marking, &outcome)
            }
        }
        return outcome
    }

    private func applyAllBelow(_ path: PathBytes, marking: Bool, _ outcome: inout Outcome) {
        let found = Self.directoryAndAllBelow(path)
        if !found.isComplete { outcome.isIncomplete = true }
        outcome.failures += found.omitted
        outcome.unguarded += found.omitted
        for directory in found.directories { apply(directory, isDirectory: true, marking: marking, &outcome) }
    }

    /// A dangling link is watched and is not a failure: its earlier target is known by its own path.
    private func apply(
        link: LinkedPath, marking: Bool, _ movable: inout MovablePlaces, _ outcome: inout Outcome
    ) {
        outcome.linkPlaces.formUnion(link.places)
        guard let target = link.target,
            case .success((let descriptor, let identity)) = Self.open(target, isDirectory: false)
        else { return }
        var file = clinux_file()
        guard clinux_identify_descriptor(descriptor.number, &file) == 0, link.mayLead(toFileOf: file.owner) else {
            return
        }
        apply(descriptor, identity, at: target, isDirectory: false, marking: marking, &outcome)
        noteHandle(of: target, &movable, &outcome)
    }

    private func apply(
        _ handle: FileHandle, on fileSystems: HandleFileSystems, marking: Bool, _ outcome: inout Outcome
    ) {
        let descriptor: Descriptor
        switch fileSystems.open(handle) {
        case .file(let opened): descriptor = opened
        case .gone:
            outcome.goneHandles.insert(handle)
            return
        case .unknown(let refused):
            if let refused, refused.isShortage { outcome.noteUnguarded(refused) }
            return
        }
        outcome.handles.insert(handle)
        var file = clinux_file()
        guard clinux_identify_descriptor(descriptor.number, &file) == 0 else { return }
        let path = ProcessFacts.readLink(Array("/proc/self/fd/\(descriptor.number)".utf8)) ?? []
        if file.is_directory {
            applyAllBelow(path, marking: marking, &outcome)
        } else if file.is_regular, outcome.files[FileIdentity(file)] == nil {
            apply(descriptor, FileIdentity(file), at: path, isDirectory: false, marking: marking, &outcome)
        }
    }

    private func noteHandle(of path: PathBytes, _ movable: inout MovablePlaces, _ outcome: inout Outcome) {
        guard movable.contain(path) else { return }
        let number = path.withTerminator { clinux_open_path($0) }
        guard number >= 0, let handle = FileHandle(of: Descriptor(number)) else { return }
        outcome.handles.insert(handle)
    }

    private func apply(_ path: PathBytes, isDirectory: Bool, marking: Bool, _ outcome: inout Outcome) {
        switch Self.open(path, isDirectory: isDirectory) {
        case .success((let descriptor, let identity)):
            apply(descriptor, identity, at: path, isDirectory: isDirectory, marking: marking, &outcome)
        case .failure(let refused):
            outcome.failures += 1
            if refused.isShortage { outcome.noteUnguarded(refused) }
        }
    }

    private func apply(
        _ descriptor: Descriptor, _ identity: FileIdentity, at path: PathBytes, isDirectory: Bool, marking: Bool,
        _ outcome: inout Outcome
    ) {
        guard !neverMarked.contains(identity) else {
            outcome.failures += 1
            outcome.unguarded += 1
            return
        }
        if marking {
            // A known identity is marked too: its inode number may have been reused for a file without a mark.
            let refused = RefusedByKernel(number: hook.mark(descriptor, identity, isDirectory: isDirectory))
            guard refused.number == 0 else {
                outcome.failures += 1
                outcome.noteUnguarded(refused)
                return
            }
            outcome.marks += 1
            if !isDirectory, let overlayGuard {
                let refused = RefusedByKernel(number: overlayGuard.add(descriptor))
                if refused.number != 0 { outcome.noteUnguarded(refused) }
            }
        }
        if isDirectory { outcome.directories[identity] = path } else { outcome.files[identity] = path }
    }

    /// Removes the mark of the file at `path` if it is still the same file. A moved file keeps its mark until its next
    /// event, which removes it.
    func remove(_ identity: FileIdentity, at path: PathBytes, isDirectory: Bool) {
        guard case .success((let descriptor, let found)) = Self.open(path, isDirectory: isDirectory),
            found == identity
        else { return }
        hook.unmark(descriptor, identity, isDirectory: isDirectory)
        if !isDirectory { overlayGuard?.remove(descriptor.number) }
    }

    /// Opens with O_PATH only: opening a locked file for reading would wait for the gate's own answer.
    private static func open(
        _ path: PathBytes, isDirectory: Bool
    ) -> Result<(Descriptor, FileIdentity), RefusedByKernel> {
        let result = path.withTerminator { clinux_open_path($0) }
        guard result >= 0 else { return .failure(RefusedByKernel(number: -result)) }
        let descriptor = Descriptor(result)
        var file = clinux_file()
        let failure = clinux_identify_descriptor(descriptor.number, &file)
        guard failure == 0 else { return .failure(RefusedByKernel(number: abs(failure))) }
        guard isDirectory ? file.is_directory : file.is_regular else {
            return .failure(RefusedByKernel(number: isDirectory ? ENOTDIR : EISDIR))
        }
        return .success((descriptor, FileIdentity(file)))
    }

    struct Tree {
        /// The directory itself is first, even if it does not exist.
        var directories: [PathBytes]
        /// The number of directories beyond `maximumDirectories` or `maximumDepth`; those below them are not counted.
        var omitted: UInt32 = 0
        /// False if a directory could not be read because descriptors or memory were missing.
        var isComplete = true
    }

    static func directoryAndAllBelow(_ directory: PathBytes) -> Tree {
        var tree = Tree(directories: [directory])
        var depths = [0]
        var index = 0
        while index < tree.directories.count {
            do throws(RefusedByKernel) {
                for name in try subdirectories(of: tree.directories[index]) {
                    guard tree.directories.count < maximumDirectories, depths[index] < maximumDepth else {
                        tree.omitted += 1
                        continue
                    }
                    tree.directories.append(tree.directories[index].appending(name))
                    depths.append(depths[index] + 1)
                }
            } catch {
                if error.isShortage { tree.isComplete = false }
            }
            index += 1
        }
        return tree
    }

    private static func subdirectories(of directory: PathBytes) throws(RefusedByKernel) -> [[UInt8]] {
        let path = directory.withTerminator { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard path >= 0 else { throw RefusedByKernel(number: errno) }
        guard let stream = fdopendir(path) else {
            close(path)
            throw RefusedByKernel(number: ENOMEM)
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            guard entry.pointee.d_type == UInt8(DT_DIR) || entry.pointee.d_type == UInt8(DT_UNKNOWN) else { continue }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen($0)))
                }
            }
            .map { UInt8(bitPattern: $0) }
            if name == [46] || name == [46, 46] { continue }
            if entry.pointee.d_type == UInt8(DT_UNKNOWN) {
                var status = stat()
                guard directory.appending(name).withTerminator({ lstat($0, &status) }) == 0,
                    status.st_mode & S_IFMT == S_IFDIR
                else { continue }
            }
            names.append(name)
        }
        return names
    }
}
