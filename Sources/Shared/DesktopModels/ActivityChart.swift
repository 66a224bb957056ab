public import ControlAPI
import Localization

/// What the bars of a chart compare.
public enum ActivityChart: CaseIterable, Hashable, Sendable {
    case app(StatisticsPeriod)
    case day, week, month

    public static let allCases: [ActivityChart] =
        [.app(.today), .app(.week), .app(.month), .app(.all), .day, .week, .month]

    public var title: String {
        switch self {
        case .app(.today): localized("By app, today")
        case .app(.week): localized("By app, the last 7 days")
        case .app(.month): localized("By app, the last 30 days")
        case .app(.all): localized("By app, all")
        case .day: localized("By day")
        case .week: localized("By week")
        case .month: localized("By month")
        }
    }

    /// Some more days of counts than the bars show, because the first is not whole.
    var query: StatisticsQuery {
        switch self {
        case .app(let period): StatisticsQuery(period: period)
        case .day: StatisticsQuery(days: 15)
        case .week: StatisticsQuery(days: 64)
        case .month: StatisticsQuery(days: 400)
        }
    }

    /// The most bars that are shown.
    private var limit: Int {
        switch self {
        case .app, .week: 8
        case .day: 14
        case .month: 12
        }
    }

    /// Apps with the most launches first; of days, weeks and months the newest. Those before the first launch are left out.
    func bars(_ report: StatisticsReport, _ time: DesktopTime) -> [ChartBar] {
        if case .app = self {
            return Self.bars(
                report.apps.sorted { $0.asked > $1.asked }.prefix(limit).map { ($0.name, Counts($0, time)) })
        }
        guard let today = time.today else { return [] }
        var counts: [Period: Counts] = [:]
        for day in report.byDay {
            guard let date = LocalDay(day.day), date <= today else { continue }
            counts[period(date), default: Counts()].add(day)
        }
        let periods = Array(sequence(first: period(today), next: previous).prefix(limit))
        guard let first = periods.lastIndex(where: { counts[$0] != nil }) else { return [] }
        return Self.bars(periods[...first].map { (name($0, today: today), counts[$0] ?? Counts()) })
    }

    private struct Counts {
        var asked = 0
        var unlocks = 0
        var denied = 0
        /// "14:05", or with the day if that is not today.
        var lastDenied: String?
        var wrongPasscodes = 0

        init() {}

        init(_ app: AppStatistics, _ time: DesktopTime) {
            (asked, unlocks, denied, wrongPasscodes) = (app.asked, app.unlocks, app.denied, app.wrongPasscodes)
            lastDenied = app.lastDenied.map(time.text)
        }

        mutating func add(_ day: DayStatistics) {
            asked += day.asked
            unlocks += day.unlocks
            denied += day.denied
            wrongPasscodes += day.wrongPasscodes
        }

        var detail: String {
            var parts = [localized(asked, one: "\(asked) launch", other: "\(asked) launches")]
            if unlocks > 0 {
                parts.append(localized(unlocks, one: "\(unlocks) unlock", other: "\(unlocks) unlocks"))
            }
            // Other languages have a plural of it.
            if denied > 0 { parts.append(localized(denied, one: "\(denied) denied", other: "\(denied) denied")) }
            if wrongPasscodes > 0 {
                parts.append(
                    localized(
                        wrongPasscodes, one: "\(wrongPasscodes) wrong passcode",
                        other: "\(wrongPasscodes) wrong passcodes"))
            }
            if let lastDenied { parts.append(localized("last denied \(lastDenied)")) }
            return parts.joined(separator: ", ")
        }
    }

    private static func bars(_ counts: [(name: String, counts: Counts)]) -> [ChartBar] {
        ChartBar.bars(counts.map { ($0, $1.detail, $1.asked) })
    }

    // MARK: Days, weeks and months

    /// The number of its first day since 1970, or of a month since the year 0.
    private typealias Period = Int

    private func period(_ day: LocalDay) -> Period {
        switch self {
        case .app, .day: day.daysSince1970
        // 1970-01-01 was a Thursday; weeks begin on Monday.
        case .week: day.daysSince1970 - (((day.daysSince1970 + 3) % 7) + 7) % 7
        case .month: day.year * 12 + day.month - 1
        }
    }

    private func previous(_ period: Period) -> Period { self == .week ? period - 7 : period - 1 }

    private func name(_ period: Period, today: LocalDay) -> String {
        switch self {
        case .month:
            return ChartBar.name(ofMonth: period % 12, year: period / 12)
        case .app, .day, .week:
            let day = LocalDay(date: Double(period) * 86_400, offset: 0)
            guard self == .week else { return day.name(today: today) }
            return localized(period == self.period(today) ? "This week" : "Week of \(day.text)")
        }
    }
}
