import FileLocking
import Foundation

/// A file that is written under a temporary name, and gets its own name only when it is complete and on disk.
///
/// `@unchecked Sendable`: used from one task at a time, each step awaited before the next.
final class NewFile: @unchecked Sendable {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    /// - Throws: `CommandLineError` if the file exists or can't be created.
    init(_ path: String) throws {
        self.path = path
        temporary = "\(path).\(getpid()).part"
        guard access(path, F_OK) != 0 else {
            throw CommandLineError(
                .usage, code: "exists", "\(path) exists already; nothing is overwritten. Choose another name.")
        }
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Blocks.
    func write(_ bytes: [UInt8]) throws {
        guard Output.writeAll(bytes, to: descriptor) else { throw Self.failure(path) }
    }

    /// Blocks. The file is durable under its name when it returns; it replaces no other file.
    func finish() throws {
        guard fsync(descriptor) == 0, link(temporary, path) == 0 else { throw Self.failure(path) }
        discard()
        let folder = open(
            (path as NSString).deletingLastPathComponent.isEmpty ? "." : (path as NSString).deletingLastPathComponent,
            O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    /// Removes an unfinished file.
    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }

    private static func failure(_ path: String) -> CommandLineError {
        let code = errno
        return CommandLineError(
            .refused, code: code == ENOSPC ? "disk_full" : "failed",
            "\(path) can't be written (\(String(cString: strerror(code)))); nothing is left of it.")
    }
}

extension ReadableFile {
    /// A file that the command line names.
    /// - Throws: `CommandLineError`.
    static func named(_ path: String) throws -> ReadableFile {
        do {
            return try ReadableFile(path)
        } catch {
            throw CommandLineError(.usage, code: error.code.rawValue, error.sentence)
        }
    }
}
