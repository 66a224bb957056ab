import ArgumentParser
import ControlAPI
import LocalControl

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show or change the settings.",
        subcommands: [Show.self, Set.self], defaultSubcommand: Show.self)

    struct Show: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the settings.",
            discussion: """
                  applocker settings
                  applocker settings show --json
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await owner.whereNeeded { try await client.call(\.settings, token: $0) }.print(output)
        }
    }

    struct Set: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the named settings.",
            discussion: """
                  applocker settings set --prompt-timeout 45s
                  applocker settings set --default-unlock 15m --no-hold-root
                """)

        @Option(
            help: ArgumentHelp(
                "How long a launch waits for an answer before it is denied, 5s to 5m.", valueName: "time"))
        var promptTimeout: DurationArgument?
        @Option(
            help: ArgumentHelp(
                "How long a launch waits that only a paired phone can answer, 30s to 10m.", valueName: "time"))
        var phoneTimeout: DurationArgument?
        @Option(help: ArgumentHelp("The default duration of an unlock, 30s to 1h.", valueName: "time"))
        var defaultUnlock: DurationArgument?
        @Flag(inversion: .prefixedNo, help: "Show a prompt also when root starts a locked app.")
        var holdRoot: Bool?
        @Option(
            help: ArgumentHelp("Lock the vault after it has not been used for this time, 1m to 1h.", valueName: "time"))
        var vaultIdle: DurationArgument?
        @Option(
            help: ArgumentHelp(
                "Take a photo after this many wrong passcodes in a row, 1 to 10; 0 turns photos off.",
                valueName: "number"))
        var photoFrom: Int?
        @Option(
            help: ArgumentHelp(
                "The camera: auto, or FORMAT:INPUT as ffmpeg names it, for example v4l2:/dev/video2.",
                valueName: "camera"))
        var camera: String?
        @Option(
            help: ArgumentHelp(
                "Lock everything after this idle time, 1m to 1h.", valueName: "time"))
        var inactivity: DurationArgument?
        @Option(
            help: ArgumentHelp(
                "Clear text copied from AppLocker from the clipboard after this time, 5s to 5m.", valueName: "time")
        )
        var clipboard: DurationArgument?
        @Flag(
            inversion: .prefixedNo,
            help: "Hide what AppLocker shows and lock the vault while the screen is recorded.")
        var lockOnCapture: Bool?
        @Option(
            help: ArgumentHelp(
                "Without a prompter: hold a launch until a paired phone answers, or deny it at once.",
                valueName: "on|off"))
        var askPhoneOnly: OnOff?
        @Option(
            help: ArgumentHelp("Keep alerts and intruder photos for this many days, 7 to 365.", valueName: "days"))
        var alertDays: Int?
        @OptionGroup var options: CommonOptions

        enum OnOff: String, ExpressibleByArgument, CaseIterable {
            case on, off
        }

        func validate() throws {
            if promptTimeout == nil, phoneTimeout == nil, defaultUnlock == nil, holdRoot == nil, vaultIdle == nil,
                photoFrom == nil, camera == nil, inactivity == nil, clipboard == nil, lockOnCapture == nil,
                askPhoneOnly == nil, alertDays == nil
            {
                throw ValidationError(
                    "Name a setting: --prompt-timeout, --phone-timeout, --default-unlock, --[no-]hold-root, "
                        + "--vault-idle, --photo-from, --camera, --inactivity, --clipboard, --[no-]lock-on-capture, "
                        + "--ask-phone-only or --alert-days.")
            }
        }

        func run() async throws {
            let request = ChangeSettingsRequest(
                promptTimeoutSeconds: promptTimeout?.seconds, phoneTimeoutSeconds: phoneTimeout?.seconds,
                defaultGrantSeconds: defaultUnlock?.seconds, holdsRoot: holdRoot, vaultIdleSeconds: vaultIdle?.seconds,
                photographsFromFailure: photoFrom,
                camera: camera, inactivitySeconds: inactivity?.seconds, clipboardSeconds: clipboard?.seconds,
                locksOnCapture: lockOnCapture, asksPhoneAlone: askPhoneOnly.map { $0 == .on }, alertDays: alertDays)
            try await owner.call(\.changeSettings, body: request).print(output)
        }
    }
}

extension SettingsReport {
    func print(_ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        Output.standard.lines([
            "prompt-timeout  \(TimeText.spoken(seconds: promptTimeoutSeconds))",
            "phone-timeout   \(TimeText.spoken(seconds: phoneTimeoutSeconds))",
            "default-unlock  \(TimeText.spoken(seconds: defaultGrantSeconds))",
            "hold-root       \(holdsRoot ? "yes: prompts for root, too" : "no: root starts locked apps without a prompt")",
            "vault-idle      \(TimeText.spoken(seconds: vaultIdleSeconds))",
            "photo-from      \(photographsFromFailure == 0 ? "never" : "wrong passcode \(photographsFromFailure) in a row")",
            "camera          \(camera.terminalSafe)",
            "alert-days      \(alertDays)",
            "inactivity      \(TimeText.spoken(seconds: inactivitySeconds))",
            "clipboard       \(TimeText.spoken(seconds: clipboardSeconds))",
            "ask-phone-only  \(asksPhoneAlone ? "on: without a prompter, prompts go to a paired phone" : "off")",
            "lock-on-capture \(locksOnCapture ? "yes: content is hidden and the vault locked" : "no")",
        ])
    }
}
