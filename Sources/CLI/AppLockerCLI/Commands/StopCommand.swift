import ArgumentParser
import ControlAPI
import LocalControl

struct StopCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop AppLocker, with the passcode. Locked apps start without a passcode until it runs again.",
        discussion: """
            To unlock everything for a time, use `applocker monitoring off --for 1h`: monitoring turns on again by itself.

              applocker stop
            """)

    @Flag(help: "Don't ask.") var yes = false
    @OptionGroup var options: CommonOptions

    func run() async throws {
        try await Confirmation.require(
            "Stop AppLocker? Every locked app starts without a prompt until it runs again.", isConfirmed: yes)
        let own = try await passcodes.existing()
        try await client.call(\.stop, body: PasscodeRequest(passcode: own.text)).print("AppLocker is stopped.", output)
    }
}
