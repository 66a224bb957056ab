import ArgumentParser
import ControlAPI
import LocalControl

struct MonitoringCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitoring",
        abstract: "Turn monitoring, the locking of all apps, on or off.",
        subcommands: [On.self, Off.self])

    struct On: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Turn monitoring on.",
            discussion: """
                  applocker monitoring on
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let state = try await owner.whereNeeded { token in
                try await client.call(\.setMonitoring, token: token, body: MonitoringRequest(isOn: true))
            }
            try state.print(output)
        }
    }

    struct Off: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Turn monitoring off: EVERY app starts without a passcode for EVERYBODY.",
            discussion: """
                Asks for the passcode. With --for, monitoring turns on again by itself.

                  applocker monitoring off --for 1h
                  applocker monitoring off              until `applocker monitoring on`
                """)

        @Option(
            name: .customLong("for"),
            help: ArgumentHelp("How long, from 1m to 24h; without it, until it is turned on again.", valueName: "time"))
        var length: DurationArgument?
        @OptionGroup var options: CommonOptions

        func validate() throws {
            if let length, !MonitoringRequest.allowedSeconds.contains(length.seconds) {
                throw ValidationError("Monitoring can be off for 1 minute to 24 hours; --for takes 1m to 24h.")
            }
        }

        func run() async throws {
            let end = length.map { "for \(TimeText.spoken(seconds: $0.seconds))" } ?? "until you turn it on again"
            Output.errors.line(
                Paint(.errors).alarm("WARNING: \(end), every app on the list starts for everybody without a passcode."))
            let request = MonitoringRequest(isOn: false, forSeconds: length?.seconds)
            try await owner.call(\.setMonitoring, body: request).print(output)
        }
    }
}

extension MonitoringState {
    func print(_ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        let paint = Paint(.standard)
        guard !isOn else { return Output.standard.line("Monitoring is on: apps on the list are locked.") }
        let end = endsInSeconds.map { "Monitoring turns on again in \(TimeText.spoken(seconds: $0))." }
        Output.standard.line(
            paint.alarm("Monitoring is OFF. ") + (end ?? "It stays off until `applocker monitoring on`."))
    }
}
