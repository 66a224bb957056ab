import CLinux
import GateProtocol
import Glibc

/// Puts the marks of an app on and takes them off.
struct FileMarks {
    /// Directories below a private directory that are marked too, and how deep they may lie.
    static let maximumDirectories = 4096
    static let maximumDepth = 32

    let hook: any LaunchHook
    /// Files that the gate or the daemon needs in order to start: a mark on one would make their restart wait for
    /// themselves.
    let neverMarked: Set<FileIdentity>

    struct Outcome {
        var files: [FileIdentity: PathBytes] = [:]
        var directories: [FileIdentity: PathBytes] = [:]
        var marks: UInt32 = 0
        /// Paths that are missing, are reached through a symbolic link, are of another kind than said, can't be
        /// marked, or must not be.
        var failures: UInt32 = 0
    }

    /// Finds the files that the paths lead to, and marks them where `marking`.
    func apply(_ paths: [GuardedApp.Path], marking: Bool) -> Outcome {
        var outcome = Outcome()
        for path in paths {
            switch path.kind {
            case .executable: apply(path.bytes, isDirectory: false, marking: marking, &outcome)
            case .privateDirectory:
                for directory in Self.directoryAndAllBelow(path.bytes) {
                    apply(directory, isDirectory: true, marking: marking, &outcome)
                }
            }
        }
        return outcome
    }

    private func apply(_ path: PathBytes, isDirectory: Bool, marking: Bool, _ outcome: inout Outcome) {
        guard let (descriptor, identity) = Self.open(path, isDirectory: isDirectory),
            !neverMarked.contains(identity)
        else {
            outcome.failures += 1
            return
        }
        if marking {
            // Also where the identity is known: an inode number may have gone to a new file without a mark.
            guard hook.mark(descriptor, identity, isDirectory: isDirectory) == 0 else {
                outcome.failures += 1
                return
            }
            outcome.marks += 1
        }
        if isDirectory { outcome.directories[identity] = path } else { outcome.files[identity] = path }
    }

    /// Takes the mark off the file at `path`, if that is still the file meant. A file that has moved keeps its mark
    /// until its next event, which removes it.
    func remove(_ identity: FileIdentity, at path: PathBytes, isDirectory: Bool) {
        guard let (descriptor, found) = Self.open(path, isDirectory: isDirectory), found == identity else { return }
        hook.unmark(descriptor, identity, isDirectory: isDirectory)
    }

    /// Opens for naming only: reading a locked file would wait for the gate's own answer.
    static func open(_ path: PathBytes, isDirectory: Bool) -> (Descriptor, FileIdentity)? {
        let result = path.withTerminator { clinux_open_path($0) }
        guard result >= 0 else { return nil }
        let descriptor = Descriptor(result)
        var file = clinux_file()
        guard clinux_identify_descriptor(descriptor.number, &file) == 0,
            isDirectory ? file.is_directory : file.is_regular
        else { return nil }
        return (descriptor, FileIdentity(file))
    }

    /// The directory itself first, even where it does not exist.
    static func directoryAndAllBelow(_ directory: PathBytes) -> [PathBytes] {
        var found = [directory]
        var depths = [0]
        var index = 0
        while index < found.count {
            if depths[index] < maximumDepth {
                for name in subdirectories(of: found[index]) where found.count < maximumDirectories {
                    found.append(found[index].appending(name))
                    depths.append(depths[index] + 1)
                }
            }
            index += 1
        }
        return found
    }

    private static func subdirectories(of directory: PathBytes) -> [[UInt8]] {
        let path = directory.withTerminator { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard path >= 0 else { return [] }
        guard let stream = fdopendir(path) else {
            close(path)
            return []
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
