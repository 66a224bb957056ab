import ControlAPI
import Localization
public import Observation

/// An intruder photo in the grid.
public struct IntruderItem: Equatable, Sendable, Identifiable {
    public var id: String
    /// "2026-01-31 14:05".
    public var title: String
    /// "After 3 wrong passcodes for Firefox".
    public var detail: String
}

/// An intruder photo that is shown.
public enum IntruderPicture: Equatable, Sendable {
    case decoded(PixelPicture)
    /// Why it can't be.
    case failed(String)
}

/// The intruder photos of the open vault. The whole picture is opened when it is looked at, and is in memory until then
/// only.
@MainActor @Observable
public final class IntrudersModel {
    /// How many of the newest photos have a thumbnail: one takes up to 170 kB of memory.
    static let mostThumbnails = 60

    /// Newest first.
    public private(set) var items: [IntruderItem] = []
    /// By the photo's id, as far as they were opened and can be.
    public private(set) var thumbnails: [String: PixelPicture] = [:]
    /// Nil if no photo is shown.
    public private(set) var picture: IntruderPicture?
    public private(set) var shown: IntruderItem?

    private let context: DesktopContext
    private let vault: VaultModel
    private let files: any PhotoFiles
    /// Changes with each opening and closing.
    private var openings = 0
    @ObservationIgnored private var thumbnailing: Task<Void, Never>?
    /// Photos that were opened for a thumbnail, also those that can't be.
    @ObservationIgnored private var tried: Set<String> = []

    public init(_ context: DesktopContext, _ vault: VaultModel, _ files: any PhotoFiles) {
        self.context = context
        self.vault = vault
        self.files = files
        vault.onLock.append { [unowned self] in
            thumbnailing?.cancel()
            (items, thumbnails, tried) = ([], [:], [])
            close()
        }
    }

    public func load() async {
        let read = await vault.read {
            let list = try await context.control.call(\.listIntruders)
            let apps = (try? await context.control.call(\.listApps).apps) ?? []
            return (list, Dictionary(apps.map { ($0.id, $0.name) }) { $1 })
        }
        guard let (list, names) = read else { return }
        let items = list.intruders.map { photo in
            IntruderItem(
                id: photo.id, title: context.time.text(photo.time),
                detail: Self.detail(photo.failures, app: photo.app.map { names[$0] ?? $0 }))
        }
        if items != self.items { self.items = items }
        let ids = Set(items.map(\.id))
        thumbnails = thumbnails.filter { ids.contains($0.key) }
        thumbnailing?.cancel()
        thumbnailing = Task { [weak self] in await self?.fetchThumbnails() }
    }

    /// One after another, in the order of the grid.
    private func fetchThumbnails() async {
        for id in items.prefix(Self.mostThumbnails).map(\.id) where !tried.contains(id) {
            let reply = try? await context.control.call(\.readIntruder, parameter: id)
            let picture: PixelPicture? =
                if let reply { try? await files.thumbnail(of: Array(reply.photo)) } else { nil }
            guard !Task.isCancelled else { return }
            tried.insert(id)
            thumbnails[id] = picture
        }
    }

    private static func detail(_ failures: Int, app: String?) -> String {
        guard let app else {
            return localized(
                failures, one: "After \(failures) wrong passcode", other: "After \(failures) wrong passcodes")
        }
        return localized(
            failures, one: "After \(failures) wrong passcode for \(app)",
            other: "After \(failures) wrong passcodes for \(app)")
    }

    public func open(_ id: String) async {
        openings += 1
        let opening = openings
        let reply = await vault.read { try await context.control.call(\.readIntruder, parameter: id) }
        guard let reply, let item = items.first(where: { $0.id == id }) else { return }
        let picture: IntruderPicture
        do {
            picture = .decoded(try await files.picture(of: Array(reply.photo)))
        } catch {
            picture = .failed(localized("The photo can't be shown.") + " " + sentence(error))
        }
        // It may have been closed meanwhile, as it is when the vault is locked.
        guard opening == openings else { return }
        shown = item
        self.picture = picture
    }

    public func close() {
        openings += 1
        shown = nil
        picture = nil
    }

    public func remove(_ id: String) async {
        let done = await vault.read { try await context.control.call(\.removeIntruder, parameter: id) }
        guard done != nil else { return }
        close()
        context.announce(localized("The photo is removed."))
        await load()
    }
}
