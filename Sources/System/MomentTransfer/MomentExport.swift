import BlockingThread
import ControlAPI
import Foundation
public import LocalControl

/// Exports moments from the vault, unsealed: photos as files, a page to read, data for other programs. The format is
/// that of the companion's export.
public struct MomentExport: Sendable {
    public struct Report: Codable, Sendable {
        /// A photo that was not written as it was stored.
        public struct Photo: Codable, Equatable, Sendable {
            public var photo: String
            public var moment: String
            public var title: String
            /// Of the moment, as in "2024-05-17".
            public var day: String
            /// Its place in the moment, from 1.
            public var number: Int
        }

        public var folder: String
        public var moments = 0
        public var photos = 0
        /// The number of skipped photos.
        public var missing = 0
        /// Photos that could not be opened on this computer.
        public var skipped: [Photo] = []
        /// Photos of which only a smaller size could be opened.
        public var reduced: [Photo] = []
        /// Moments that could not be opened on this computer.
        public var unreadable = 0

        public var isComplete: Bool { skipped.isEmpty && reduced.isEmpty && unreadable == 0 }

        init(folder: String) { self.folder = folder }
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

    /// A photo or moment that can't be opened doesn't stop the others.
    ///
    /// - Throws: `TransferError`, `ControlError`, `ControlClientError`, `CancellationError`. Files written before stay.
    public func run() async throws -> Report {
        let list = try await client.call(\.listMoments)
        let total = list.moments.reduce(0) { $0 + $1.photos.count }
        let progress = PhaseProgress(.exporting, total: UInt64(total), handler)
        var (names, report) = (PhotoNames(), Report(folder: folder))
        var files: [String: TimelinePage.File] = [:]
        var exported: [TimelinePage.Moment] = []
        report.unreadable = list.unreadable
        for moment in list.moments {
            guard let content = try await content(of: moment) else {
                report.unreadable += 1
                continue
            }
            var own: [TimelinePage.File] = []
            for (index, photo) in moment.photos.enumerated() {
                try Task.checkCancellation()
                // Two versions of a moment may name the same photos.
                if let known = files[photo.id] {
                    own.append(known)
                } else {
                    let (file, isReduced) = try await write(photo, of: moment, &names)
                    let place = Report.Photo(
                        photo: photo.id, moment: moment.id, title: moment.title, day: moment.time.day.text,
                        number: index + 1)
                    if file.path == nil { report.skipped.append(place) } else { report.photos += 1 }
                    if isReduced { report.reduced.append(place) }
                    files[photo.id] = file
                    own.append(file)
                }
                progress.finish(1)
            }
            exported.append(.init(content: content, photos: own))
            report.moments += 1
        }
        report.missing = report.skipped.count
        try await runBlocking { [exported] in
            let page = TimelinePage(moments: exported)
            try NewFile.write(try page.data(now: Date()), to: folder + "/moments.json")
            try NewFile.write(Array(page.html.utf8), to: folder + "/timeline.html")
        }
        return report
    }

    /// - Returns: nil if it can't be opened on this computer.
    private func content(of moment: MomentReport) async throws -> MomentContent? {
        do {
            return try await client.call(\.readMoment, parameter: moment.id)
        } catch let error as ControlError where [.noSuchItem, .notReadable].contains(error.code) {
            return nil
        }
    }

    /// Creates it. One that exists must not be a link that somebody else made.
    private static func isFolder(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        var status = stat()
        return errno == EEXIST && lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func write(
        _ photo: MomentReport.Photo, of moment: MomentReport, _ names: inout PhotoNames
    ) async throws -> (file: TimelinePage.File, isReduced: Bool) {
        // A size that can't be opened takes no name.
        let before = names
        var place = ""
        let written = try await PhotoDownload.writeLargest(of: photo.id, client) { opened, size in
            names = before
            let name = names.next(MomentTime(date: opened.taken ?? moment.date, offset: moment.offset), size.type)
            let year = "photos/" + name.prefix(4)
            try await runBlocking { [folder] in
                for path in ["\(folder)/photos", "\(folder)/\(year)"] where !Self.isFolder(path) {
                    throw TransferError(
                        .failed, code: "failed", "\(path) can't be created (\(String(cString: strerror(errno)))).")
                }
            }
            place = "\(year)/\(name)"
            return "\(folder)/\(place)"
        }
        guard let written else { return (TimelinePage.File(photo: photo, type: "", taken: nil, path: nil), false) }
        let file = TimelinePage.File(
            photo: photo, type: written.size.type, taken: written.report.taken, path: place)
        return (file, written.isReduced)
    }
}
