import ArgumentParser
import LocalControl
import WireProtocol

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "End AppLocker, with the passcode. Locked apps are open until it runs again.",
        discussion: """
            To open everything for a while, rather use `applocker monitoring off --for 1h`: it comes back by itself.

              applocker stop
            """)

    @Flag(help: "Don't ask.") var yes = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Confirmation.require(
            "End AppLocker? Every locked app starts without a question until it runs again.", isGiven: yes)
        let own = try await passcode.source.existing()
        let done: DoneReport = try await connection.client.call(.stop, body: PasscodeRequest(passcode: own.text))
        try done.print("AppLocker has ended.", output)
    }
}
