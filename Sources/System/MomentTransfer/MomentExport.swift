import BlockingThread
import ControlAPI
import Foundation
public import LocalControl

/// Exports moments from the vault, unsealed: photos as files, a page to read, data for other programs. The format is
/// that of the companion's export.
public struct MomentExport: Sendable {
    public struct Report: Codable, Sendable {
        public var folder: String
        public var moments: Int
        public var photos: Int
        /// Photos that could not be opened on this computer.
        public var missing: Int
    }

    private let client: ControlClient
    private let folder: String
    private let handler: TransferProgress.Handler

    public init(client: ControlClient, folder: String, progress: @escaping TransferProgress.Handler = { _ in }) {
        self.client = client
        self.folder = folder
        handler = progress
    }

    /// - Throws: `TransferError` if the folder isn't empty.
    public func makeFolder() throws {
        let entries = try? FileManager.default.contentsOfDirectory(atPath: folder)
        if entries == nil, mkdir(folder, 0o700) != 0 {
            throw TransferError(
                .badInput, code: "no_such_folder", "\(folder) can't be created (\(String(cString: strerror(errno)))).")
        }
        guard entries?.isEmpty ?? true else {
            throw TransferError(
                .badInput, code: "exists",
                "\(folder) is not empty; nothing is overwritten. Choose another folder.")
        }
    }

    public func run() async throws -> Report {
        let list = try await client.call(\.listMoments)
        let total = list.moments.reduce(0) { $0 + $1.photos.count }
        let progress = PhaseProgress(.exporting, total: UInt64(total), handler)
        var (names, report) = (PhotoNames(), Report(folder: folder, moments: 0, photos: 0, missing: 0))
        var files: [String: TimelinePage.File] = [:]
        var exported: [TimelinePage.Moment] = []
        for moment in list.moments {
            let content = try await client.call(\.readMoment, parameter: moment.id)
            var own: [TimelinePage.File] = []
            for photo in moment.photos {
                try Task.checkCancellation()
                // Two versions of a moment may name the same photos.
                if let known = files[photo.id] {
                    own.append(known)
                } else {
                    let file = try await write(photo, of: moment, &names)
                    if file.path == nil { report.missing += 1 } else { report.photos += 1 }
                    files[photo.id] = file
                    own.append(file)
                }
                progress.finish(1)
            }
            exported.append(.init(content: content, photos: own))
            report.moments += 1
        }
        try await runBlocking { [exported] in
            let page = TimelinePage(moments: exported)
            try NewFile.write(try page.data(now: Date()), to: folder + "/moments.json")
            try NewFile.write(Array(page.html.utf8), to: folder + "/timeline.html")
        }
        return report
    }

    /// Creates it. One that exists must not be a link that somebody else made.
    private static func isFolder(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        var status = stat()
        return errno == EEXIST && lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func write(
        _ photo: MomentReport.Photo, of moment: MomentReport, _ names: inout PhotoNames
    ) async throws -> TimelinePage.File {
        guard let (report, bytes) = try await PhotoDownload.original(of: photo.id, client) else {
            return TimelinePage.File(photo: photo, type: "", taken: nil, path: nil)
        }
        let time = MomentTime(date: report.taken ?? moment.date, offset: moment.offset)
        let name = names.next(time, report.original.type)
        let year = "photos/" + name.prefix(4)
        try await runBlocking { [folder] in
            for path in ["\(folder)/photos", "\(folder)/\(year)"] where !Self.isFolder(path) {
                throw TransferError(
                    .failed, code: "failed", "\(path) can't be created (\(String(cString: strerror(errno)))).")
            }
            try NewFile.write(bytes, to: "\(folder)/\(year)/\(name)")
        }
        return TimelinePage.File(photo: photo, type: report.original.type, taken: report.taken, path: "\(year)/\(name)")
    }
}
