import CLinux
import Glibc
import SealedFormats

/// A file that is being written and has no final name yet. It is removed with the value unless it was renamed.
///
/// The writing process holds a lock (flock) on it for its whole life: an unlocked one was left by a killed process.
///
/// `@unchecked Sendable`: may move between threads, but is used by one at a time.
final class TemporaryFile: @unchecked Sendable {
    private static let prefix = ".applocker-"
    private static let suffix = ".tmp"

    let file: OpenFile
    private let directory: OpenFile
    private let name: String
    /// Also true after removal.
    private var isNamed = false

    /// Creates it in an open directory, readable and writable by this user alone.
    init(in directory: OpenFile) throws {
        for _ in 1...16 {
            let name = Self.prefix + ItemID.random().description + Self.suffix
            let file = try directory.open(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            // A cleanup between the two calls has removed it, or is about to.
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, try file.status().links == 1 else { continue }
            self.file = file
            self.directory = directory
            self.name = name
            return
        }
        throw FileLockingError(.failed, "No temporary file could be created in \(directory.path); try again.")
    }

    deinit { discard() }

    /// Removes it at once unless it was renamed: another thread may hold the value a moment longer.
    func discard() {
        guard !isNamed else { return }
        isNamed = true
        unlinkat(directory.descriptor, name, 0)
    }

    /// Gives the file its final name, and never replaces another file.
    /// - Throws: `FileLockingError` with code `alreadyExists`.
    func rename(to newName: String) throws {
        let result = clinux_rename_keeping(directory.descriptor, name, directory.descriptor, newName)
        guard result == 0 else { throw FileLockingError.system("write it", directory.path(of: newName), result) }
        isNamed = true
    }

    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && ItemID(String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// Removes the files that killed processes of this user left in a directory. What can't be removed stays.
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
