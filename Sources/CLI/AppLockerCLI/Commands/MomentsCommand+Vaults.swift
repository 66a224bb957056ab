import ArgumentParser
import ControlAPI
import Foundation
import LocalControl

/// Shared vaults: vaults of moments whose members are devices of several households.
extension MomentsCommand {
    struct Vaults: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the shared vaults that this computer is in.",
            discussion: """
                NOT SENT counts changes that the hub does not have yet.

                  applocker moments vaults
                  applocker moments list --vault Us
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let list = try await vault.use { try await client.call(\.listVaults) }
            if output.json { return try Output.standard.json(list) }
            Output.standard.lines(list.lines(Paint(.standard)))
        }
    }

    struct Join: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Join a shared vault by an invitation.",
            discussion: """
                On a phone that is a member, choose the vault in Settings, Vaults, then "Invite a device", and enter its link or code here. Both show three words; if they are the same, confirm there, within five minutes. A code is looked up at the hub of this computer's household, or at --hub. Without an argument the command asks: other users of this computer can read the arguments of programs.

                  applocker moments join
                  applocker moments join 7KQ2F-9D3MX-0V7TB-AAZ4C --hub https://hub.example
                  applocker moments join --ca ca.pem --proxy http://proxy:3128
                  applocker moments join --json < link           for scripts: the progress, a line each
                """)

        @Argument(help: "The link of the invitation, or its code.") var link: String?
        @Option(name: .customLong("hub"), help: ArgumentHelp("With a code: the vault's hub.", valueName: "url"))
        var address: String?
        @OptionGroup var hub: HubConnectionOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let request = JoinHubRequest(
                link: try await InvitationLink.read(
                    link, question: "The link or the code of the invitation that the member's phone shows:",
                    missing:
                        "The invitation is missing; choose \"Invite a device\" on the member's phone and enter its link "
                        + "or code."),
                hub: address, certificates: hub.certificates, proxy: hub.proxy, isInsecure: hub.insecure)
            let started = try await vault.use { try await client.call(\.joinVault, body: request) }
            try show(started, after: nil)
            let report = try await Interruption.cancels(
                saying: "Interrupted. AppLocker still joins if a member confirms within five minutes; "
                    + "`applocker moments vaults` shows whether one has."
            ) { try await settled(started) }
            try report.requireMember()
        }

        /// Each request makes AppLocker look whether a member has confirmed.
        private func settled(_ started: SharedVaultReport) async throws -> SharedVaultReport {
            // The passcode of a descriptor was read for the first request.
            let vault = OpenVault(client: client, passcodes: .terminal)
            var report = started
            while report.state == .waiting {
                try await Task.sleep(for: .seconds(1))
                let id = report.id
                let next = try await vault.use { try await client.call(\.readVault, parameter: id) }
                if next != report { try show(next, after: report) }
                report = next
            }
            return report
        }

        private func show(_ report: SharedVaultReport, after earlier: SharedVaultReport?) throws {
            if output.json { return try Output.standard.jsonLine(report) }
            if let comparison = report.comparison(Paint(.standard)), report.words != earlier?.words {
                Output.standard.lines([comparison, "If they are the same, confirm on that device."])
            }
            if let problem = report.problem, problem != earlier?.problem {
                Output.errors.line(Paint(.errors).warning(problem.terminalSafe))
            }
            guard report.state == .member else { return }
            let option = MomentsVaultOptions.argument(report.reference)
            Output.standard.line(
                "This computer is a member of \(report.named); `applocker moments list\(option)` lists its moments."
                    .terminalSafe)
        }
    }

    struct Leave: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave a shared vault, and remove it from this computer.",
            discussion: """
                The other members keep everything. Changes that this computer has not sent yet are lost. With --forget the vault is removed here even if the hub can't be reached; the others then continue to see this computer as a member.

                  applocker moments leave Us
                  applocker moments leave Us --forget --yes
                """)

        @Argument(help: ArgumentHelp("The vault's name, its id, or the beginning of it.", valueName: "vault"))
        var name: String
        @Flag(help: "Remove it here only, as when its hub can't be reached.") var forget = false
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let report = try await vault.use { try await client.call(\.readVault, parameter: name) }
            try await Confirmation.require(report.leavingQuestion(forgets: forget), isConfirmed: yes)
            do {
                // The passcode of a descriptor was read for the first request.
                let done = try await OpenVault(client: client, passcodes: .terminal).use {
                    try await client.call(
                        \.leaveVault, parameter: report.id, query: LeaveVaultQuery(forget: forget))
                }
                try done.print(report.leftSentence.terminalSafe, output)
            } catch let error as ControlError where [.hub, .failed].contains(error.code) && !forget {
                throw ControlError(
                    error.code, "\(error.message) Use --forget to remove the vault from this computer only.")
            }
        }
    }
}
