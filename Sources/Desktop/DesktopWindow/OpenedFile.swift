import BlockingThread
import CGtk4  // Declares stat.
import DesktopModels
import Foundation
import Glibc

/// A file that the user chose, read in pieces.
struct OpenedFile: BackupSource {
    let size: UInt64
    private let path: String
    private let handle: FileHandle

    /// - Throws: `SavedFile.Failure`.
    init(_ path: String) async throws {
        self.path = path
        (handle, size) = try await runBlocking {
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw SavedFile.Failure(path, "read") }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw SavedFile.Failure(path, "read") }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw SavedFile.Failure(description: "\(path) is not a file.")
            }
            return (handle, UInt64(status.st_size))
        }
    }

    func read(at offset: UInt64, count: Int) async throws -> [UInt8] {
        try await runBlocking { [handle, path] in
            var bytes = [UInt8](repeating: 0, count: count)
            let got = pread(handle.fileDescriptor, &bytes, count, off_t(offset))
            guard got >= 0 else { throw SavedFile.Failure(path, "read") }
            return Array(bytes.prefix(got))
        }
    }
}
