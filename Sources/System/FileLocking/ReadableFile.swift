import CLinux
import Foundation

/// A file that is read in pieces.
public struct ReadableFile: Sendable {
    /// In bytes.
    public let size: UInt64
    /// Whether its mode lets its group or everybody read it.
    public let isReadableByOthers: Bool
    private let handle: FileHandle

    /// Blocks, but not for a pipe without a writer.
    /// - Throws: `FileLockingError`, with code `notReadable`.
    public init(_ path: String) throws(FileLockingError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw FileLockingError(.notReadable, "\(path) can't be read (\(String(cString: strerror(errno)))).")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileLockingError(.notReadable, "\(path) is not a file.")
        }
        size = UInt64(status.st_size)
        isReadableByOthers = status.st_mode & (S_IRGRP | S_IROTH) != 0
    }

    /// Blocks.
    /// - Returns: fewer bytes at the end.
    /// - Throws: `FileLockingError`.
    public func read(at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(handle.fileDescriptor, &bytes, count, off_t(offset))
        guard got >= 0 else {
            throw FileLockingError(.failed, "The file can't be read (\(String(cString: strerror(errno)))).")
        }
        return Array(bytes.prefix(got))
    }
}
