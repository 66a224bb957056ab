/// Locks or unlocks files and folders in place, one file after another. A file that fails is reported, and the others are
/// done.
public struct InPlaceRun: Sendable {
    public struct Progress: Sendable {
        /// The file in progress, and its position among all files from 0.
        public var path: String
        public var index: Int
        public var count: Int
        /// Of all files, in bytes of content that were read; locking reads each file twice.
        public var done: UInt64
        public var total: UInt64
    }

    private let selecting: FileSelection.Options
    private let locking: FileLocker.Options
    private let sealing: any LockedFileSealing

    /// - Parameter keepsOriginals: whether the files of which a locked or an unlocked one was made are kept.
    public init(_ options: FileSelection.Options, keepsOriginals: Bool, sealing: any LockedFileSealing) {
        selecting = options
        locking = FileLocker.Options(keepsOriginal: keepsOriginals)
        self.sealing = sealing
    }

    /// - Parameter progress: called before each file, and on the thread that does the work.
    /// - Throws: what sealing throws; `CancellationError`. The files before it are done, and the others as they were.
    public func run(
        _ paths: [String], progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> InPlaceReport {
        let selection = try await FileSelection.find(paths, selecting)
        let passes: UInt64 = selecting.purpose == .lock ? 2 : 1
        var report = InPlaceReport()
        report.skipped = selection.skipped.map { .init(path: $0.path, message: $0.sentence, isFailure: $0.isFailure) }

        var now = Progress(
            path: "", index: 0, count: selection.files.count, done: 0, total: selection.size &* passes)
        for (index, file) in selection.files.enumerated() {
            now.path = file.path
            now.index = index
            progress(now)
            let locker = FileLocker(sealing: sealing, options: locking) { [now] step, done, total in
                var shown = now
                shown.done &+= (step == .verifying ? total : 0) &+ done
                progress(shown)
            }
            do {
                let outcome = try await selecting.purpose == .lock ? locker.lock(file) : locker.unlock(file)
                report.files.append(
                    .init(from: file.path, path: outcome.path, size: outcome.size, notes: outcome.notes))
            } catch let error as FileLockingError {
                report.skipped.append(
                    .init(path: file.path, message: error.sentence, code: error.code.rawValue, isFailure: true))
            }
            now.done &+= file.size &* passes
        }
        return report
    }
}

/// What became of each file; also the output of `file lock` and `file unlock` with `--json`.
public struct InPlaceReport: Codable, Sendable {
    public struct File: Codable, Sendable {
        public var from: String
        public var path: String
        /// Size of the content in bytes.
        public var size: UInt64
        /// Sentences about properties that could not be kept.
        public var notes: [String]
    }

    public struct Skipped: Codable, Sendable {
        public var path: String
        public var message: String
        public var code: String?
        /// Whether the request is thereby incomplete.
        public var isFailure: Bool
    }

    public internal(set) var files: [File] = []
    /// Files that were found and not changed.
    public internal(set) var skipped: [Skipped] = []

    private enum CodingKeys: String, CodingKey {
        case files
        case skipped = "left"
    }
}
