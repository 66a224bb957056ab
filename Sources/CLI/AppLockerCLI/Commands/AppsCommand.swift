import ArgumentParser
import ControlAPI
import LocalControl

struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List the installed apps and mark those on the list.",
        discussion: """
              applocker apps                    all installed apps
              applocker apps --listed           apps on the list, with their state
              applocker apps --listed --json
            """)

    @Flag(help: "Only the apps on the list, with their state and schedule.")
    var listed = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let client = connection.client
        if listed {
            let list = try await client.call(\.listApps)
            if output.json { return try Output.standard.json(list) }
            Output.standard.lines(AppTable.lines(list.apps, Paint(.standard)))
        } else {
            let list = try await client.call(\.listInstalled)
            if output.json { return try Output.standard.json(list) }
            Output.standard.lines(AppTable.lines(list, Paint(.standard)))
        }
    }
}

struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Show or change one app on the list.",
        subcommands: [Show.self, Set.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the details of one app on the list.",
            discussion: """
                  applocker app show firefox-esr
                """)

        @Argument(help: AppNames.help) var app: String
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let list = try await connection.client.call(\.listApps)
            let app = try ListedApps(list.apps).one(AppNames.resolved(app))
            if output.json { return try Output.standard.json(app) }
            Output.standard.lines(app.lines(Paint(.standard)))
        }
    }

    struct Set: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Choose what happens to a running instance when its grant ends.",
            discussion: """
                keep: it continues; only a new start causes a prompt (the default). freeze: it is stopped until the \
                app is unlocked. close: it receives SIGTERM, and SIGKILL ten seconds later.

                  applocker app set firefox-esr --on-grant-end close
                """)

        @Argument(help: AppNames.help) var app: String
        @Option(help: "keep, freeze or close.") var onGrantEnd: GrantEndArgument
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let change = ChangeAppRequest(onGrantEnd: onGrantEnd.rawValue)
            try await owner.call(\.changeApp, parameter: AppNames.resolved(app), body: change).print(output)
        }
    }
}

enum GrantEndArgument: String, ExpressibleByArgument, CaseIterable {
    case keep, freeze, close
}
