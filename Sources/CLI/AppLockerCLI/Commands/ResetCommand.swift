import ArgumentParser
import ControlAPI
import LocalControl

struct ResetCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Erase everything: the keys first, then notes, files, photos, list and log.",
        discussion: """
            Also leaves the household, if the hub answers within five seconds; the last computer removes it. Only a backup restores the data. Files that were locked in place (.aplk) on this computer can't be opened
            any more. Asks twice, and for the passcode.

              applocker reset
            """)

    @Flag(help: "Skip the first question.") var yes = false
    @Option(help: "Instead of the second question: \"\(ResetRequest.confirmationText)\".") var confirm: String?
    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Confirmation.require(
            "Erase EVERYTHING that AppLocker stores on this computer? Only a backup restores it.", isConfirmed: yes
        )
        if confirm == nil {
            try await Confirmation.require(
                "Erase everything? Locked files (.aplk) can't be opened afterwards.", isConfirmed: false)
        }
        let own = try await passcodes.existing()
        let done = try await client.call(
            \.reset,
            body: ResetRequest(passcode: own.text, confirmation: confirm ?? ResetRequest.confirmationText))
        try done.print("Everything is erased.", output)
    }
}
