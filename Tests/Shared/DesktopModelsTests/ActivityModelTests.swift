import ControlAPI
import DesktopModels
import TestSupport
import Testing

@MainActor
struct ActivityModelTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let model: ActivityModel

    init() {
        control.acceptPasscode()
        context = makeContext(control)
        model = ActivityModel(context) { $0 == 1_000 ? "ann" : nil }
        control.on(\.listApps) { _ in AppList(apps: [app("firefox", "Firefox")]) }
        control.on(\.statistics) { _ in
            StatisticsReport(
                since: nil,
                apps: [
                    AppStatistics(
                        app: "m", name: "Mail", asked: 2, allowed: 2, denied: 0, wrongPasscodes: 0, unlocks: 0),
                    AppStatistics(
                        app: "firefox", name: "Firefox", asked: 4, allowed: 1, denied: 3, wrongPasscodes: 1,
                        unlocks: 2, lastDenied: TestClock.start - 86_400),
                ],
                byDay: [
                    day("2025-12-31", asked: 8), day("2026-01-20", asked: 1, unlocks: 1),
                    day("2026-01-26", asked: 2, denied: 1),
                    day("2026-01-31", asked: 4, wrongPasscodes: 2), day("2026-02-01", asked: 99),
                    day("never", asked: 99),
                ])
        }
    }

    private func event(
        _ number: Int64, _ kind: String, _ sentence: String, app: String? = nil, user: UInt32? = nil,
        daysAgo: Double = 0
    ) -> EventReport {
        EventReport(
            number: number, time: TestClock.start - daysAgo * 86_400, kind: kind, app: app, user: user, process: nil,
            path: nil, reason: nil, sentence: sentence)
    }

    private func load(_ events: [EventReport]) async {
        control.on(\.log) { _ in EventList(events: events) }
        await model.load()
    }

    private var sample: [EventReport] {
        [
            event(1, "set_up", "The passcode was set.", daysAgo: 9),
            event(2, "launch_denied", "Firefox was denied.", app: "firefox", user: 1_000, daysAgo: 1),
            event(3, "passcode_wrong", "A wrong passcode.", app: "firefox", user: 7),
            event(4, "a_later_kind", "Something new."),
        ]
    }

    @Test func eventsAreNewestFirstWithAHeadingForEachDay() async {
        await load(sample)
        #expect(model.items.map(\.id) == ["4", "3", "2", "1"])
        #expect(model.items.map(\.dayHeading) == ["Today", nil, "Yesterday", "2026-01-22"])
        #expect(model.items.map(\.isWarning) == [false, true, true, false])
        #expect(model.items[0].time == "13:00")
    }

    @Test func eachFilterChoosesItsEvents() async {
        await load(sample)
        #expect(model.users.map(\.title) == ["All people", "User 7", "ann"])
        #expect(model.apps.map(\.title) == ["All apps", "Firefox"])
        #expect(model.days.map(\.title) == ["All days", "Today", "Yesterday", "2026-01-22"])
        model.filter.user = 1_000
        #expect(model.items.map(\.id) == ["2"])
        model.filter = ActivityFilter()
        model.filter.group = .passcodes
        #expect(model.items.map(\.id) == ["3", "1"])
        model.filter.day = model.days[1].value
        #expect(model.items.map(\.id) == ["3"])
        model.filter = ActivityFilter()
        model.filter.search = "DENIED fire"
        #expect(model.items.map(\.id) == ["2"])
        model.filter.app = "firefox"
        model.filter.search = ""
        #expect(model.items.map(\.id) == ["3", "2"])
    }

    @Test func newEventsAreAddedWithoutReadingTheOthersAgain() async {
        await load(sample)
        control.on(\.log) { [event = event(5, "locked", "Locked.")] request in
            EventList(events: request.query["after"] == "4" ? [event] : [])
        }
        await model.refresh()
        #expect(model.items.map(\.id) == ["5", "4", "3", "2", "1"])
    }

    @Test func earlierEventsAreReadOnRequest() async {
        let all = (1...2_500).map { event($0, "locked", "Locked.") }
        control.on(\.log) { request in
            let before = request.query["before"].flatMap { Int64($0) } ?? .max
            return EventList(events: all.filter { $0.number < before }.suffix(1_000))
        }
        await model.load()
        #expect(model.items.count == 1_000 && model.earlier == "The newest 1000 events are shown.")
        await model.loadEarlier()
        #expect(model.items.map(\.id) == (501...2_500).reversed().map { "\($0)" })
        #expect(model.earlier == "The newest 2000 events are shown.")
        await model.loadEarlier()
        #expect(model.items.count == 2_500 && model.items.last?.id == "1" && model.earlier.isEmpty)
        #expect(model.table().split(separator: "\r\n").count == 2_501)
        await model.load()
        #expect(model.items.count == 1_000 && model.items.first?.id == "2500")
    }

    @Test func aWindowThatStaysOpenKeepsAsManyEventsAsItRead() async {
        await load((1...999).map { event($0, "locked", "Locked.") })
        #expect(model.earlier.isEmpty)
        control.on(\.log) { [new = (1_000...1_002).map { event($0, "locked", "Locked.") }] _ in EventList(events: new) }
        await model.refresh()
        #expect(model.items.map(\.id).last == "3" && model.items.count == 1_000)
        #expect(model.earlier == "The newest 1000 events are shown.")
    }

    @Test func theTableQuotesTextAndDisarmsFormulas() async {
        await load([
            event(1, "locked", "A \"quoted\", long\nline", user: 3), event(2, "locked", "=HYPERLINK(\"x\")"),
        ])
        let table = model.table()
        #expect(
            table == "number,time,kind,app,user,sentence\r\n"
                + "1,2026-01-31T12:00:00Z,locked,,3,\"A \"\"quoted\"\", long\nline\"\r\n"
                + "2,2026-01-31T12:00:00Z,locked,,,\"'=HYPERLINK(\"\"x\"\")\"\r\n")
    }

    @Test func theChartComparesApps() async {
        await load(sample)
        #expect(model.bars.map(\.name) == ["Firefox", "Mail"])
        #expect(model.bars.map(\.fraction) == [1, 0.5])
        #expect(
            model.bars[0].detail
                == "4 launches, 2 unlocks, 3 denied, 1 wrong passcode, last denied 2026-01-30 13:00")
        #expect(model.bars[1].detail == "2 launches")
    }

    @Test func appsAreComparedInTheChosenPeriod() async {
        await load(sample)
        for period in [StatisticsPeriod.today, .week, .month, .all] { await model.choose(.app(period)) }
        // The chart begins with a month, and choosing it again reads nothing.
        #expect(control.requests(.statistics).map { $0.query["period"] } == ["month", "today", "week", "month", "all"])
        #expect(model.bars.map(\.name) == ["Firefox", "Mail"])
    }

    @Test func theChartComparesDaysWeeksOrMonths() async throws {
        await load(sample)
        await model.choose(.day)
        #expect(model.bars.map(\.name).first == "Today" && model.bars.map(\.name).dropFirst().first == "Yesterday")
        #expect(model.bars.last.map { [$0.name, $0.detail] } == ["2026-01-20", "1 launch, 1 unlock"])
        #expect(model.bars.last?.fraction == 0.25)
        #expect(model.bars.count == 12, "also the days without launches between")
        #expect(model.bars[0].detail == "4 launches, 2 wrong passcodes" && model.bars[1].detail == "0 launches")

        await model.choose(.week)
        #expect(
            model.bars.map(\.name) == [
                "This week", "Week of 2026-01-19", "Week of 2026-01-12", "Week of 2026-01-05",
                "Week of 2025-12-29",
            ])
        #expect(model.bars[0].detail == "6 launches, 1 denied, 2 wrong passcodes" && model.bars[0].fraction == 0.75)

        await model.choose(.month)
        #expect(model.bars.map(\.name) == ["January 2026", "December 2025"])
        #expect(model.bars.map(\.fraction) == [0.875, 1])
        #expect(control.requests(.statistics).map { $0.query["days"] }.dropFirst() == ["15", "64", "400"])
    }

    @Test func withoutLaunchesThereAreNoBars() async {
        control.on(\.statistics) { _ in StatisticsReport(since: nil, apps: [], byDay: []) }
        await load(sample)
        for chart in ActivityChart.allCases {
            await model.choose(chart)
            #expect(model.bars.isEmpty)
        }
    }

    @Test func aBrokenLogIsShownAsBroken() async {
        await load(sample)
        control.on(\.verifyLog) { request in
            try FakeControl.requireToken(request)
            return LogVerification(
                isWhole: false, links: 3, head: "4:ab", firstBroken: 2, sentence: "Event 2 was changed.")
        }
        async let done: Void = model.verify()
        await answer(context.prompt)
        await done
        #expect(!model.isWhole && model.verification == "Event 2 was changed.")
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func anAbsurdTimeIsShownAsUnknown(time: Double) {
        #expect(context.time.text(time) == "?")
    }
}

private func day(_ day: String, asked: Int, denied: Int = 0, wrongPasscodes: Int = 0, unlocks: Int = 0) -> DayStatistics
{
    DayStatistics(day: day, asked: asked, allowed: 0, denied: denied, wrongPasscodes: wrongPasscodes, unlocks: unlocks)
}
