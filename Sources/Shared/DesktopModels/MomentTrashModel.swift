import ControlAPI
import Localization
public import Observation

/// A moment in the trash.
public struct TrashedMoment: Equatable, Sendable, Identifiable {
    public var id: String
    public var heading: String
    /// "2024-05-17 · 3 photos · 12 days left".
    public var detail: String
    /// Or videos or voice notes.
    public var hasPhotos: Bool
}

/// What is erased for good, as a question states it.
public struct MomentErasure: Equatable, Sendable {
    let moments: [String]
    public var title: String
    public var explanation: String
}

/// The trash of the chosen vault's moments: from there they are restored, or erased before their time is over.
@MainActor @Observable
public final class MomentTrashModel {
    /// How many more moments are shown each time.
    static let pageSize = 100

    /// Whether the page shows it, instead of the moments.
    public private(set) var isShown = false
    /// The one that was removed last first, as far as they are shown.
    public private(set) var moments: [TrashedMoment] = []
    public private(set) var hasMore = false
    /// Nil until it was read.
    public private(set) var isEmpty: Bool?
    /// Whether moments are being erased.
    public private(set) var isErasing = false
    /// Whether moments can be restored and erased now.
    public var isChangeable: Bool { !isErasing && !vaults.isReadOnly }
    /// In days.
    public let keptFor: Int

    private let context: DesktopContext
    private let vaults: MomentVaultsModel
    private var limit = MomentTrashModel.pageSize
    private var all: [MomentReport] = []

    /// - Parameter seconds: after which the daemon erases what is in the trash.
    public init(_ context: DesktopContext, _ vault: VaultModel, _ vaults: MomentVaultsModel, keptFor seconds: Double) {
        self.context = context
        self.vaults = vaults
        keptFor = Int(seconds / 86_400)
        vault.onLock.append { [unowned self] in close() }
        vaults.onChoice.append { [unowned self] in close() }
    }

    public func open() async {
        isShown = true
        await load()
    }

    public func close() {
        isShown = false
        (all, moments, hasMore, isEmpty, limit) = ([], [], false, nil, Self.pageSize)
    }

    public func showMore() {
        limit += Self.pageSize
        show()
    }

    private func load() async {
        guard let found = await vaults.read({ try await read($0) }), isShown else { return }
        all = found
        show()
    }

    private func read(_ control: any DesktopControl) async throws -> [MomentReport] {
        var filter = MomentFilter()
        filter.trash = true
        return try await control.call(\.listMoments, query: filter).moments
            .sorted { ($0.removed ?? 0) > ($1.removed ?? 0) }
    }

    private func show() {
        let new = all.prefix(limit).map { moment in
            let day = LocalDay(date: moment.date, offset: moment.offset).text
            let parts = (moment.title.isEmpty ? [] : [day]) + moment.photos.counts + [timeLeft(moment)]
            return TrashedMoment(
                id: moment.id, heading: moment.heading, detail: parts.joined(separator: " · "),
                hasPhotos: !moment.photos.isEmpty)
        }
        if new != moments { moments = new }
        hasMore = all.count > limit
        isEmpty = all.isEmpty
    }

    private func timeLeft(_ moment: MomentReport) -> String {
        let seconds = (moment.removed ?? 0) + Double(keptFor) * 86_400 - context.time.wallClock()
        let days = min(keptFor, max(0, Int((seconds / 86_400).rounded(.up))))
        return days == 0
            ? localized("erased today") : localized(days, one: "\(days) day left", other: "\(days) days left")
    }

    public func restore(_ id: String) async {
        let restored = await vaults.read {
            try await $0.call(\.changeMoment, parameter: id, body: ChangeMomentRequest(removed: false))
        }
        if let restored { context.announce(localized("\(restored.heading) is restored.")) }
        await load()
    }

    // MARK: Erasing

    /// Nil for a moment that is not there any more.
    public func erasure(of id: String) -> MomentErasure? {
        guard let moment = all.first(where: { $0.id == id }) else { return nil }
        return erasure(of: [moment], title: localized("Erase \(moment.heading)?"))
    }

    /// Of what is in the trash now, not of what is moved there later.
    public var erasureOfAll: MomentErasure { erasure(of: all, title: localized("Empty the trash?")) }

    private func erasure(of moments: [MomentReport], title: String) -> MomentErasure {
        let lost = ([MomentChart.moments(moments.count)] + moments.flatMap(\.photos).counts).joined(separator: ", ")
        return MomentErasure(
            moments: moments.map(\.id), title: title,
            explanation: localized("Erased on all devices: \(lost). This can't be undone."))
    }

    public func erase(_ erasure: MomentErasure) async {
        guard !isErasing else { return }
        isErasing = true
        defer { isErasing = false }
        await vaults.read { control in
            // Another device may have restored or erased some since they were listed.
            let inTrash = Set(try await read(control).map(\.id))
            for id in erasure.moments where inTrash.contains(id) {
                try await control.call(\.removeMoment, parameter: id)
            }
        }
        await load()
    }
}
