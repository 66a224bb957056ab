import ArgumentParser
import ControlAPI
import Foundation
import LocalControl

/// Opens the companion in a browser on this computer.
struct PanelCommand: ConnectedCommand {
    static let configuration = CommandConfiguration(
        commandName: "panel",
        abstract: "Open the companion in a browser on this computer, already paired.",
        discussion: """
            The first time it asks for the passcode and pairs the browser, in which you choose a PIN. After that it only opens the address.

              applocker panel
              applocker panel --again           pair another browser, or one whose data was cleared
              applocker panel --print-link      without a desktop: the link, for your browser elsewhere
            """)

    @Flag(help: "Print the link instead of opening a browser. The first browser that opens it is paired.")
    var printLink = false
    @Flag(help: "Pair another browser, even if a panel is already paired.") var again = false
    @Option(help: ArgumentHelp("The hub's address as the browser reaches it.", valueName: "url")) var address: String?
    @OptionGroup var options: CommonOptions

    /// The browser needs the page only briefly. The link itself is valid for four minutes more.
    private static let pageLife = Duration.seconds(60)

    func run() async throws {
        let ((hub, list), given) = try await owner.lookingFirst { token in
            let hub = try await PairCommand.hub(client, token)
            return (hub, hub.url == nil ? nil : try await client.call(\.listDevices, token: token))
        }
        guard let url = hub.url, let list else {
            throw ControlError(.hub, "There is no hub. Connect one with `applocker hub connect URL`.")
        }
        if !printLink { try Browser.requireDesktop() }
        let reached = address ?? Self.named(url)
        let computer = list.devices.first { $0.isThisComputer }?.name ?? "This computer"
        if !again, list.devices.contains(where: { Self.isPanel($0.name, of: computer) }) {
            return try show(reached)
        }
        let own = if let given { given } else { try await passcodes.existing() }
        let panel = try await Interruption.cancels(saying: "Interrupted; no browser was paired.") {
            try await owner.open(with: own) { token in
                let pairing = try await client.call(
                    \.makePairing, token: token, body: NewPairingRequest(address: reached))
                do {
                    let joined = try await join(pairing, client, token)
                    let device = try await client.call(
                        \.confirmPairing, parameter: pairing.id, token: token, body: PasscodeRequest(passcode: own.text)
                    )
                    let name = Self.name(of: computer, beside: list.devices.map(\.name))
                    return try await client.call(
                        \.renameDevice, parameter: joined.device ?? device.id, token: token,
                        body: RenameDeviceRequest(name: name))
                } catch {
                    // After any failure the link must not work any more. In a task of its own, because this one may be
                    // cancelled and could then send no request.
                    _ = await Task {
                        try? await client.call(\.endPairing, parameter: pairing.id, token: token)
                    }.value
                    throw error
                }
            }
        }
        if output.json { return try Output.standard.jsonLine(panel) }
        Output.standard.line("\(panel.name.terminalSafe) is paired. Choose its PIN in the browser.")
    }

    /// Opens the link in the browser or prints it, and waits for the panel to join. It is admitted without a confirmation,
    /// because the passcode was entered just now.
    private func join(_ pairing: PairingReport, _ client: ControlClient, _ token: String) async throws -> PairingReport
    {
        guard let link = pairing.link else {
            throw ControlError(.hub, "AppLocker returned no pairing link. Try again.")
        }
        guard !printLink else {
            if output.json { try Output.standard.jsonLine(pairing) } else { Output.standard.line(link) }
            return try await PairCommand.waitForDevice(pairing.id, client, token)
        }
        let page = try LinkPage(link: link)
        defer { page.remove() }
        let removal = Task {
            try? await Task.sleep(for: Self.pageLife)
            page.remove()
        }
        defer { removal.cancel() }
        return try await withThrowingTaskGroup(of: PairingReport.self) { group in
            let (failures, failure) = AsyncThrowingStream<Never, any Error>.makeStream()
            group.addTask { try await PairCommand.waitForDevice(pairing.id, client, token) }
            group.addTask {
                for try await _ in failures {}
                // The panel continues in the browser; the other task returns when it has joined.
                try await Task.sleep(for: .seconds(600))
                throw CancellationError()
            }
            defer { group.cancelAll() }
            try Browser.open(page.path) { failure.finish(throwing: $0) }
            if !output.json { Output.standard.line("AppLocker opens in your browser.") }
            guard let joined = try await group.next() else { throw CancellationError() }
            return joined
        }
    }

    /// Opens the address of an existing panel: nothing secret is in it, and the panel shows its own lock screen.
    private func show(_ address: String) throws {
        if output.json { return try Output.standard.jsonLine(PanelAddress(address: address)) }
        guard !printLink else { return Output.standard.line(address) }
        try Browser.open(address + "/")
        Output.standard.line("AppLocker opens in your browser (\(address)).")
    }

    private struct PanelAddress: Encodable {
        let address: String
    }

    // MARK: Names

    /// Passkeys need a host name: browsers refuse them for an IP address.
    static func named(_ url: String) -> String {
        url.hasPrefix("http://127.0.0.1:")
            ? url.replacingOccurrences(of: "http://127.0.0.1:", with: "http://localhost:") : url
    }

    /// "den-pc panel", "den-pc panel 2".
    static func isPanel(_ name: String, of computer: String) -> Bool {
        let panel = Self.panel(computer)
        return name == panel || (name.hasPrefix(panel + " ") && Int(name.dropFirst(panel.count + 1)) != nil)
    }

    static func name(of computer: String, beside others: [String]) -> String {
        let panel = Self.panel(computer)
        guard others.contains(panel) else { return panel }
        let number = (2...).first { !others.contains("\(panel) \($0)") } ?? 2
        return "\(panel) \(number)"
    }

    /// Names have at most 64 bytes; a longer computer's name is truncated.
    private static func panel(_ computer: String) -> String {
        var short = computer
        while short.utf8.count > 50 { short.removeLast() }
        return short + " panel"
    }
}
