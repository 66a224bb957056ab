import ControlAPI
import Localization
public import Observation

/// A number of Everline's statistics with its name.
public struct MomentFact: Equatable, Sendable, Identifiable {
    public var name: String
    public var value: String
    public var id: String { name }
}

/// Statistics of the chosen vault's moments.
@MainActor @Observable
public final class MomentStatisticsModel {
    /// Whether the page shows them, instead of the moments.
    public private(set) var isShown = false
    public var chart = MomentChart.year
    /// Empty until they were read, and where there is no moment.
    public var facts: [MomentFact] { statistics.map(Self.facts) ?? [] }
    public var bars: [ChartBar] { statistics.map(chart.bars) ?? [] }
    /// Whether there is no moment.
    public var isEmpty: Bool { statistics?.moments == 0 }

    private let vaults: MomentVaultsModel
    private var statistics: MomentStatistics?

    public init(_ vault: VaultModel, _ vaults: MomentVaultsModel) {
        self.vaults = vaults
        vault.onLock.append { [unowned self] in close() }
        vaults.onChoice.append { [unowned self] in close() }
    }

    /// Reads and shows them.
    public func open() async {
        isShown = true
        let list = await vaults.read { try await $0.call(\.listMoments) }
        guard isShown, let list else { return }
        statistics = MomentStatistics(list.moments)
    }

    public func close() {
        isShown = false
        statistics = nil
    }

    private static func facts(_ statistics: MomentStatistics) -> [MomentFact] {
        guard statistics.moments > 0 else { return [] }
        let first = statistics.first.map { MomentFact(name: localized("First moment"), value: $0) }
        let recordings = [
            (localized("Videos"), statistics.videos), (localized("Voice notes"), statistics.voiceNotes),
        ].filter { $0.1 > 0 }.map { MomentFact(name: $0, value: String($1)) }
        return [
            MomentFact(name: localized("Moments"), value: String(statistics.moments)),
            MomentFact(name: localized("Photos"), value: String(statistics.photos)),
        ] + recordings + [
            MomentFact(name: localized("Favourites"), value: String(statistics.favourites)),
            MomentFact(name: localized("Places"), value: String(statistics.places)),
            MomentFact(name: localized("Days with a moment"), value: String(statistics.days)),
        ] + [first].compactMap { $0 }
    }
}
