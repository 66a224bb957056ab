import ArgumentParser
import ControlAPI
import LocalControl

struct StopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop AppLocker, with the passcode. Locked apps start without a passcode until it runs again.",
        discussion: """
            To unlock everything for a time, use `applocker monitoring off --for 1h`: monitoring turns on again by itself.

              applocker stop
            """)

    @Flag(help: "Don't ask.") var yes = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var passcode: PasscodeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await Confirmation.require(
            "Stop AppLocker? Every locked app starts without a prompt until it runs again.", isGiven: yes)
        let own = try await passcode.source.existing()
        let done = try await connection.client.call(\.stop, body: PasscodeRequest(passcode: own.text))
        try done.print("AppLocker is stopped.", output)
    }
}
