import ArgumentParser
import ControlAPI
import Foundation
import HubAPI
import LocalControl
import QRCode

struct PairCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract:
            "Pair a phone or another computer: shows a code for five minutes and asks you to confirm the device.",
        discussion: """
            The link works once; no device joins before you confirm it.

              applocker pair
              applocker pair --address https://hub.example   where the phone reaches the hub by another address
              applocker pair --window                        the code in a window as well, where there is a desktop
              applocker pair --computer                      another computer: run `applocker hub join` there
              applocker pair --json --yes                    for scripts: the link first, then the device
              applocker pair --json --no-wait                the link alone; withdraw or confirm it on the socket
            """)

    @Option(help: ArgumentHelp("The hub's address as the phone reaches it.", valueName: "url")) var address: String?
    @Flag(help: "Show the QR code in a window as well.") var window = false
    @Flag(help: "Pair another computer, with the link for `applocker hub join` there.") var computer = false
    @Flag(help: "Confirm any device that joins.") var yes = false
    @Flag(help: "Print the link and exit. No device is admitted.") var noWait = false
    @OptionGroup var options: CommonOptions

    func run() async throws {
        let (hub, given) = try await owner.lookingFirst {
            try await client.call(\.hubStatus, token: $0)
        }
        guard let url = address ?? hub.url else {
            throw ControlError(.hub, "There is no hub. Connect one with `applocker hub connect URL`.")
        }
        let own = if let given { given } else { try await passcodes.existing() }
        try await owner.open(with: own) { token in
            let pairing = try await client.call(
                \.makePairing, token: token, body: NewPairingRequest(address: address, role: computer ? .computer : nil)
            )
            try show(pairing, url)
            guard !noWait else { return }
            let codeWindow = try pairing.link.flatMap {
                window ? try WindowProcess.start(["--link-fd", "3"], content: Data($0.utf8)) : nil
            }
            defer { codeWindow.map { _ = kill($0, SIGTERM) } }
            do {
                let joined = try await Self.waitForDevice(pairing.id, client, token)
                let name = joined.name ?? "a device"
                try await Confirmation.require("Pair \"\(name)\"?", isConfirmed: yes)
                let device = try await client.call(
                    \.confirmPairing, parameter: pairing.id, token: token, body: PasscodeRequest(passcode: own.text))
                if output.json { return try Output.standard.jsonLine(device) }
                Output.standard.line("\(device.name.terminalSafe) is paired.")
            } catch {
                // After any failure the link must not work any more.
                _ = try? await client.call(\.endPairing, parameter: pairing.id, token: token)
                throw error
            }
        }
    }

    private func show(_ pairing: PairingReport, _ url: String) throws {
        guard let link = pairing.link else { return }
        if output.json { return try Output.standard.jsonLine(pairing) }
        guard !computer else { return showForComputer(link, url) }
        if isatty(STDOUT_FILENO) == 1 { Output.standard.lines(try QRCode(link).terminalLines) }
        Output.standard.line(link)
        Output.standard.line("Scan it with the phone, or open the link there, within five minutes.")
        if !url.hasPrefix("https://") {
            Output.standard.line(
                Paint(.standard).warning(
                    "Only this computer can reach this hub. docs/operations.md describes how a phone can reach it."
                ))
        }
    }

    private func showForComputer(_ link: String, _ url: String) {
        Output.standard.line(link)
        Output.standard.line("On the other computer, within five minutes: `applocker hub join`, then this link.")
        if Self.isLoopback(url) {
            Output.standard.line(
                Paint(.standard).warning(
                    "Only this computer can reach this hub. docs/operations.md describes how another computer can reach it."
                ))
        }
    }

    private static func isLoopback(_ url: String) -> Bool {
        ["http://127.", "http://localhost", "http://[::1]"].contains { url.hasPrefix($0) }
    }

    /// Waits as long as the invitation is valid.
    ///
    /// - Throws: `CommandLineError` if no device joined.
    static func waitForDevice(_ id: String, _ client: ControlClient, _ token: String) async throws -> PairingReport {
        let end = ContinuousClock.now + .seconds(310)
        while ContinuousClock.now < end {
            let report = try await client.call(\.pairing, parameter: id, query: WaitQuery(wait: 20), token: token)
            if report.state == .joined { return report }
            try Task.checkCancellation()
        }
        throw CommandLineError(.refused, code: "nobody_joined", "No device joined within five minutes.")
    }
}

struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "The paired devices: list, rename, revoke.",
        discussion: """
            A DEVICE is a name, or an id or its first digits.
            """,
        subcommands: [List.self, Rename.self, Revoke.self], defaultSubcommand: List.self)

    struct List: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the devices.",
            discussion: """
                  applocker devices
                  applocker devices list --json
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let list = try await owner.whereNeeded { try await client.call(\.listDevices, token: $0) }
            if output.json { return try Output.standard.json(list) }
            var table = Table(["NAME", "KIND", "LAST SEEN", "ID"])
            for device in list.devices {
                let seen =
                    device.isThisComputer
                    ? "this computer"
                    : device.isConnected == true ? "connected" : device.lastSeen.map { TimeText.local($0) } ?? "never"
                table.add([device.name, device.role.rawValue, seen, String(device.id.prefix(8))])
            }
            Output.standard.lines(table.lines(Paint(.standard)))
        }
    }

    struct Rename: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Rename a device.",
            discussion: """
                  applocker devices rename "New device" "Anna's phone"
                """)

        @Argument var device: String
        @Argument var name: String
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let report = try await owner.call(\.renameDevice, parameter: device, body: RenameDeviceRequest(name: name))
            if output.json { return try Output.standard.json(report) }
            Output.standard.line("Renamed it to \(report.name.terminalSafe).")
        }
    }

    struct Revoke: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a lost device: every key that it knew is replaced.",
            discussion: """
                It can't read anything that is written afterwards; its hub token, push subscription and PIN share are deleted. It may keep data that it read before.

                  applocker devices revoke "Anna's phone"
                """)

        @Argument var device: String
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Confirmation.require(
                "Revoke \"\(device)\"? It can rejoin only as a new device.", isConfirmed: yes)
            let own = try await passcodes.existing()
            let done = try await owner.open(with: own) { token in
                try await client.call(
                    \.revokeDevice, parameter: device, token: token, body: PasscodeRequest(passcode: own.text))
            }
            try done.print("Revoked.", output)
        }
    }
}
