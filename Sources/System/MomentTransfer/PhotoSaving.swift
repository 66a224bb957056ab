import BlockingThread
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
            if let opened = try await PhotoDownload.original(of: photo.id, client) {
                let time = MomentTime(date: opened.report.taken ?? moment.date, offset: moment.offset)
                var path: String
                repeat {
                    path = "\(folder)/\(names.next(time, opened.report.original.type))"
                } while FileManager.default.fileExists(atPath: path)
                try await runBlocking { [path] in try NewFile.write(opened.bytes, to: path) }
                report.saved.append((photo.id, path))
            } else {
                report.missing += 1
            }
            progress.finish(1)
        }
        return report
    }
}

extension PhotoDownload {
    /// A photo as it was stored.
    ///
    /// - Returns: nil if it can't be opened on this computer: it is not here, or it is damaged.
    static func original(of id: String, _ client: ControlClient) async throws -> (report: PhotoReport, bytes: [UInt8])?
    {
        do {
            let report = try await client.call(\.readPhoto, parameter: id)
            return (report, try await PhotoDownload(client: client, photo: report).original())
        } catch let error as ControlError where [.noSuchItem, .notReadable, .hub].contains(error.code) {
            return nil
        }
    }
}
