import ArgumentParser
import ControlAPI
import LocalControl

struct PasscodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode",
        abstract: "Change the passcode, or set one for an app.",
        subcommands: [Change.self, Set.self, Clear.self])

    struct Change: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the owner's passcode; the old one is asked for.",
            discussion: """
                With --passcode-fd: two lines, the old passcode and the new one.

                  applocker passcode change
                  applocker passcode change --passcode-fd 3 3< both-lines
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await client.requireSetUp()
            let old = try await passcodes.existing("Old passcode")
            let new = try await passcodes.chosen("New passcode")
            let done = try await client.call(
                \.changePasscode, body: ChangePasscodeRequest(old: old.text, new: new.text))
            try done.print("The passcode is changed.", output)
        }
    }

    struct Set: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a passcode for one app. The owner's passcode unlocks it too.",
            discussion: """
                With --passcode-fd: two lines, the owner's passcode and the app's new one.

                  applocker passcode set --app firefox-esr
                """)

        @Option(help: AppNames.help) var app: String
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let name = AppNames.resolved(app)
            try await client.requireSetUp()
            // Both are read before the request: the terminal echoes keys while a passcode is being checked.
            let own = try await passcodes.existing("Your passcode")
            let new = try await passcodes.chosen("New passcode for \(app.terminalSafe)")
            let changed = try await owner.open(with: own) { token in
                try await client.call(
                    \.changeApp, parameter: name, token: token, body: ChangeAppRequest(passcode: new.text))
            }
            try changed.print(output) { _ in "its own passcode is set; the owner's unlocks it too" }
        }
    }

    struct Clear: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an app's own passcode; the owner's remains.",
            discussion: """
                  applocker passcode clear --app firefox-esr
                """)

        @Option(help: AppNames.help) var app: String
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let changed = try await owner.call(
                \.changeApp, parameter: AppNames.resolved(app), body: ChangeAppRequest(passcode: ""))
            try changed.print(output) { _ in "only the owner's passcode unlocks it" }
        }
    }
}
