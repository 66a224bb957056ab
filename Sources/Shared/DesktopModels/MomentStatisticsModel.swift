import ControlAPI
import Localization
public import Observation

/// A number of Everline's statistics with its name.
public struct MomentFact: Equatable, Sendable, Identifiable {
    public var name: String
    public var value: String
    public var id: String { name }
}

/// Statistics of the open vault's moments.
@MainActor @Observable
public final class MomentStatisticsModel {
    /// Whether the page shows them, instead of the moments.
    public private(set) var isShown = false
    /// Empty until they were read, and where there is no moment.
    public private(set) var facts: [MomentFact] = []
    public private(set) var bars: [ChartBar] = []
    /// Whether there is no moment.
    public private(set) var isEmpty = false
    public var chart = MomentChart.year {
        didSet { bars = statistics.map { chart.bars($0) } ?? [] }
    }

    private let context: DesktopContext
    private let vault: VaultModel
    private var statistics: MomentStatistics?

    public init(_ context: DesktopContext, _ vault: VaultModel) {
        self.context = context
        self.vault = vault
        vault.onLock.append { [unowned self] in close() }
    }

    /// Reads and shows them.
    public func open() async {
        isShown = true
        let list = await vault.read { try await context.control.call(\.listMoments) }
        guard isShown, let list else { return }
        let statistics = MomentStatistics(list.moments)
        self.statistics = statistics
        isEmpty = statistics.moments == 0
        facts = Self.facts(statistics)
        bars = chart.bars(statistics)
    }

    public func close() {
        isShown = false
        (statistics, facts, bars, isEmpty) = (nil, [], [], false)
    }

    private static func facts(_ statistics: MomentStatistics) -> [MomentFact] {
        guard statistics.moments > 0 else { return [] }
        let first = statistics.first.map { MomentFact(name: localized("First moment"), value: $0) }
        return [
            MomentFact(name: localized("Moments"), value: String(statistics.moments)),
            MomentFact(name: localized("Photos"), value: String(statistics.photos)),
            MomentFact(name: localized("Favourites"), value: String(statistics.favourites)),
            MomentFact(name: localized("Places"), value: String(statistics.places)),
            MomentFact(name: localized("Days with a moment"), value: String(statistics.days)),
        ] + [first].compactMap { $0 }
    }
}
