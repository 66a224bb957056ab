public import Foundation
public import SealedFormats

/// Seals and opens the header of a locked file; the vault's keys are in another process.
public protocol LockedFileSealing: Sendable {
    /// Seals the body of a locked file's envelope, at most 32 KiB.
    func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader
    /// Opens the body of a header that was read from a file.
    /// - Throws: `FileLockingError` for a header that these keys don't open.
    func open(_ header: LockedFileHeader) async throws -> Data
    /// The passcode with which the earlier AppLocker locked this file.
    func earlierPasscode(for path: String) async throws -> SecretBytes
}

/// Locks files in place: PATH becomes PATH.aplk; and unlocks them.
///
/// A process that is killed at any time leaves the original or the complete other file, or both. A partial file remains
/// under a temporary name, which the next run in the same folder removes.
public struct FileLocker: Sendable {
    /// The suffix of locked files.
    public static let suffix = ".aplk"

    /// The current operation on the content.
    public enum Step: Sendable {
        case sealing, verifying, opening
    }

    /// Called on the thread that does the work, after each chunk.
    /// - Parameters:
    ///   - done: of this step, in bytes of content.
    ///   - total: of the content, in bytes.
    public typealias Progress = @Sendable (_ step: Step, _ done: UInt64, _ total: UInt64) -> Void

    /// The result for one file.
    public struct Outcome: Sendable {
        /// The path of the new file.
        public let path: String
        /// Size of the content in bytes.
        public let size: UInt64
        /// Sentences about properties that could not be kept.
        public let notes: [String]
    }

    public struct Options: Sendable {
        /// Whether the original of locking or unlocking is kept.
        public var keepsOriginal = false
        public var chunkSize = ContentStream.ChunkSize.mebi1

        public init(keepsOriginal: Bool = false) { self.keepsOriginal = keepsOriginal }
    }

    let sealing: any LockedFileSealing
    let options: Options
    let progress: Progress

    public init(
        sealing: any LockedFileSealing, options: Options = Options(), progress: @escaping Progress = { _, _, _ in }
    ) {
        self.sealing = sealing
        self.options = options
        self.progress = progress
    }

    /// The file in progress, and its open folder.
    struct Place: Sendable {
        let directory: OpenFile
        let name: String
        let file: OpenFile
        let status: FileStatus

        var path: String { file.path }

        init(_ selected: SelectedFile) throws {
            directory = try OpenFile.directory(selected.directory)
            guard try directory.status().identity == selected.directoryIdentity else {
                throw FileInspection.changedMeanwhile(selected.path)
            }
            name = selected.name
            (file, status) = try FileInspection.open(name, in: directory)
        }

        /// Removes the file whose content is safe under its other name, and returns when that is durable.
        func remove() throws {
            try FileInspection.checkUnchanged(file, name: name, in: directory, since: status)
            try directory.remove(name)
            try directory.syncEntries()
        }
    }
}
