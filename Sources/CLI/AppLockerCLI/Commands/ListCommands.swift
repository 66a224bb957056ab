import ArgumentParser
import ControlAPI
import LocalControl

struct AddCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an app to the list; it is locked from then on.",
        discussion: """
            Instances of the app that run already are kept, unless --running is set. freeze: they are stopped \
            until the app is unlocked. close: they receive SIGTERM, and SIGKILL ten seconds later. Both concern the \
            instances of every user.

              applocker add firefox-esr
              applocker add "Calculator" --running close
              applocker add ./bin/diary
            """)

    @Argument(help: AppNames.help) var app: String
    @Option(help: "What happens to instances that run now: keep, freeze or close.")
    var running: InstanceActionArgument = .keep
    @OptionGroup var options: CommonOptions

    func run() async throws {
        let request = AddAppRequest(app: AppNames.resolved(app), running: running.rawValue)
        try await owner.call(\.addApp, body: request).print(output)
    }
}

struct RemoveCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove apps from the list; they then start without a prompt.",
        discussion: """
              applocker remove firefox-esr
              applocker remove firefox-esr "Calculator"
            """)

    @Argument(help: AppNames.help) var apps: [String]
    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await client.requireSetUp()
        let listed = ListedApps(try await client.call(\.listApps).apps)
        // A name that is wrong removes nothing.
        let ids = Set(try apps.map { try listed.one(AppNames.resolved($0)).id })
        let changes = try await owner.open { token in
            var changes: [AppsChanged] = []
            for id in ids.sorted() { changes.append(try await client.call(\.removeApp, parameter: id, token: token)) }
            return changes
        }
        try AppsChanged(apps: changes.flatMap(\.apps), notes: changes.flatMap(\.notes)).print(output)
    }
}
