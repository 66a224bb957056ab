import ArgumentParser
import Foundation
import HubServer
import QRCode
import SealedFormats

/// `applocker-hub invite`: makes a start link. It reads the registration token alone, so the hub may be running.
struct InviteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Prints a link with which one household is founded at this hub.",
        discussion: """
            Open the link on the phone that begins, or scan the code with its camera:

              sudo applocker-hub invite --address https://hub.example

            It works once, for 24 hours. Anybody who has it can found one household here; it opens no other one. The address is remembered in the hub's directory. Each run makes another link, and none can be withdrawn: they expire, or a new registration token (remove DIR/registration-token and restart the hub) makes all of them invalid.
            """)

    @OptionGroup var stateOption: StateOption

    @Option(
        help: ArgumentHelp(
            "The hub's address as phones open it. Needed once; later runs remember it.", valueName: "url"))
    var address: String?

    @Option(help: "Hours until the link expires, 1 to 720.")
    var hours = 24

    @Flag(help: "Print one line of JSON: link, address, and expires in seconds since 1970.")
    var json = false

    private struct Output: Encodable {
        let link: String
        let address: String
        let expires: UInt64
    }

    func validate() throws {
        guard 1...720 ~= hours else { throw ValidationError("--hours takes 1 to 720, which is 30 days.") }
        if let address, Self.normalized(address) == nil {
            throw ValidationError(
                "--address takes the hub's address with a name and without anything behind it, such as "
                    + "https://hub.example. Phones need HTTPS; http works for localhost alone.")
        }
    }

    func run() throws {
        do {
            try printLink()
        } catch {
            FileHandle.standardError.write(Data("applocker-hub: \(error)\n".utf8))
            throw ExitCode(1)
        }
    }

    private func printLink() throws {
        umask(0o077)
        let hub = try HubDirectory(
            existing: stateOption.state ?? StateOption.installed, becomesOwner: true)
        let token = try RegistrationToken.load(path: hub.registrationToken, creates: false)
        let address = try knownAddress(hub)
        let expires = UInt64(Date().timeIntervalSince1970) + UInt64(hours) * 3_600
        let link = StartInvitation(expires: expires, token: token).link(address: address)
        guard !json else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let output = try encoder.encode(Output(link: link, address: address, expires: expires))
            return print(String(decoding: output, as: UTF8.self))
        }
        let hours = hours == 1 ? "one hour" : "\(hours) hours"
        print("Scan this code with the phone's camera, or open the link on it. It works once, for \(hours).\n")
        for line in try QRCode(link).terminalLines { print(line) }
        print("\n\(link)")
    }

    private func knownAddress(_ hub: HubDirectory) throws -> String {
        if let address, let given = Self.normalized(address) {
            try Data((given + "\n").utf8).write(to: URL(fileURLWithPath: hub.address), options: .atomic)
            return given
        }
        let stored = try? String(contentsOfFile: hub.address, encoding: .utf8)
        guard let address = stored.flatMap({ Self.normalized($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
        else { throw UnknownAddress() }
        return address
    }

    private struct UnknownAddress: Error, CustomStringConvertible {
        let description =
            "The address that phones open is not known yet. Name it once: applocker-hub invite --address https://hub.example"
    }

    /// The address as a link begins with it; nil for one that no companion can use.
    static func normalized(_ text: String) -> String? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil,
            parts.path.isEmpty || parts.path == "/",
            text.utf8.allSatisfy({ (33...126).contains($0) })
        else { return nil }
        guard scheme == "https" || scheme == "http" && ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host) else {
            return nil
        }
        return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
    }
}
