import ArgumentParser
import BlockingThread
import ControlAPI
import LocalControl

struct AppsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List the installed apps and mark those on the list.",
        discussion: """
            --running lists the apps of which you run a program; root sees those of all users. An app that an \
            interpreter runs, such as a Python script, is not recognised.

              applocker apps                    all installed apps
              applocker apps --running          those that run now
              applocker apps --listed           apps on the list, with their state
              applocker apps --listed --json
            """)

    @Flag(help: "Only the apps on the list, with their state and schedule.")
    var listed = false
    @Flag(help: "Only the installed apps that run now.")
    var running = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if listed, running { throw ValidationError("Use only one of --listed and --running.") }
    }

    func run() async throws {
        let client = connection.client
        if listed {
            let list = try await client.call(\.listApps)
            if output.json { return try Output.standard.json(list) }
            Output.standard.lines(AppTable.lines(list.apps, Paint(.standard)))
        } else {
            let installed = try await client.call(\.listInstalled)
            let list = running ? await runBlocking { installed.running() } : installed
            if output.json { return try Output.standard.json(list) }
            let none = running ? "None of the installed apps runs now." : nil
            Output.standard.lines(AppTable.lines(list, Paint(.standard), none: none))
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
            let app = try ListedApps(list.apps).one(AppNames.resolved(app), orSharing: true)
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
        @Option(help: "keep, freeze or close.") var onGrantEnd: InstanceActionArgument
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let change = ChangeAppRequest(onGrantEnd: onGrantEnd.rawValue)
            try await owner.call(\.changeApp, parameter: AppNames.resolved(app), body: change).print(output)
        }
    }
}

/// What happens to a running instance.
enum InstanceActionArgument: String, ExpressibleByArgument, CaseIterable {
    case keep, freeze, close
}
