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
            A phone needs the hub at a host name over HTTPS. Before a code is shown, the address is checked from this computer; if it can't work, the ways that can are listed. The link works once; no device joins before you confirm it.

              applocker pair
              applocker pair --address https://hub.example   where the phone reaches the hub by another address
              applocker pair --ways                          only check the address, and list the ways
              applocker pair --window                        the code in a window as well, where there is a desktop
              applocker pair --computer                      another computer: run `applocker hub join` there
              applocker pair --json --yes                    for scripts: the link first, then the device
              applocker pair --json --no-wait                the link alone; withdraw or confirm it on the socket
            """)

    @Option(help: ArgumentHelp("The hub's address as the phone reaches it.", valueName: "url")) var address: String?
    @Option(
        help: ArgumentHelp(
            "PEM file with the certificates that the phone trusts, if the hub's is not a public one.",
            valueName: "file"), completion: .file())
    var ca: String?
    @Flag(help: "Don't check the address, for one that this computer can't reach itself.") var unchecked = false
    @Flag(help: "Check how a phone can reach the hub, and pair nothing.") var ways = false
    @Flag(help: "Show the QR code in a window as well.") var window = false
    @Flag(help: "Pair another computer, with the link for `applocker hub join` there.") var computer = false
    @Flag(help: "Confirm any device that joins.") var yes = false
    @Flag(help: "Print the link and exit. No device is admitted.") var noWait = false
    @OptionGroup var options: CommonOptions

    func validate() throws {
        if ways, computer || unchecked { throw ValidationError("--ways can't be used with --computer or --unchecked.") }
    }

    func run() async throws {
        let (hub, given) = try await owner.lookingFirst { try await Self.hub(client, $0) }
        guard let url = hub.url else {
            throw ControlError(.hub, "There is no hub. Connect one with `applocker hub connect URL`.")
        }
        if ways { return try show(await findWays(hub: url)) }
        let reached = unchecked ? address : try await usableAddress(hub: url)
        let own = if let given { given } else { try await passcodes.existing() }
        try await owner.open(with: own) { token in
            let pairing = try await client.call(
                \.makePairing, token: token, body: NewPairingRequest(address: reached, role: computer ? .computer : nil)
            )
            try show(pairing)
            guard !noWait else { return }
            let codeWindow = try pairing.link.flatMap {
                window ? try WindowProcess.start(["--link-fd", "3"], content: Data($0.utf8)) : nil
            }
            defer { codeWindow.map { _ = kill($0, SIGTERM) } }
            do {
                let joined = try await Self.waitForDevice(pairing.id, client, token)
                try await confirm(joined)
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

    /// The address for the link; nil for the one that this computer uses.
    ///
    /// - Throws: `CommandLineError` if the device could not use it, after the ways that work were listed.
    private func usableAddress(hub: String) async throws -> String? {
        let problem: String
        if computer {
            do throws(PhoneAddressProblem) {
                try PhoneAddressCheck.verifyForComputer(address ?? hub)
                return address
            } catch {
                problem = error.sentence(address ?? hub)
            }
        } else {
            let report = await findWays(hub: hub)
            guard let found = report.problem else { return address }
            if let working = report.address {
                Output.errors.line("The link uses \(working), which leads to this hub.")
                return working
            }
            if !output.json { Output.errors.lines(report.ways + [""]) }
            problem = found
        }
        throw CommandLineError(
            .refused, code: "address_unusable",
            problem + " Use --address, or --unchecked to show the link nevertheless.")
    }

    private func findWays(hub: String) async -> PhoneWaysReport {
        let (wanted, check) = (address ?? hub, PhoneAddressCheck.overNetwork(certificates: ca))
        do throws(PhoneAddressProblem) {
            try await check.verify(wanted, own: hub)
            return PhoneWaysReport(hub: hub, address: wanted)
        } catch {
            let ways = await PhoneWays.find(hub: hub, check: check)
            return PhoneWaysReport(
                hub: hub, address: address == nil ? ways.working : nil,
                problem: error.sentence(wanted), ways: ways.lines)
        }
    }

    /// - Throws: `CommandLineError` if no way is known.
    private func show(_ report: PhoneWaysReport) throws {
        if output.json { return try Output.standard.json(report) }
        if let address = report.address { return Output.standard.line("Phones reach this hub at \(address).") }
        Output.standard.lines(report.ways)
        throw CommandLineError(.refused, code: "address_unusable", report.problem ?? "No way is known.")
    }

    /// The hub's status, once a hub that `applocker up` is starting is connected.
    static func hub(_ client: ControlClient, _ token: String?) async throws -> HubStatus {
        for _ in 0..<40 {
            let status = try await client.call(\.hubStatus, token: token)
            guard status.url == nil, status.isStarting == true else { return status }
            try await Task.sleep(for: .milliseconds(250))
        }
        return try await client.call(\.hubStatus, token: token)
    }

    /// Another device that saw the link would show other words.
    private func confirm(_ joined: PairingReport) async throws {
        let name = joined.name ?? "a device"
        if let words = joined.words, !yes {
            Output.errors.line(
                "\(name.terminalSafe) shows three words. Compare: \(Paint(.errors).strong(words.joined(separator: " ")))"
            )
        }
        try await Confirmation.require("Does it show the same words? Pair \"\(name)\"?", isConfirmed: yes)
    }

    private func show(_ pairing: PairingReport) throws {
        guard let link = pairing.link else { return }
        if output.json { return try Output.standard.jsonLine(pairing) }
        guard !computer else {
            Output.standard.line(link)
            Output.standard.line("On the other computer, within five minutes: `applocker hub join`, then this link.")
            return
        }
        if isatty(STDOUT_FILENO) == 1 { Output.standard.lines(try QRCode(link).terminalLines) }
        Output.standard.line(link)
        Output.standard.line("Scan it with the phone, or open the link there, within five minutes.")
        if let code = pairing.code {
            Output.standard.line("Or open the hub's address on the phone and type this code: \(code)")
        }
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
