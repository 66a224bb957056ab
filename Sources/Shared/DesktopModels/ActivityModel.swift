public import ControlAPI
import Localization
public import Observation

/// An event of the activity log, as it is shown.
public struct ActivityItem: Equatable, Sendable, Identifiable {
    /// The event's number.
    public var id: String
    /// "14:05".
    public var time: String
    /// "Today", "2026-01-31": the heading above the first event of a day; nil for the others.
    public var dayHeading: String?
    public var sentence: String
    public var group: EventGroup
    /// Whether it deserves attention: a denied launch, a wrong passcode, protection that was interrupted.
    public var isWarning: Bool
}

/// An entry of a filter: what it shows, and what it chooses.
public struct FilterChoice<Value: Equatable & Sendable>: Equatable, Sendable {
    public var title: String
    public var value: Value?
}

/// The activity log, newest first.
@MainActor @Observable
public final class ActivityModel {
    /// How many events are read at a time.
    static let limit = LogQuery.maximumLimit

    public private(set) var items: [ActivityItem] = []
    public private(set) var apps: [FilterChoice<String>] = []
    public private(set) var users: [FilterChoice<UInt32>] = []
    public private(set) var days: [FilterChoice<LocalDay>] = []
    public private(set) var bars: [ChartBar] = []
    public private(set) var chart = ActivityChart.app(.month)
    /// How many events are shown; empty if there are no earlier ones.
    public private(set) var earlier = ""
    /// What the last verification found; empty before.
    public private(set) var verification = ""
    public private(set) var isWhole = true
    public var filter = ActivityFilter() {
        didSet {
            if filter != oldValue { show() }
        }
    }

    private let context: DesktopContext
    private let userName: (UInt32) -> String?
    @ObservationIgnored private var events: [EventReport] = []
    /// How many events stay here, so that a window that is open for weeks does not grow.
    @ObservationIgnored private var kept = limit
    @ObservationIgnored private var names: [String: String] = [:]

    /// - Parameter userName: the name of a user of this computer.
    public init(_ context: DesktopContext, userName: @escaping (UInt32) -> String?) {
        self.context = context
        self.userName = userName
    }

    /// Reads the log and the counts of the chart: with an open session everybody's, else those that AppLocker shows this
    /// user.
    public func load() async {
        await context.attempt {
            let token = context.session.token
            let installed = try await context.control.call(\.listApps).apps
            names = Dictionary(installed.map { ($0.id, context.appName($0.id, $0.name)) }) { $1 }
            let list = try await context.control.call(\.log, query: LogQuery(limit: Self.limit), token: token)
            kept = Self.limit
            become(list.events, hasEarlier: list.events.count == Self.limit)
            try await readBars()
        }
    }

    /// Reads the events before the first one that is shown.
    public func loadEarlier() async {
        await context.attempt {
            let query = LogQuery(before: events.first?.number ?? .max, limit: Self.limit)
            let list = try await context.control.call(\.log, query: query, token: context.session.token)
            // Read again meanwhile, perhaps those of fewer people.
            guard events.first?.number ?? .max == query.before else { return }
            kept += Self.limit
            become(list.events + events, hasEarlier: list.events.count == Self.limit)
        }
    }

    private func become(_ events: [EventReport], hasEarlier: Bool) {
        self.events = events
        let count = events.count
        earlier =
            hasEarlier
            ? localized(count, one: "The newest event is shown.", other: "The newest \(count) events are shown.") : ""
        updateChoices()
        show()
    }

    public func choose(_ chart: ActivityChart) async {
        guard chart != self.chart else { return }
        self.chart = chart
        await context.attempt { try await readBars() }
    }

    private func readBars() async throws {
        let chart = chart
        var report = try await context.control.call(
            \.statistics, query: chart.query, token: context.session.token)
        for (index, app) in report.apps.enumerated() { report.apps[index].name = context.appName(app.app, app.name) }
        // Another one may have been chosen meanwhile.
        if chart == self.chart { bars = chart.bars(report, context.time) }
    }

    /// Reads what is new; errors are shown by the overview.
    public func refresh() async {
        let query = LogQuery(after: events.last?.number ?? 0, limit: Self.limit)
        guard let list = try? await context.control.call(\.log, query: query, token: context.session.token),
            !list.events.isEmpty
        else { return }
        let all = events + list.events
        become(all.suffix(kept), hasEarlier: !earlier.isEmpty || all.count > kept)
    }

    /// All events that match the filter as comma-separated values, oldest first.
    public func table() -> String { ActivityTable.text(matching(), context.time) }

    /// Checks that no event was changed, removed or truncated.
    public func verify() async {
        await context.attempt {
            let result = try await context.session.perform(localized("Verify the activity log")) { token in
                try await context.control.call(\.verifyLog, token: token)
            }
            isWhole = result.isWhole
            verification = localized(written: result.sentence)
        }
    }

    private func updateChoices() {
        let today = context.time.today
        let ids = Set(events.compactMap(\.app))
        apps =
            [FilterChoice(title: localized("All apps"), value: nil)]
            + ids.map { FilterChoice(title: names[$0] ?? $0, value: $0) }
            .sorted { $0.title.lowercased() < $1.title.lowercased() }
        users =
            [FilterChoice(title: localized("All people"), value: nil)]
            + Set(events.compactMap(\.user)).sorted().map { id in
                FilterChoice(title: userName(id) ?? localized("User \(id)"), value: id)
            }
        days =
            [FilterChoice(title: localized("All days"), value: nil)]
            + Set(events.compactMap { context.time.day($0.time) }).sorted(by: >).map {
                FilterChoice(title: $0.name(today: today), value: $0)
            }
    }

    private func matching() -> [EventReport] {
        events.filter { filter.matches($0, day: context.time.day($0.time)) }
    }

    private func show() {
        let today = context.time.today
        var items: [ActivityItem] = []
        var lastDay: LocalDay?
        for event in matching().reversed() {
            let day = context.time.day(event.time)
            items.append(
                ActivityItem(
                    id: "\(event.number)", time: String(context.time.text(event.time).suffix(5)),
                    dayHeading: day == lastDay ? nil : day?.name(today: today),
                    sentence: localized(written: event.sentence),
                    group: EventGroup(kind: event.kind), isWarning: Self.warnings.contains(event.kind)))
            lastDay = day
        }
        if items != self.items { self.items = items }
    }

    private static let warnings: Set<String> = [
        "launch_denied", "read_denied", "passcode_wrong", "gate_away", "marks_missing", "events_lost",
        "monitoring_off", "hub_misbehaved", "intruder_photographed",
    ]
}
