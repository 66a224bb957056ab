import ArgumentParser
import ControlAPI
import LocalControl

struct SetupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Set the owner's passcode. Run this first.",
        discussion: """
            At least 4 characters. AppLocker can't show it again, and nobody can reset it without being root.

              applocker setup
              applocker setup --passcode-fd 0 < passcode.txt
            """)

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let client = connection.client
        let status = try await client.call(\.status)
        guard !status.isSetUp else {
            throw ControlError(
                .alreadySetUp, "A passcode is set already. Change it with `applocker passcode change`.")
        }
        let chosen = try await passcode.source.chosen("New passcode")
        let done = try await client.call(\.setUp, body: PasscodeRequest(passcode: chosen.text))
        try done.print("The passcode is set. Lock an app with `applocker lock APP`.", output)
    }
}
