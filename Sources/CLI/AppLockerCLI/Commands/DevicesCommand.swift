import ArgumentParser
import ControlAPI
import HubAPI
import LocalControl

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
            guard let time = list.unconfirmedAlert else { return }
            Output.standard.line(
                Paint(.standard).warning(DeviceList.advice(onUnconfirmedAlertAt: TimeText.local(time))))
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
