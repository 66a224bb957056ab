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

            With --earlier-verifier the passcode of the earlier AppLocker stays valid. Locked apps ask for it at once; \
            when it is entered for the first time, the vault is created and the verifier is replaced by a stronger one.

              applocker setup --earlier-verifier verifier.json
            """)

    @Option(
        help: ArgumentHelp(
            "What the earlier AppLocker stored of its passcode, as JSON: kind, salt, digest.", valueName: "file"),
        completion: .file())
    var earlierVerifier: String?
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard earlierVerifier == nil || options.passcode.passcodeFd == nil else {
            throw ValidationError("Use either --earlier-verifier or --passcode-fd.")
        }
    }

    func run() async throws {
        let status = try await client.call(\.status)
        guard !status.isSetUp else {
            throw ControlError(
                .alreadySetUp, "A passcode is set already. Change it with `applocker passcode change`.")
        }
        if let earlierVerifier {
            let verifier = try EarlierVerifier(file: earlierVerifier)
            let done = try await client.call(\.setUp, body: SetUpRequest(earlierVerifier: verifier))
            return try done.print(
                "The earlier passcode is set. Enter it once, with `applocker vault unlock`, and remove the file.",
                output)
        }
        let chosen = try await passcodes.chosen("New passcode")
        let done = try await client.call(\.setUp, body: SetUpRequest(passcode: chosen.text))
        try done.print("The passcode is set. Lock an app with `applocker lock APP`.", output)
    }
}
