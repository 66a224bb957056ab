import BlockingThread
public import ControlAPI
import FileLocking
import Foundation
public import LocalControl
public import Pictures
public import SealedFormats

/// Imports old photos of a folder into the vault: a moment for each day. A day is written in one step, so an
/// interrupted one leaves nothing, and the next attempt skips what is already imported.
public struct PhotoImport: Sendable {
    public struct Report: Codable, Sendable {
        public struct Skipped: Codable, Sendable {
            public var path: String
            public var code: String
            public var sentence: String
        }

        public var moments: [MomentReport] = []
        public var photos = 0
        /// Photos that are already in the vault, or twice in the folder.
        public var duplicates = 0
        /// Photos without a date of their own, which got the day of the file.
        public var undated = 0
        /// Animations and other files with several pictures of which only the first was kept.
        public var reduced = 0
        public var removed = 0
        /// Pictures that were not imported, or whose files were kept, and why.
        public var skipped: [Skipped] = []

        private enum CodingKeys: String, CodingKey {
            case moments, photos, duplicates, undated, reduced, removed
            case skipped = "left"
        }
    }

    struct Found: Sendable {
        let path: String
        let size: UInt64
        let digest: Data
        let time: MomentTime
        let point: MomentPlace?
        let hasTime: Bool
    }

    /// What a person chooses.
    public struct Options: Sendable {
        /// Keeps the files as they are, with their camera and place.
        public var keepsOriginal = false
        /// Uses the place of each moment's first photo.
        public var keepsPlace = false
        public var mood = ""
        public var removesOriginals = false

        public init() {}
    }

    private let client: ControlClient
    private let vault: ItemID
    private let maker: PictureMaker
    private let options: Options
    private let handler: TransferProgress.Handler

    public init(
        client: ControlClient, vault: ItemID, maker: PictureMaker, options: Options,
        progress: @escaping TransferProgress.Handler = { _ in }
    ) {
        self.client = client
        self.vault = vault
        self.maker = maker
        self.options = options
        handler = progress
    }

    /// - Throws: `TransferError`, `ControlError`, `ControlClientError`, `CancellationError`. Finished days stay.
    public func run(_ folder: String) async throws -> Report {
        var report = Report()
        var found = try await look(folder, &report)
        let all = found
        found = try await new(found, &report)
        report.undated = found.count { !$0.hasTime }
        let progress = PhaseProgress(.importing, total: found.reduce(0) { $0 + $1.size }, handler)
        for (_, photos) in Dictionary(grouping: found, by: \.time.day).sorted(by: { $0.key < $1.key }) {
            let ordered = photos.sorted { ($0.time.date, $0.path) < ($1.time.date, $1.path) }
            for start in stride(from: 0, to: ordered.count, by: MomentBody.maximumPhotos) {
                let part = Array(ordered[start..<min(start + MomentBody.maximumPhotos, ordered.count)])
                try await add(part, progress, &report)
            }
        }
        if options.removesOriginals { try await removeOriginals(all, &report) }
        return report
    }

    // MARK: Finding

    private func look(_ folder: String, _ report: inout Report) async throws -> [Found] {
        let paths = try await runBlocking { try Self.files(below: folder) }
        let progress = PhaseProgress(.scanning, total: UInt64(paths.count), handler)
        var found: [Found] = []
        for path in paths {
            try Task.checkCancellation()
            do {
                if let one = try await runBlocking({ try Self.found(path) }) { found.append(one) }
            } catch let error as TransferError {
                report.skipped.append(.init(path: path, code: error.code, sentence: error.sentence))
            }
            progress.finish(1)
        }
        return found
    }

    /// Plain files, by name; hidden files and links are skipped.
    private static func files(below folder: String) throws -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw TransferError(.badInput, code: "no_such_folder", "\(folder) is not a folder.")
        }
        let keys: [URLResourceKey] = [.isRegularFileKey, .isSymbolicLinkKey]
        guard
            let all = FileManager.default.enumerator(
                at: URL(fileURLWithPath: folder), includingPropertiesForKeys: keys, options: [.skipsHiddenFiles])
        else { throw TransferError(.badInput, code: "not_readable", "\(folder) can't be read.") }
        var paths: [String] = []
        for case let url as URL in all {
            let values = try? url.resourceValues(forKeys: Set(keys))
            if values?.isRegularFile == true, values?.isSymbolicLink != true { paths.append(url.path) }
        }
        return paths.sorted()
    }

    /// Nil if the file isn't a picture.
    /// - Throws: `TransferError`, also for a picture of a format that isn't supported.
    private static func found(_ path: String) throws -> Found? {
        let start = try ReadableFile.named(path).read(at: 0, count: 16)
        guard PictureType(start) != nil else {
            guard let name = PictureType.unsupportedName(start) else { return nil }
            throw TransferError(
                .badInput, code: PictureError.Code.notPicture.rawValue, PictureError.unsupported(name).sentence)
        }
        let photo = try ChosenPhoto(path)
        let exif = Exif(photo.bytes)
        var status = stat()
        stat(path, &status)
        let time = MomentTime(exif) ?? MomentTime(date: Double(status.st_mtim.tv_sec))
        guard MomentBody.times.contains(time.date) else {
            throw TransferError(
                .badInput, code: "no_date", "The file's date is out of range; set another one.")
        }
        let point = exif.flatMap { exif in
            exif.latitude.map { MomentPlace(name: nil, latitude: $0, longitude: exif.longitude) }
        }
        return Found(
            path: path, size: UInt64(photo.bytes.count), digest: photo.digest, time: time, point: point,
            hasTime: MomentTime(exif) != nil)
    }

    private func new(_ found: [Found], _ report: inout Report) async throws -> [Found] {
        var (known, new) = (Set<Data>(), [Found]())
        for start in stride(from: 0, to: found.count, by: 1_000) {
            let part = found[start..<min(start + 1_000, found.count)]
            let reply = try await client.call(\.knownPhotos, body: KnownPhotosRequest(digests: part.map(\.digest)))
            for (one, place) in zip(part, reply.places) {
                if place != nil || known.contains(one.digest) { report.duplicates += 1 } else { new.append(one) }
                known.insert(one.digest)
            }
        }
        return new
    }

    // MARK: Adding

    /// Adds one moment. A picture that can't be imported is reported as skipped; the others are imported.
    private func add(_ found: [Found], _ progress: PhaseProgress, _ report: inout Report) async throws {
        let upload = PhotoUpload(client: client, vault: vault)
        let (results, failure) = await results(of: found, upload, progress)
        var (photos, taken, reduced): ([NewPhoto], [Found], Int) = ([], [], 0)
        for (one, result) in zip(found, results) {
            switch result {
            case .success(let result):
                photos.append(result.photo)
                taken.append(one)
                if result.isReduced { reduced += 1 }
            case .failure(let error as TransferError):
                report.skipped.append(.init(path: one.path, code: error.code, sentence: error.sentence))
            case .failure, nil: break
            }
        }
        do {
            if let failure { throw failure }
            guard let first = taken.first else { return }
            let moment = try await client.call(
                \.addMoment,
                body: NewMoment(
                    id: ItemID.random().description, title: "", words: "", date: first.time.date,
                    offset: first.time.offset, mood: options.mood,
                    place: options.keepsPlace ? taken.lazy.compactMap(\.point).first : nil, favourite: false,
                    photos: photos))
            report.moments.append(moment)
            report.photos += photos.count
            report.reduced += reduced
        } catch {
            await upload.discard(photos)
            throw error
        }
    }

    private struct Uploaded: Sendable {
        let photo: NewPhoto
        let isReduced: Bool
    }

    /// Decoding a JPEG uses one processor: two of them have work while the third photo waits for the daemon.
    private static let photosAtOnce = 3

    /// The result for each picture, nil for those not begun after a failure that ends the import; and that failure.
    private func results(
        of found: [Found], _ upload: PhotoUpload, _ progress: PhaseProgress
    ) async -> (results: [Result<Uploaded, any Error>?], failure: (any Error)?) {
        await withTaskGroup(of: (Int, Result<Uploaded, any Error>).self) { group in
            var results = [Result<Uploaded, any Error>?](repeating: nil, count: found.count)
            var failure: (any Error)?
            var waiting = found.indices
            func begin() {
                guard let index = waiting.popFirst() else { return }
                group.addTask { (index, await result(of: found[index], upload)) }
            }
            for _ in 0..<Self.photosAtOnce { begin() }
            for await (index, result) in group {
                results[index] = result
                progress.finish(found[index].size)
                if case .failure(let error) = result, failure == nil, Self.endsImport(error) {
                    failure = error
                    group.cancelAll()
                }
                if failure == nil { begin() }
            }
            return (results, failure)
        }
    }

    /// Whether the error concerns this computer and not the picture.
    private static func endsImport(_ error: any Error) -> Bool {
        guard let error = error as? TransferError else { return true }
        return error.code == PictureError.Code.failed.rawValue
    }

    private func result(of one: Found, _ upload: PhotoUpload) async -> Result<Uploaded, any Error> {
        do {
            try Task.checkCancellation()
            let (chosen, made) = try await runBlocking { [maker, keepsOriginal = options.keepsOriginal] in
                let chosen = try ChosenPhoto(one.path)
                guard chosen.digest == one.digest else {
                    throw TransferError(
                        .failed, code: "changed", "\(one.path) was changed meanwhile; import it again.")
                }
                return (chosen, try chosen.prepared(maker, keepsOriginal: keepsOriginal))
            }
            let photo = try await upload.run(made, of: chosen)
            return .success(Uploaded(photo: photo, isReduced: made.isReducedToOnePicture))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Removing

    /// Removes each file after its sealed copy was read back and compared.
    private func removeOriginals(_ found: [Found], _ report: inout Report) async throws {
        let progress = PhaseProgress(.comparing, total: found.reduce(0) { $0 + $1.size }, handler)
        let failed = Set(report.skipped.map(\.path))
        for start in stride(from: 0, to: found.count, by: 1_000) {
            let part = found[start..<min(start + 1_000, found.count)]
            let reply = try await client.call(\.knownPhotos, body: KnownPhotosRequest(digests: part.map(\.digest)))
            for (one, place) in zip(part, reply.places) where !failed.contains(one.path) {
                try Task.checkCancellation()
                if place?.isInTrash == true {
                    report.skipped.append(
                        .init(
                            path: one.path, code: "in_trash",
                            sentence: "The stored photo is in the trash; the file was kept."))
                } else if let place, try await removeIfKept(one, place) {
                    report.removed += 1
                } else {
                    report.skipped.append(
                        .init(
                            path: one.path, code: "not_verified",
                            sentence: "The stored photo differs from this file; the file was kept."))
                }
                progress.finish(one.size)
            }
        }
    }

    /// - Returns: false if the stored photo differs from the file, or the file was changed meanwhile.
    private func removeIfKept(_ one: Found, _ place: KnownPhotos.Place) async throws -> Bool {
        let photo = try await client.call(\.readPhoto, parameter: place.photo)
        let kept = try await PhotoDownload(client: client, photo: photo).original()
        return try await runBlocking { [maker] in
            // Comparing takes seconds, in which another program may write the file.
            let before = FileVersion(one.path)
            let chosen = try ChosenPhoto(one.path)
            guard chosen.digest == one.digest,
                kept == chosen.bytes || (try? maker.original(of: chosen.bytes))?.bytes == kept,
                before != nil, FileVersion(one.path) == before
            else { return false }
            guard unlink(one.path) == 0 else {
                throw TransferError(
                    .failed, code: "failed", "\(one.path) can't be removed (\(String(cString: strerror(errno)))).")
            }
            return true
        }
    }
}

/// Which file a path names, and when it was last changed.
private struct FileVersion: Equatable {
    private let numbers: [Int64]

    /// Nil if it can't be read.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int64(bitPattern: UInt64(status.st_dev)), Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec),
            Int64(status.st_ctim.tv_nsec),
        ]
    }
}
