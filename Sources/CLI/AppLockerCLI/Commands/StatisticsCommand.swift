public import ArgumentParser
public import ControlAPI
import LocalControl

struct StatisticsCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count launches, unlocks and wrong passcodes by app.",
        discussion: """
            UNLOCKS counts correct passcodes and approvals by phone, LAST DENIED is the last of the denied launches.

              applocker stats
              applocker stats --period today
              applocker stats --period all
              applocker stats --days 90
            """)

    @Option(
        help: ArgumentHelp(
            "today, week (7 days, today included), month (30 days) or all that the log keeps. (default: week)",
            valueName: "period"))
    var period: StatisticsPeriod?
    @Option(help: "Instead of a period: the last N × 24 hours, N from 1 to 3650.") var days: Int?
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard let days else { return }
        guard period == nil else { throw ValidationError("Use either --period or --days.") }
        guard 1...3650 ~= days else { throw ValidationError("--days takes a number from 1 to 3650.") }
    }

    func run() async throws {
        let query = days.map { StatisticsQuery(days: $0) } ?? StatisticsQuery(period: period ?? .week)
        let report = try await owner.whereNeeded { token in
            try await client.call(\.statistics, query: query, token: token)
        }
        if output.json { return try Output.standard.json(report) }
        Output.standard.lines(report.lines(Paint(.standard)))
    }
}

extension StatisticsPeriod: ExpressibleByArgument {}

extension StatisticsReport {
    func lines(_ paint: Paint) -> [String] {
        guard !apps.isEmpty else {
            return [since.map { "Nothing was recorded since \(TimeText.local($0))." } ?? "Nothing is recorded yet."]
        }
        var table = Table(["APP", "ASKED", "ALLOWED", "UNLOCKS", "DENIED", "LAST DENIED", "WRONG PASSCODES"])
        for app in apps {
            table.add([
                app.name, "\(app.asked)", "\(app.allowed)", "\(app.unlocks)", "\(app.denied)",
                app.lastDenied.map(TimeText.local) ?? "-", "\(app.wrongPasscodes)",
            ])
        }
        return table.lines(paint)
    }
}
