import ArgumentParser
import ControlAPI
import LocalControl

struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an app to the list; it is locked from then on.",
        discussion: """
              applocker add firefox-esr
              applocker add "Calculator"
              applocker add ./bin/diary
            """)

    @Argument(help: AppNames.help) var app: String
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let owner = OwnerSession(client: connection.client, passcodes: passcode.source)
        let changed = try await owner.open { token in
            try await owner.client.call(\.addApp, token: token, body: AddAppRequest(app: AppNames.resolved(app)))
        }
        try changed.print(output)
    }
}

struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an app from the list; it then starts without a prompt.",
        discussion: """
              applocker remove firefox-esr
            """)

    @Argument(help: AppNames.help) var app: String
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let owner = OwnerSession(client: connection.client, passcodes: passcode.source)
        let changed = try await owner.open { token in
            try await owner.client.call(\.removeApp, parameter: AppNames.resolved(app), token: token)
        }
        try changed.print(output)
    }
}
