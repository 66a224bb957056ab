import BlockingThread
import DesktopModels
import Foundation
import Glibc
import Localization

/// A file that appears under its name only once it is whole and on disk, readable by its owner alone. The file chooser has
/// asked before an existing one is replaced.
struct SavedFile: BackupTarget {
    /// What failed, with the path and the system's reason.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        /// - Parameter path: what `errno` is about.
        init(_ path: String) {
            description = localized("\(path) can't be written: \(String(cString: strerror(errno))).")
        }
    }

    private let path: String
    private let handle: FileHandle

    private var draft: String { path + ".part" }

    init(_ path: String) async throws {
        self.path = path
        let draft = path + ".part"
        handle = try await runBlocking {
            let descriptor = Glibc.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw Failure(draft) }
            return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }
    }

    /// Writes a whole file.
    static func save(_ bytes: [UInt8], to path: String) async throws {
        let file = try await SavedFile(path)
        do {
            try await file.write(bytes)
            try await file.finish()
        } catch {
            await file.discard()
            throw error
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        try await runBlocking { [handle, path] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(handle.fileDescriptor, $0.baseAddress, $0.count) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    throw Failure(path)
                }
            }
        }
    }

    func finish() async throws {
        try await runBlocking { [handle, draft, path] in
            guard fsync(handle.fileDescriptor) == 0, rename(draft, path) == 0 else { throw Failure(path) }
            // The name, too.
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            let folder = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if folder >= 0 {
                fsync(folder)
                close(folder)
            }
        }
    }

    func discard() async { await runBlocking { [draft] in _ = unlink(draft) } }
}
