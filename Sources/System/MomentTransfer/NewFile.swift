import CLinux
public import FileLocking
import Foundation

/// A file that is written under a temporary name, and gets its own name only when it is complete and on disk.
///
/// `@unchecked Sendable`: used from one task at a time, each step awaited before the next.
public final class NewFile: @unchecked Sendable {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    /// - Throws: `TransferError` if the file exists or can't be created.
    public init(_ path: String) throws {
        self.path = path
        temporary = "\(path).\(getpid()).part"
        guard access(path, F_OK) != 0 else {
            throw TransferError(
                .badInput, code: "exists", "\(path) exists already; nothing is overwritten. Choose another name.")
        }
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    /// Blocks.
    public func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw Self.failure(path)
            }
        }
    }

    /// Blocks. The file is durable under its name when it returns; it replaces no other file.
    public func finish() throws {
        guard fsync(descriptor) == 0 else { throw Self.failure(path) }
        let result = clinux_rename_keeping(AT_FDCWD, temporary, AT_FDCWD, path)
        guard result == 0 else {
            errno = result
            throw Self.failure(path)
        }
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
    public func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }

    private static func failure(_ path: String) -> TransferError {
        let code = errno
        return TransferError(
            .failed, code: code == ENOSPC ? "disk_full" : "failed",
            "\(path) can't be written (\(String(cString: strerror(code)))); nothing is left of it.")
    }
}

extension NewFile {
    /// Writes a new file for this user alone; never replaces one. Blocks.
    public static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try NewFile(path)
        defer { file.discard() }
        try file.write(bytes)
        try file.finish()
    }
}

extension ReadableFile {
    /// A file that a person named.
    /// - Throws: `TransferError`.
    public static func named(_ path: String) throws -> ReadableFile {
        do {
            return try ReadableFile(path)
        } catch {
            throw TransferError(.badInput, code: error.code.rawValue, error.sentence)
        }
    }
}
