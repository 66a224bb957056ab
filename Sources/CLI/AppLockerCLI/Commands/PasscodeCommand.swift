import ArgumentParser
import ControlAPI
import LocalControl

struct PasscodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode",
        abstract: "Change the passcode, or set one for an app.",
        subcommands: [Change.self, Set.self, Clear.self])

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the owner's passcode; the old one is asked for.",
            discussion: """
                With --passcode-fd: two lines, the old passcode and the new one.

                  applocker passcode change
                  applocker passcode change --passcode-fd 3 3< both-lines
                """)

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let client = connection.client
            let status = try await client.call(\.status)
            guard status.isSetUp else {
                throw ControlError(.notSetUp, "No passcode has been chosen yet. Run `applocker setup` first.")
            }
            let old = try await passcode.source.existing("Old passcode")
            let new = try await passcode.source.chosen("New passcode")
            let done = try await client.call(
                \.changePasscode, body: ChangePasscodeRequest(old: old.text, new: new.text))
            try done.print("The passcode is changed.", output)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a passcode for one app. The owner's passcode unlocks it too.",
            discussion: """
                With --passcode-fd: two lines, the owner's passcode and the app's new one.

                  applocker passcode set --app firefox-esr
                """)

        @Option(help: AppNames.help) var app: String
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = OwnerSession(client: connection.client, passcodes: passcode.source)
            let name = AppNames.resolved(app)
            let status = try await owner.client.call(\.status)
            guard status.isSetUp else {
                throw ControlError(.notSetUp, "No passcode has been chosen yet. Run `applocker setup` first.")
            }
            // Both are read before the request: the terminal echoes keys while a passcode is being checked.
            let own = try await passcode.source.existing("Your passcode")
            let new = try await passcode.source.chosen("New passcode for \(app.terminalSafe)")
            let changed = try await owner.open(with: own) { token in
                try await owner.client.call(
                    \.changeApp, parameter: name, token: token, body: ChangeAppRequest(passcode: new.text))
            }
            try changed.print(output)
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an app's own passcode; the owner's remains.",
            discussion: """
                  applocker passcode clear --app firefox-esr
                """)

        @Option(help: AppNames.help) var app: String
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = OwnerSession(client: connection.client, passcodes: passcode.source)
            let changed = try await owner.open { token in
                try await owner.client.call(
                    \.changeApp, parameter: AppNames.resolved(app), token: token, body: ChangeAppRequest(passcode: ""))
            }
            try changed.print(output)
        }
    }
}
