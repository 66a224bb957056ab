public import ControlAPI
import Foundation
public import LocalControl

/// Writes the photos of one moment as files, unsealed.
public struct PhotoSaving: Sendable {
    public struct Report: Sendable {
        public var folder: String
        /// The photos' ids and their new files.
        public var saved: [(photo: String, file: String)] = []
        /// Photos that could not be opened on this computer.
        public var missing = 0
        /// Photos of which only a smaller size could be opened.
        public var reduced = 0
    }

    private let client: ControlClient
    private let folder: String
    private let handler: TransferProgress.Handler

    public init(client: ControlClient, folder: String, progress: @escaping TransferProgress.Handler = { _ in }) {
        (self.client, self.folder, handler) = (client, folder, progress)
    }

    /// Nothing is overwritten: a name that exists is numbered.
    ///
    /// - Throws: `TransferError`, `ControlError`, `ControlClientError`, `CancellationError`. Files written before stay.
    public func run(_ moment: MomentReport) async throws -> Report {
        var (names, report) = (PhotoNames(), Report(folder: folder))
        let progress = PhaseProgress(.exporting, total: UInt64(moment.photos.count), handler)
        for photo in moment.photos {
            try Task.checkCancellation()
            let before = names
            let written = try await PhotoDownload.writeLargest(of: photo.id, client) { opened, size in
                names = before
                let time = MomentTime(date: opened.taken ?? moment.date, offset: moment.offset)
                var path: String
                repeat {
                    path = "\(folder)/\(names.next(time, size.type))"
                } while FileManager.default.fileExists(atPath: path)
                return path
            }
            if let written {
                report.saved.append((photo.id, written.path))
                if written.isReduced { report.reduced += 1 }
            } else {
                report.missing += 1
            }
            progress.finish(1)
        }
        return report
    }
}
