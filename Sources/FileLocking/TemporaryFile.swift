import CLinux
import Glibc
import SealedFormats

/// A file that is being written and has no name of its own yet. It is removed with the value unless it was named.
///
/// Its author holds a lock (flock) on it for as long as it lives: one that nobody holds was left behind by a process
/// that was killed.
///
/// `@unchecked Sendable`: it goes from thread to thread, but is used by one at a time.
final class TemporaryFile: @unchecked Sendable {
    private static let prefix = ".applocker-"
    private static let suffix = ".tmp"

    let file: OpenFile
    private let directory: OpenFile
    private let name: String
    /// Or is gone.
    private var isNamed = false

    /// Makes it, readable and writable by this user alone, in an open directory.
    init(in directory: OpenFile) throws {
        for _ in 1...16 {
            let name = Self.prefix + ItemID.random().description + Self.suffix
            let file = try directory.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            // A sweep that came between the two calls has removed it, or is about to.
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, try file.status().links == 1 else { continue }
            self.file = file
            self.directory = directory
            self.name = name
            return
        }
        throw FileLockingError(.failed, "No temporary file could be kept in \(directory.path); try again.")
    }

    deinit { discard() }

    /// Removes it at once unless it was named: another thread may hold the value a moment longer.
    func discard() {
        guard !isNamed else { return }
        isNamed = true
        unlinkat(directory.descriptor, name, 0)
    }

    /// Gives the file its name, and never takes another file's.
    /// - Throws: `FileLockingError` with code `alreadyExists`.
    func rename(to newName: String) throws {
        let result = clinux_rename_keeping(directory.descriptor, name, directory.descriptor, newName)
        guard result != 0 else {
            isNamed = true
            return
        }
        guard result == EINVAL || result == ENOSYS else {
            throw FileLockingError.system("write", directory.path(of: newName), result)
        }
        // Some file systems can't rename so; a second link never replaces anything either.
        guard linkat(directory.descriptor, name, directory.descriptor, newName, 0) == 0 else {
            throw FileLockingError.system("write", directory.path(of: newName), errno)
        }
        isNamed = true
        unlinkat(directory.descriptor, name, 0)
    }

    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && ItemID(String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// Removes what killed processes of this user left in a directory. What can't be removed stays.
    static func sweep(_ directory: OpenFile) {
        guard let names = try? directory.names() else { return }
        for case let name? in names where isName(name) {
            guard let file = try? directory.open(name), let status = try? file.status(), status.isFile,
                status.owner == geteuid() || geteuid() == 0, flock(file.descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unlinkat(directory.descriptor, name, 0)
        }
    }
}
