public import ControlAPI
public import Observation

/// The window's port to the content of photos, which is sealed and opened in this process. Called from the main actor;
/// an implementation may run on any executor.
public protocol PhotoFiles: Sendable {
    typealias ProgressHandler = TransferWork.ProgressHandler

    /// Decoded apart from this process: another member's photo is untrusted.
    ///
    /// - Returns: it is upright and has at most 2,048 pixels a side.
    func picture(of photo: PhotoReport) async throws -> PixelPicture
    /// The same of its thumbnail, with at most 320 pixels a side.
    func thumbnail(of photo: PhotoReport) async throws -> PixelPicture
    /// Writes a moment's photos, unsealed, into a folder. Nothing is overwritten.
    func save(_ moment: MomentReport, into folder: String, progress: @escaping ProgressHandler) async throws
    /// Imports the photos of a folder, a moment for each day.
    func importFolder(
        _ folder: String, to vault: String, keepsOriginals: Bool, progress: @escaping ProgressHandler
    ) async throws -> PhotoImportOutcome
    /// Writes every moment and photo, unsealed, into a new folder.
    ///
    /// - Returns: one sentence.
    func export(to folder: String, progress: @escaping ProgressHandler) async throws -> String
}

/// A decoded picture.
public struct PixelPicture: Equatable, Sendable {
    /// In pixels.
    public var width, height: Int
    /// Three bytes a pixel, by rows from the top.
    public var rgb: [UInt8]

    public init(width: Int, height: Int, rgb: [UInt8]) {
        (self.width, self.height, self.rgb) = (width, height, rgb)
    }
}

/// What an import did.
public struct PhotoImportOutcome: Equatable, Sendable {
    /// "Imported 12 photos as 3 moments."
    public var summary: String
    /// A sentence for each file that was skipped.
    public var skipped: [String]

    public init(summary: String, skipped: [String]) {
        (self.summary, self.skipped) = (summary, skipped)
    }
}

/// A photo of the moment that is shown.
public struct ShownPhoto: Equatable, Sendable, Identifiable {
    public var id: String
    /// Nil: it is being fetched, or `problem` has why it can't be shown.
    public var picture: PixelPicture?
    public var problem = ""
}

/// The moments of the open vault, Everline. They are written in the companion; here they are read, imported and
/// exported.
@MainActor @Observable
public final class MomentsModel {
    /// How many more moments are shown each time.
    static let pageSize = 100

    /// Newest first, as far as they are shown.
    public private(set) var moments: [MomentReport] = []
    public private(set) var hasMore = false
    /// How many can't be opened with this vault's keys.
    public private(set) var unreadable = 0
    /// The first photo of each moment, by the moment's id.
    public private(set) var thumbnails: [String: PixelPicture] = [:]
    /// The moment that is shown, with its words.
    public private(set) var shown: MomentContent?
    public private(set) var photos: [ShownPhoto] = []
    /// What the last import or export did: one sentence, and one for each file that was skipped.
    public private(set) var outcome: [String] = []
    /// Words that a moment has to contain; empty: all moments.
    public var search = ""
    /// What is imported, exported or saved at the moment.
    public var work: TransferWork.Step? { running.step }

    private let context: DesktopContext
    private let vault: VaultModel
    private let files: any PhotoFiles
    private let running = TransferWork()
    private var limit = MomentsModel.pageSize
    @ObservationIgnored private var fetching: Task<Void, Never>?
    @ObservationIgnored private var thumbnailing: Task<Void, Never>?

    public init(_ context: DesktopContext, _ vault: VaultModel, _ files: any PhotoFiles) {
        self.context = context
        self.vault = vault
        self.files = files
        vault.onLock.append { [unowned self] in wipe() }
    }

    /// Reads the list, as far as it matches the search.
    public func load() async {
        let words = search
        var filter = MomentFilter()
        filter.search = words.isEmpty ? nil : words
        let list = await vault.read { [filter] in try await context.control.call(\.listMoments, query: filter) }
        guard let list, words == search else { return }
        let first = Array(list.moments.prefix(limit))
        if first != moments { moments = first }
        hasMore = list.moments.count > limit
        unreadable = list.unreadable
        if thumbnailing == nil { thumbnailing = Task { [weak self] in await self?.fetchThumbnails() } }
    }

    /// One after another, in the order of the list.
    private func fetchThumbnails() async {
        defer { thumbnailing = nil }
        var tried: Set<String> = []
        while !Task.isCancelled,
            let next = moments.first(where: { !$0.photos.isEmpty && thumbnails[$0.id] == nil && !tried.contains($0.id) }
            )
        {
            tried.insert(next.id)
            let report = try? await context.control.call(\.readPhoto, parameter: next.photos[0].id)
            guard let report, let picture = try? await files.thumbnail(of: report), !Task.isCancelled else { continue }
            thumbnails[next.id] = picture
        }
    }

    public func showMore() async {
        limit += Self.pageSize
        await load()
    }

    // MARK: One moment

    /// Shows a moment; its photos follow one after another.
    public func open(_ id: String) async {
        let content = await vault.read { try await context.control.call(\.readMoment, parameter: id) }
        guard let content else { return }
        close()
        shown = content
        photos = content.moment.photos.map { ShownPhoto(id: $0.id) }
        fetching = Task { [weak self] in
            for photo in content.moment.photos where !Task.isCancelled { await self?.fetch(photo.id) }
        }
    }

    private func fetch(_ id: String) async {
        let result: Result<PixelPicture, any Error>
        do {
            let report = try await context.control.call(\.readPhoto, parameter: id)
            result = .success(try await files.picture(of: report))
        } catch {
            result = .failure(error)
        }
        guard !Task.isCancelled, let index = photos.firstIndex(where: { $0.id == id }) else { return }
        switch result {
        case .success(let picture): photos[index].picture = picture
        case .failure(let error): photos[index].problem = "The photo can't be shown. \(sentence(error))"
        }
    }

    public func close() {
        fetching?.cancel()
        fetching = nil
        shown = nil
        photos = []
    }

    public func setFavourite(_ isFavourite: Bool) async {
        await change(ChangeMomentRequest(favourite: isFavourite))
    }

    /// Moves the shown moment to the trash, from where the companion and `applocker moments restore` restore it.
    public func moveToTrash() async {
        guard await change(ChangeMomentRequest(removed: true)) else { return }
        close()
        context.announce("The moment is in the trash. `applocker moments restore` restores it.")
        await load()
    }

    @discardableResult
    private func change(_ request: ChangeMomentRequest) async -> Bool {
        guard let id = shown?.moment.id else { return false }
        let changed = await vault.read {
            try await context.control.call(\.changeMoment, parameter: id, body: request)
        }
        guard let changed else { return false }
        if shown?.moment.id == id { shown?.moment = changed }
        if let index = moments.firstIndex(where: { $0.id == id }) { moments[index] = changed }
        return true
    }

    // MARK: Files

    /// Writes the photos of the shown moment into a folder, unsealed.
    public func savePhotos(into folder: String) async {
        guard let moment = shown?.moment else { return }
        let done: Void? = await vault.read {
            try await running.run("Saving photos") { [files] in try await files.save(moment, into: folder, progress: $0)
            }
        }
        let count = SpokenDuration.count(moment.photos.count, "photo")
        if done != nil { context.announce("\(count) saved, unsealed: delete them when you are done.") }
    }

    /// After a failure or `cancel`, finished days stay; importing the folder again continues.
    public func importFolder(_ folder: String, keepsOriginals: Bool) async {
        outcome = []
        let done: PhotoImportOutcome? =
            await vault.read {
                guard let vault = try await context.control.call(\.vault).vault else { return nil }
                return try await running.run("Importing photos") { [files] in
                    try await files.importFolder(folder, to: vault, keepsOriginals: keepsOriginals, progress: $0)
                }
            } ?? nil
        if let done { outcome = [done.summary] + done.skipped }
        await load()
    }

    /// Asks for the passcode although the vault is open, so that nobody else at the computer can export everything.
    public func export(to folder: String) async {
        let question = PasscodeQuestion(
            title: "Export Everline",
            explanation: "Every moment and photo is written to \(folder), unsealed: store it like a photo album.",
            verb: "Export")
        let summary: String? = await vault.read {
            _ = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
            }
            return try await running.run("Exporting Everline") { [files] in
                try await files.export(to: folder, progress: $0)
            }
        }
        if let summary { outcome = [summary] }
    }

    /// Stops the import, the export or the saving.
    public func cancel() { running.cancel() }

    private func wipe() {
        cancel()
        close()
        thumbnailing?.cancel()
        thumbnails = [:]
        (moments, hasMore, unreadable, outcome) = ([], false, 0, [])
        limit = Self.pageSize
    }
}

extension MomentReport {
    /// Its title, or its day without one.
    public var heading: String { title.isEmpty ? LocalDay(date: date, offset: offset).text : title }

    /// "2024-05-17 18:30 · joy · Lisbon · 3 photos".
    public var facts: String {
        let minutes = Int((date / 60).rounded(.down)) + offset
        let minute = ((minutes % 1_440) + 1_440) % 1_440
        let clock = [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        let count = photos.isEmpty ? "" : SpokenDuration.count(photos.count, "photo")
        return ["\(LocalDay(date: date, offset: offset).text) \(clock)", mood, place?.name ?? "", count]
            .filter { !$0.isEmpty }.joined(separator: " · ")
    }
}
