import ArgumentParser
import Foundation
import LocalControl
import WireProtocol

extension HubCommand {
    struct Join: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Come into the household of another computer, so that your phones see both.",
            discussion: """
                Run `applocker pair --computer` on the other computer, and give its link here. That computer shows this \
                one's name and asks whether to let it in. Each computer keeps its own passcode, vault and list of apps.

                Without LINK it is asked for: other users of this computer can read the arguments of programs.

                  applocker hub join
                  applocker hub join https://hub.example/#pair=…
                  applocker hub join --ca ca.pem --proxy http://proxy:3128
                  applocker hub join --json < link               for scripts: how far it is, a line each
                """)

        @Argument(help: "What `applocker pair --computer` shows there.") var link: String?
        @OptionGroup var way: HubWayOptions
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let owner = OwnerSession(client: connection.client, passcodes: passcode.source)
            let request = JoinHubRequest(
                link: try await givenLink(), certificates: way.certificates, proxy: way.proxy, isInsecure: way.insecure)
            let own = try await passcode.source.existing()
            var report: JoiningReport = try await owner.open(with: own) { token in
                try await owner.client.call(.joinHub, token: token, body: request)
            }
            try show(report)
            while report.state == .waiting || report.state == .admitted {
                let next: JoiningReport = try await owner.client.call(.joining, query: [("wait", "20")])
                if next != report { try show(next) }
                report = next
                try Task.checkCancellation()
            }
            guard report.state == .joined else {
                throw CommandLineError(.refused, code: "not_joined", report.sentence)
            }
            // Phones are given the keys of this computer's vault, which the passcode alone opens.
            let _: DoneReport = try await owner.open(with: own) { token in
                try await owner.client.call(.giveVaultKeys, token: token, body: PasscodeRequest(passcode: own.text))
            }
            if !output.json { Output.standard.line("Your phones see this computer and read its notes from now on.") }
        }

        private func givenLink() async throws -> String {
            if let link { return link }
            if isatty(STDIN_FILENO) == 1 {
                Output.errors.line("The link that `applocker pair --computer` shows on the other computer:")
            }
            let line = try await OwnThread.run { readLine(strippingNewline: true) }
            guard let line, !line.isEmpty else {
                throw CommandLineError(
                    .usage, code: "usage",
                    "A link is missing; run `applocker pair --computer` on the other computer and give what it shows.")
            }
            return line
        }

        private func show(_ report: JoiningReport) throws {
            if output.json { return try Output.standard.jsonLine(report) }
            if report.state != .failed { Output.standard.line(report.sentence.terminalSafe) }
        }
    }
}
