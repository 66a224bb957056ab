import BlockingThread
import DesktopModels
import FileLocking

/// A file that the user chose, read on a thread of its own.
struct OpenedFile: BackupSource {
    private let file: ReadableFile

    var size: UInt64 { file.size }

    /// - Throws: `FileLockingError`.
    init(_ path: String) async throws {
        file = try await runBlocking { try ReadableFile(path) }
    }

    func read(at offset: UInt64, count: Int) async throws -> [UInt8] {
        try await runBlocking { [file] in try file.read(at: offset, count: count) }
    }
}
