import ArgumentParser
import ControlAPI
import Foundation
import LocalControl

extension HubCommand {
    struct Join: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Join the household of another computer, so that your phones see both.",
            discussion: """
                Run `applocker pair --computer` on the other computer, and enter its link here. That computer shows this one's name and asks for confirmation. Each computer keeps its own passcode, vault and list of apps. Without LINK the command asks for it: other users of this computer can read the arguments of programs.

                  applocker hub join
                  applocker hub join https://hub.example/#pair=…
                  applocker hub join --ca ca.pem --proxy http://proxy:3128
                  applocker hub join --json < link               for scripts: the progress, a line each
                """)

        @Argument(help: "The link of `applocker pair --computer`.") var link: String?
        @OptionGroup var hub: HubConnectionOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let request = JoinHubRequest(
                link: try await InvitationLink.read(
                    link, question: "The link that `applocker pair --computer` shows on the other computer:",
                    missing:
                        "The link is missing; run `applocker pair --computer` on the other computer and enter its link."
                ),
                certificates: hub.certificates, proxy: hub.proxy, isInsecure: hub.insecure)
            let client = client
            let own = try await passcodes.existing()
            var report = try await owner.open(with: own) { token in
                try await client.call(\.joinHub, token: token, body: request)
            }
            try show(report)
            while report.state == .waiting || report.state == .admitted {
                let next = try await client.call(\.joining, query: WaitQuery(wait: 20))
                if next != report { try show(next) }
                report = next
                try Task.checkCancellation()
            }
            guard report.state == .joined else {
                throw CommandLineError(.refused, code: "not_joined", report.sentence)
            }
            // Phones get the keys of this computer's vault, which only the passcode opens.
            _ = try await owner.open(with: own) { token in
                try await client.call(\.sendVaultKeys, token: token, body: PasscodeRequest(passcode: own.text))
            }
            if !output.json { Output.standard.line("Your phones see this computer and read its notes from now on.") }
        }

        private func show(_ report: JoiningReport) throws {
            if output.json { return try Output.standard.jsonLine(report) }
            if report.state != .failed { Output.standard.line(report.sentence.terminalSafe) }
        }
    }
}
