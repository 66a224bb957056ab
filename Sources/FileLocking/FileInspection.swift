import CLinux
import Glibc

/// Whether a file may be locked, in words where it may not.
enum FileInspection {
    /// Looks at a name in an open directory, then opens it for reading. Links are refused, not followed.
    static func open(_ name: String, in directory: OpenFile) throws -> (file: OpenFile, status: FileStatus) {
        let path = directory.path(of: name)
        guard let found = try directory.status(of: name) else { throw FileLockingError.system("open", path, ENOENT) }
        try check(found, path: path)
        let file = try directory.open(name)
        let status = try file.status()
        try check(status, path: path)
        guard status.identity == found.identity else { throw changedMeanwhile(path) }
        if clinux_is_immutable(file.descriptor) {
            throw FileLockingError(
                .notAllowed, "\(path) is marked as unchangeable; take the mark away first (chattr -i -a).")
        }
        return (file, status)
    }

    private static func check(_ status: FileStatus, path: String) throws {
        guard !status.isFile else { return }
        let kind = status.kindInWords
        let advice = status.kind == S_IFLNK ? "name the file that it leads to" : "only files can be locked"
        throw FileLockingError(.unsupportedKind, "\(path) is \(kind); \(advice).")
    }

    /// - Throws: `FileLockingError` for a file that others would keep in clear, or that somebody writes to.
    static func checkLockable(_ file: OpenFile, _ status: FileStatus) throws {
        guard status.links == 1 else {
            throw FileLockingError(
                .unsupportedKind,
                "\(file.path) has \(status.links) names (hard links), and the others would stay in clear; remove them first."
            )
        }
        try checkUnused(file)
    }

    /// Where it can't be told (somebody else's file, a file system without leases), the comparison of times has to do.
    static func checkUnused(_ file: OpenFile) throws {
        guard clinux_is_being_written(file.descriptor) == EAGAIN else { return }
        throw FileLockingError(
            .unsupportedKind, "A program has \(file.path) open for writing; close it there first.")
    }

    static func changedMeanwhile(_ path: String) -> FileLockingError {
        FileLockingError(.changedMeanwhile, "\(path) was changed meanwhile; nothing was done to it. Try again.")
    }

    /// That the name still leads to this file, and the file is as it was.
    static func checkUnchanged(_ file: OpenFile, name: String, in directory: OpenFile, since before: FileStatus) throws
    {
        guard let named = try directory.status(of: name), named.identity == before.identity,
            try file.status().isUnchanged(since: before)
        else { throw changedMeanwhile(file.path) }
    }
}
