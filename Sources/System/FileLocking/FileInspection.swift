import CLinux
import Glibc

/// Checks whether a file may be locked; an error states why not.
enum FileInspection {
    /// Checks a name in an open directory, then opens it for reading. Links are refused, not followed.
    static func open(_ name: String, in directory: OpenFile) throws -> (file: OpenFile, status: FileStatus) {
        let path = directory.path(of: name)
        guard let found = try directory.status(of: name) else { throw FileLockingError.system("open it", path, ENOENT) }
        try check(found, path: path)
        let file = try directory.open(name)
        let status = try file.status()
        try check(status, path: path)
        guard status.identity == found.identity else { throw changedMeanwhile(path) }
        if clinux_is_immutable(file.descriptor) {
            throw FileLockingError(
                .notAllowed, "\(path) is immutable; remove the attribute first (chattr -i -a).")
        }
        return (file, status)
    }

    private static func check(_ status: FileStatus, path: String) throws {
        guard !status.isFile else { return }
        throw FileLockingError(.unsupportedKind, refusal(status, path))
    }

    private static func refusal(_ status: FileStatus, _ path: String) -> String {
        switch status.kind {
        case S_IFLNK: "\(path) is a symbolic link; name the file that it leads to."
        case S_IFSOCK: "\(path) is a socket; only files can be locked."
        case S_IFIFO: "\(path) is a pipe; only files can be locked."
        case S_IFCHR, S_IFBLK: "\(path) is a device; only files can be locked."
        case S_IFDIR: "\(path) is a folder; only files can be locked."
        default: "\(path) is not a file; only files can be locked."
        }
    }

    /// - Throws: `FileLockingError` for a file with further hard links, which would stay unsealed, or that a program
    ///   writes to.
    static func checkLockable(_ file: OpenFile, _ status: FileStatus) throws {
        guard status.links == 1 else {
            throw FileLockingError(
                .unsupportedKind,
                "\(file.path) has \(status.links) names (hard links), and the others would stay unsealed; remove them first."
            )
        }
        try checkUnused(file)
    }

    /// If this can't be determined (another user's file, a file system without leases), only the comparison of times
    /// protects.
    static func checkUnused(_ file: OpenFile) throws {
        guard clinux_is_being_written(file.descriptor) == EAGAIN else { return }
        throw FileLockingError(
            .unsupportedKind, "A program has \(file.path) open for writing; close it there first.")
    }

    static func changedMeanwhile(_ path: String) -> FileLockingError {
        FileLockingError(.changedMeanwhile, "\(path) was changed meanwhile and was not touched. Try again.")
    }

    /// Checks that the name still refers to this file, and that the file has not changed.
    static func checkUnchanged(_ file: OpenFile, name: String, in directory: OpenFile, since before: FileStatus) throws
    {
        guard let named = try directory.status(of: name), named.identity == before.identity,
            try file.status().isUnchanged(since: before)
        else { throw changedMeanwhile(file.path) }
    }
}
