public import ControlAPI
import Localization
public import Observation

/// The window's port to the content of photos, which is sealed and opened in this process. Called from the main actor;
/// an implementation may run on any executor.
public protocol PhotoFiles: Sendable {
    typealias ProgressHandler = TransferWork.ProgressHandler

    /// Decoded apart from this process: another member's photo is untrusted.
    ///
    /// - Returns: it is upright and has at most 2,048 pixels a side.
    func picture(of photo: PhotoReport) async throws -> PixelPicture
    /// The same of its thumbnail, with at most 96 pixels a side.
    func thumbnail(of photo: PhotoReport) async throws -> PixelPicture
    /// The same of a photo that was opened, as an intruder's is: the camera's program and other computers are untrusted.
    func picture(of photo: [UInt8]) async throws -> PixelPicture
    /// The same, with at most 240 pixels a side.
    func thumbnail(of photo: [UInt8]) async throws -> PixelPicture
    /// Writes a moment's photos, unsealed, into a folder. Nothing is overwritten.
    ///
    /// - Returns: one sentence.
    func save(_ moment: MomentReport, into folder: String, progress: @escaping ProgressHandler) async throws -> String
    /// Imports the photos of a folder, a moment for each day.
    func importFolder(
        _ folder: String, to vault: String, keepsOriginals: Bool, progress: @escaping ProgressHandler
    ) async throws -> PhotoImportOutcome
    /// Writes every moment and photo, unsealed, into a new folder.
    ///
    /// - Returns: one sentence.
    func export(to folder: String, progress: @escaping ProgressHandler) async throws -> String
    /// The same for moments and photos of a shared vault; nil for this computer's own.
    func inVault(_ id: String?) -> any PhotoFiles
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

/// The folder can't be used; nothing was read or written.
public struct PhotoFilesRefusal: Error {
    public var sentence: String

    public init(sentence: String) { self.sentence = sentence }
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

/// A photo of the moment that is shown, or the poster of a video or a voice note.
public struct ShownPhoto: Equatable, Sendable, Identifiable {
    public var id: String
    /// Nil of a photo.
    public var kind: RecordingKind?
    /// "0:42"; nil of a photo, and of a recording of which it is unknown.
    public var length: String?
    /// Nil: it is being fetched, or `problem` has why it can't be shown.
    public var picture: PixelPicture?
    public var problem = ""

    init(_ photo: MomentReport.Photo) {
        (id, kind) = (photo.id, photo.kind)
        length = photo.duration.map { SpokenDuration.clock(seconds: Int($0.rounded())) }
    }
}

/// The moments of the chosen vault, Everline. They are written in the companion; here they are read, imported and
/// exported.
@MainActor @Observable
public final class MomentsModel {
    /// How many more moments are shown each time.
    static let pageSize = 100
    /// How many more photos of a moment are decoded each time: one takes up to 9 MB of memory.
    static let photosAtOnce = 20

    /// Newest first, as far as they are shown.
    public private(set) var moments: [MomentReport] = []
    public private(set) var hasMore = false
    /// Whether there is no moment at all, also none that the search does not find.
    public private(set) var isEmpty = true
    /// How many can't be opened with this vault's keys.
    public private(set) var unreadable = 0
    /// The first photo of each moment, by the photo's id.
    public private(set) var thumbnails: [String: PixelPicture] = [:]
    /// The moment that is shown, with its words.
    public private(set) var shown: MomentContent?
    /// The first ones, as far as they are shown.
    public private(set) var photos: [ShownPhoto] = []
    public var hasMorePhotos: Bool { (shown?.moment.photos.count ?? 0) > photos.count }
    /// What the last import, export or saving did: one sentence, and one for each file that was skipped.
    public private(set) var outcome: [String] = []
    /// Words that a moment has to contain; empty: all moments.
    public var search = ""
    /// What is imported, exported or saved at the moment.
    public var work: TransferWork.Step? { running.step }

    /// Opens the companion in a browser of this computer, which it pairs the first time.
    @ObservationIgnored public var openPanel: (@MainActor (_ passcode: String) async throws -> Void)?

    private let context: DesktopContext
    private let vaults: MomentVaultsModel
    private let files: any PhotoFiles
    /// Of the chosen vault.
    private var vaultFiles: any PhotoFiles { files.inVault(vaults.chosen) }
    private let running = TransferWork()
    private var limit = MomentsModel.pageSize
    @ObservationIgnored private var fetching: Task<Void, Never>?
    @ObservationIgnored private var thumbnailing: Task<Void, Never>?
    /// Photos whose thumbnail was fetched, or can't be.
    @ObservationIgnored private var tried: Set<String> = []
    /// Increases with each moment that is opened or closed.
    @ObservationIgnored private var openings = 0

    public init(_ context: DesktopContext, _ vault: VaultModel, _ vaults: MomentVaultsModel, _ files: any PhotoFiles) {
        self.context = context
        self.vaults = vaults
        self.files = files
        vault.onLock.append { [unowned self] in
            cancel()
            search = ""
            wipe()
        }
        vaults.onChoice.append { [unowned self] in wipe() }
    }

    /// Reads which vaults there are, and the list.
    public func loadWithVaults() async {
        // The first may wait for the hubs of the shared vaults.
        async let isReset = vaults.load()
        await load()
        if await isReset { await load() }
    }

    /// Shows the moments of another vault. A running import or export continues in its own one.
    ///
    /// - Parameter id: of a shared vault; nil for this computer's own.
    public func choose(vault id: String?) async {
        guard vaults.choose(id) else { return }
        await loadWithVaults()
    }

    /// Reads the list, as far as it matches the search.
    public func load() async {
        let words = search
        var filter = MomentFilter()
        filter.search = words.isEmpty ? nil : words
        let list = await vaults.read { [filter] in try await $0.call(\.listMoments, query: filter) }
        guard let list, words == search else { return }
        let first = Array(list.moments.prefix(limit))
        if first != moments { moments = first }
        hasMore = list.moments.count > limit
        if words.isEmpty || !list.moments.isEmpty { isEmpty = list.moments.isEmpty }
        unreadable = list.unreadable
        let named = Set(first.compactMap(\.photos.first?.id))
        thumbnails = thumbnails.filter { named.contains($0.key) }
        tried.formIntersection(named)
        thumbnailing?.cancel()
        thumbnailing = Task { [weak self] in await self?.fetchThumbnails() }
    }

    /// One after another, in the order of the list.
    private func fetchThumbnails() async {
        let control = vaults.control
        for photo in moments.compactMap(\.photos.first?.id) where !tried.contains(photo) {
            let report = try? await control.call(\.readPhoto, parameter: photo)
            let picture: PixelPicture? = if let report { try? await files.thumbnail(of: report) } else { nil }
            guard !Task.isCancelled else { return }
            // A photo's record may arrive after its moment's.
            if report != nil { tried.insert(photo) }
            thumbnails[photo] = picture
        }
    }

    public func showMore() async {
        limit += Self.pageSize
        await load()
    }

    // MARK: One moment

    /// Shows a moment; its photos follow one after another.
    public func open(_ id: String) async {
        close()
        if work == nil { outcome = [] }
        let opening = openings
        let content = await vaults.read { try await $0.call(\.readMoment, parameter: id) }
        guard let content, opening == openings else { return }
        shown = content
        showMorePhotos()
    }

    public func showMorePhotos() {
        let more = (shown?.moment.photos ?? []).dropFirst(photos.count).prefix(Self.photosAtOnce)
        photos += more.map(ShownPhoto.init)
        fetching = Task { [weak self, before = fetching, openings] in
            await before?.value
            for photo in more { await self?.fetch(photo.id, of: openings) }
        }
    }

    /// - Parameter opening: nothing is done for a moment that was closed.
    private func fetch(_ id: String, of opening: Int) async {
        guard opening == openings else { return }
        let (control, files) = (vaults.control, vaultFiles)
        let result: Result<PixelPicture, any Error>
        do {
            let report = try await control.call(\.readPhoto, parameter: id)
            result = .success(try await files.picture(of: report))
        } catch {
            result = .failure(error)
        }
        guard opening == openings, let index = photos.firstIndex(where: { $0.id == id }) else { return }
        switch result {
        case .success(let picture): photos[index].picture = picture
        case .failure(let error):
            photos[index].problem = localized("The photo can't be shown.") + " " + sentence(error)
        }
    }

    public func close() {
        openings += 1
        fetching?.cancel()
        fetching = nil
        shown = nil
        photos = []
    }

    public func setFavourite(_ isFavourite: Bool) async {
        await change(ChangeMomentRequest(favourite: isFavourite))
    }

    /// Moves the shown moment to the trash, from where `MomentTrashModel` restores it.
    public func moveToTrash() async {
        let id = shown?.moment.id
        guard await change(ChangeMomentRequest(removed: true)) else { return }
        if shown?.moment.id == id { close() }
        context.announce(localized("The moment is in the trash."))
        await load()
    }

    @discardableResult
    private func change(_ request: ChangeMomentRequest) async -> Bool {
        guard let id = shown?.moment.id else { return false }
        let changed = await vaults.read { try await $0.call(\.changeMoment, parameter: id, body: request) }
        guard let changed else {
            // So that the button is set again: an equal value alone reports no change.
            if let kept = shown, kept.moment.id == id { (shown, shown) = (nil, kept) }
            return false
        }
        if shown?.moment.id == id { shown?.moment = changed }
        if let index = moments.firstIndex(where: { $0.id == id }) { moments[index] = changed }
        return true
    }

    /// Opens the companion, where moments are written. Asks for the passcode although the vault is open: a browser that
    /// is paired reads everything.
    public func openCompanion() async {
        guard let openPanel else { return }
        let question = PasscodeQuestion(
            title: localized("Write in the companion"),
            explanation: localized(
                "It opens in the browser. The first time the browser is paired, and you choose a PIN there."),
            verb: localized("Open"))
        await context.attempt {
            let passcode = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
                return passcode
            }
            try await openPanel(passcode)
        }
    }

    // MARK: Files

    /// Writes the photos of the shown moment into a folder, unsealed.
    public func savePhotos(into folder: String) async {
        guard let moment = shown?.moment else { return }
        await run(localized("Saving photos"), ifStopped: Self.unsealed(folder)) { [files = vaultFiles] in
            [try await files.save(moment, into: folder, progress: $0)]
        }
    }

    /// After a failure or `cancel`, finished days stay; importing the folder again continues.
    public func importFolder(_ folder: String, keepsOriginals: Bool) async {
        let files = vaultFiles
        guard let vault = await vaults.sealingID() else { return }
        let stopped = localized("The import was stopped. Finished days stay; import the folder again to continue.")
        await run(localized("Importing photos"), ifStopped: stopped) { [files] in
            let done = try await files.importFolder(folder, to: vault, keepsOriginals: keepsOriginals, progress: $0)
            return [done.summary] + done.skipped
        }
        await load()
    }

    /// Asks for the passcode although the vault is open, so that nobody else at the computer can export everything.
    public func export(to folder: String) async {
        let files = vaultFiles
        let question = PasscodeQuestion(
            title: localized("Export Everline"),
            explanation: localized(
                "Every moment and photo is written to \(folder), unsealed: store it like a photo album."),
            verb: localized("Export", context: "verb"))
        let status = await context.attempt {
            try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
            }
        }
        guard status != nil else { return }
        await run(localized("Exporting Everline"), ifStopped: Self.unsealed(folder)) { [files] in
            [try await files.export(to: folder, progress: $0)]
        }
    }

    private static func unsealed(_ folder: String) -> String {
        localized("Not everything was written. The files in \(folder) are not sealed: remove them.")
    }

    /// The outcome stays after a lock: its sentences name no content of the vault.
    ///
    /// - Parameter stopped: the sentence after `cancel`, a lock or a failure in the middle.
    private func run(
        _ title: String, ifStopped stopped: String,
        _ body: @escaping @Sendable (@escaping TransferWork.ProgressHandler) async throws -> [String]
    ) async {
        if let work { return context.announce(work.refusal) }
        outcome = []
        do {
            outcome = try await running.run(title, body).map { localized(written: $0) }
        } catch is CancellationError {
            outcome = [stopped]
        } catch let error as PhotoFilesRefusal {
            outcome = [localized(written: error.sentence)]
        } catch {
            outcome = [sentence(error), stopped]
        }
    }

    /// Stops the import, the export or the saving.
    public func cancel() { running.cancel() }

    private func wipe() {
        close()
        thumbnailing?.cancel()
        (thumbnailing, thumbnails, tried) = (nil, [:], [])
        // Without a search, as a list that was not read yet.
        (moments, hasMore, isEmpty, unreadable) = ([], false, search.isEmpty, 0)
        limit = Self.pageSize
    }
}

extension MomentReport {
    /// Its title, or its day without one.
    public var heading: String { title.isEmpty ? LocalDay(date: date, offset: offset).text : title }

    /// "2024-05-17 18:30 · Joy · Lisbon · 3 photos · 1 video".
    public var facts: String {
        let clock = DesktopTime.clock(date, offset: offset)
        let facts = ["\(LocalDay(date: date, offset: offset).text) \(clock)", moodName(mood), place?.name ?? ""]
        return (facts.filter { !$0.isEmpty } + photos.counts).joined(separator: " · ")
    }
}
