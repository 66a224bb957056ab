import ArgumentParser
import ControlAPI
import Foundation
import LocalControl

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "The hub that connects this computer and your phones.",
        discussion: """
            The hub stores sealed data of the devices and can't read it.
            """,
        subcommands: [Status.self, Connect.self, Join.self, Disconnect.self], defaultSubcommand: Status.self)

    struct Status: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the hub, its connection and pending records.",
            discussion: """
                  applocker hub status
                  applocker hub status --json
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await owner.hub().print(output)
        }
    }

    struct Connect: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Connect to a hub.",
            discussion: """
                The hub may require an invitation: a link of `applocker-hub invite`, or the token in DIR/registration-token on the hub's machine, either in a file.

                  applocker hub connect https://hub.example
                  applocker hub connect https://hub.example --registration-token-file token
                  applocker hub connect https://hub.lan --ca ca.pem --proxy http://proxy:3128
                """)

        @Argument(help: "https://, or http:// on this machine.") var url: String
        @Option(
            help: ArgumentHelp(
                "File with the hub's registration token, or with a link of `applocker-hub invite`.", valueName: "file"),
            completion: .file())
        var registrationTokenFile: String?
        @OptionGroup var hub: HubConnectionOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let token = try registrationTokenFile.map { path in
                guard let bytes = FileManager.default.contents(atPath: path), bytes.count <= 4_096 else {
                    throw CommandLineError(.usage, code: "usage", "\(path) can't be read as a registration token.")
                }
                return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let request = ConnectHubRequest(
                url: url, registrationToken: token, certificates: hub.certificates, proxy: hub.proxy,
                isInsecure: hub.insecure)
            let status = try await owner.call(\.connectHub, body: request)
            if output.json { return try Output.standard.json(status) }
            Output.standard.line(
                "Connected to \((status.url ?? url).terminalSafe). Pair a phone with `applocker pair`.")
        }
    }

    struct Disconnect: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave the hub.",
            discussion: """
                If this is the only computer of the household, the hub's data is deleted, and paired devices lose access. If there is another computer, that one continues without this one, which can't return.

                  applocker hub disconnect
                """)

        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Confirmation.require(
                "Leave the hub? If no other computer is in the household, every paired device has to be paired again.",
                isConfirmed: yes)
            try await owner.call(\.disconnectHub).print("AppLocker is not connected to a hub.", output)
        }
    }
}

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Synchronisation with the other devices.",
        subcommands: [Status.self], defaultSubcommand: Status.self)

    struct Status: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show pending records, the last sync and refused records.",
            discussion: """
                  applocker sync status
                  applocker sync status --json
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await owner.hub().print(output)
        }
    }
}

extension HubStatus {
    func print(_ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        Output.standard.lines(lines(Paint(.standard)))
    }

    func lines(_ paint: Paint) -> [String] {
        guard let url else {
            return [
                (problem ?? joining ?? "There is no hub. Connect one with `applocker hub connect URL`.").terminalSafe
            ]
        }
        var lines = [
            connected
                ? paint.good("Connected to \(url.terminalSafe)")
                : paint.warning("Not connected to \(url.terminalSafe)")
        ]
        if let problem { lines.append(connected ? paint.warning(problem.terminalSafe) : problem.terminalSafe) }
        for sentence in misbehaviour { lines.append(paint.alarm("DON'T TRUST THIS HUB: \(sentence.terminalSafe)")) }
        if let joining { lines.append("Joining another household: \(joining.terminalSafe)") }
        lines.append("")
        lines.append("Last sync  \(lastSync.map { TimeText.local($0) } ?? "never")")
        lines.append("Records    \(records) at the hub, \(waiting) not sent yet")
        if refused > 0 { lines.append(paint.alarm("Refused    \(refused) records that were tampered with")) }
        if conflicts > 0 {
            lines.append(
                "Conflicts  \(conflicts) \(conflicts == 1 ? "note" : "notes"), both versions are kept once the vault is open"
            )
        }
        if let revoking {
            lines.append(
                paint.warning("Revoking   \(revoking.terminalSafe): sent as soon as the hub can be reached"))
        }
        return lines
    }
}
