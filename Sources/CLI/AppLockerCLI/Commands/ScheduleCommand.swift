import ArgumentParser
import ControlAPI
import LocalControl
import Policy

struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Choose when an app or a category is locked.",
        discussion: """
            A schedule is `block WINDOWS` (locked inside, unlocked outside) or `allow WINDOWS` (unlocked inside only). A window is days and times, which may cross midnight; several are separated by commas. A template's name may be used as a schedule.
            """,
        subcommands: [Show.self, Set.self, Clear.self, Templates.self])

    /// An app, or --category NAME.
    struct Target: ParsableArguments {
        @Option(name: .customLong("category"), help: ArgumentHelp("A category instead of an app.", valueName: "name"))
        var category: String?
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the schedules of all apps on the list, or of one app or category.",
            discussion: """
                  applocker schedule show
                  applocker schedule show firefox-esr
                  applocker schedule show --category games
                """)

        @Argument(help: AppNames.help) var app: String?
        @OptionGroup var target: Target
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if app != nil, target.category != nil { throw ValidationError("Name an app or a category, not both.") }
        }

        func run() async throws {
            if let name = target.category {
                let list = try await connection.client.call(\.listCategories)
                guard let category = list.categories.first(where: { $0.name == name }) else {
                    throw ControlError(
                        .noSuchCategory, "There is no category \(name). See `applocker category list`.")
                }
                if output.json { return try Output.standard.json(category) }
                return Output.standard.line("\(name.terminalSafe): \(text(category.schedule))")
            }
            let list = try await connection.client.call(\.listApps)
            let apps = try app.map { [try ListedApps(list.apps).one(AppNames.resolved($0))] } ?? list.apps
            if output.json { return try Output.standard.json(AppList(apps: apps)) }
            var table = Table(["NAME", "APP ID", "SCHEDULE"])
            for app in apps { table.add([app.name, app.id, text(app.schedule)]) }
            Output.standard.lines(table.lines(Paint(.standard)))
        }

        private func text(_ schedule: String?) -> String { schedule?.terminalSafe ?? "always locked" }
    }

    struct Set: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the schedule of an app or a category.",
            discussion: """
                  applocker schedule set firefox-esr "block mon-fri 22:00-07:00"
                  applocker schedule set firefox-esr "allow sat,sun 10:00-12:00, 14:00-18:00"
                  applocker schedule set firefox-esr school-night
                  applocker schedule set --category games "allow weekends 14:00-18:00"
                """)

        @Argument(help: "An app, unless --category is given; then the schedule's text or a template's name.")
        var values: [String]
        @OptionGroup var target: Target
        @OptionGroup var options: CommonOptions

        func validate() throws {
            let wanted = target.category == nil ? 2 : 1
            guard values.count == wanted else {
                throw ValidationError(
                    "Enter \(wanted == 2 ? "an app and a schedule" : "one schedule"), the schedule in quotes, as in "
                        + "\"block mon-fri 22:00-07:00\".")
            }
            guard values.allSatisfy({ !$0.isEmpty }) else {
                throw ValidationError("A schedule can't be empty. `applocker schedule clear` removes one.")
            }
        }

        func run() async throws {
            let schedule = ScheduleArgument.text(values[values.count - 1])
            let app = target.category == nil ? values[0] : nil
            try await change(app: app, category: target.category, schedule: schedule, owner, output)
        }
    }

    struct Clear: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the schedule of an app or a category; it is always locked then.",
            discussion: """
                  applocker schedule clear firefox-esr
                  applocker schedule clear --category games
                """)

        @Argument(help: AppNames.help) var app: String?
        @OptionGroup var target: Target
        @OptionGroup var options: CommonOptions

        func validate() throws {
            if (app == nil) == (target.category == nil) { throw ValidationError("Name one app, or one --category.") }
        }

        func run() async throws {
            try await change(app: app, category: target.category, schedule: "", owner, output)
        }
    }

    private static func change(
        app: String?, category: String?, schedule: String, _ owner: OwnerSession, _ output: OutputOptions
    ) async throws {
        if let category {
            let request = SetCategoryRequest(schedule: schedule)
            return try await owner.call(\.setCategory, parameter: category, body: request).print(output)
        }
        let request = ChangeAppRequest(schedule: schedule)
        try await owner.call(\.changeApp, parameter: AppNames.resolved(app ?? ""), body: request).print(output) {
            "\($0.schedule ?? "always locked"); now \($0.stateText)"
        }
    }

    struct Templates: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the ready-made schedules.",
            discussion: """
                  applocker schedule templates
                """)

        @OptionGroup var output: OutputOptions

        func run() throws {
            let templates = Schedule.templates.map {
                ScheduleTemplateReport(
                    name: $0.name, schedule: ScheduleArgument.text($0.schedule), summary: $0.summary)
            }
            if output.json { return try Output.standard.json(["templates": templates]) }
            var table = Table(["NAME", "SCHEDULE", "MEANING"])
            for template in templates { table.add([template.name, template.schedule, template.summary]) }
            Output.standard.lines(table.lines(Paint(.standard)))
        }
    }
}

/// An entry of `schedule templates --json`.
struct ScheduleTemplateReport: Encodable {
    var name: String
    var schedule: String
    var summary: String
}

/// A schedule as an argument: a template's name, or the text that AppLocker parses.
enum ScheduleArgument {
    static func text(_ typed: String) -> String {
        Schedule.template(named: typed).map { text($0.schedule) } ?? typed
    }

    static func text(_ schedule: Schedule) -> String {
        (schedule.mode == .blockInside ? "block " : "allow ") + schedule.text
    }
}
