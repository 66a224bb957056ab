import ArgumentParser
import ControlAPI
import LocalControl

struct SetupCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Set the owner's passcode. Run this first.",
        discussion: """
            At least 4 characters. AppLocker can't show it again, and nobody can reset it without being root.

              applocker setup
              applocker setup --passcode-fd 0 < passcode.txt
            """)

    @OptionGroup var options: CommonOptions

    func run() async throws {
        let status = try await client.call(\.status)
        guard !status.isSetUp else {
            throw ControlError(
                .alreadySetUp, "A passcode is set already. Change it with `applocker passcode change`.")
        }
        let chosen = try await passcodes.chosen("New passcode")
        let done = try await client.call(\.setUp, body: PasscodeRequest(passcode: chosen.text))
        try done.print("The passcode is set. Lock an app with `applocker lock APP`.", output)
    }
}
