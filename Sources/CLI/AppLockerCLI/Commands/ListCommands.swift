import ArgumentParser
import ControlAPI
import LocalControl

struct AddCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an app to the list; it is locked from then on.",
        discussion: """
              applocker add firefox-esr
              applocker add "Calculator"
              applocker add ./bin/diary
            """)

    @Argument(help: AppNames.help) var app: String
    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await owner.call(\.addApp, body: AddAppRequest(app: AppNames.resolved(app))).print(output)
    }
}

struct RemoveCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an app from the list; it then starts without a prompt.",
        discussion: """
              applocker remove firefox-esr
            """)

    @Argument(help: AppNames.help) var app: String
    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await owner.call(\.removeApp, parameter: AppNames.resolved(app)).print(output)
    }
}
