import ArgumentParser
import Foundation
import LocalControl
import WireProtocol

extension MomentsCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all moments in clear: photos, a page to read, and data for other programs.",
            discussion: """
                The folder is new, or empty, and its files are yours alone. Whoever gets them reads them: keep them where you would \
                keep a photo album. The passcode is always asked for. What is in the trash stays there.

                  applocker moments export /media/stick/everline
                  applocker moments export ~/everline --yes
                """)

        @Argument(help: "The folder to make.", completion: .directory) var folder: String
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await Confirmation.require(
                "Write every moment and photo to \(folder), where nothing seals them?", isGiven: yes)
            let client = connection.client
            // Whoever finds the vault open does not take everything with them.
            try await OpenVault(client: client, passcodes: passcode.source).open()
            let export = MomentExport(client: client, folder: folder, showsProgress: !output.json)
            try export.makeFolder()
            let report = try await Interruption.cancels(
                saying: "Interrupted. What \(folder) holds by now is in clear: remove it.", export.run)
            if output.json { return try Output.standard.json(report) }
            let photos = report.photos == 1 ? "1 photo" : "\(report.photos) photos"
            Output.standard.line(
                "Wrote \(report.moments == 1 ? "1 moment" : "\(report.moments) moments") and \(photos) to "
                    + "\(folder.terminalSafe), in clear. Open timeline.html to read them.")
            if report.missing > 0 {
                Output.errors.line(
                    Paint(.errors).warning(
                        report.missing == 1
                            ? "One photo could not be opened here."
                            : "\(report.missing) photos could not be opened here."))
            }
        }
    }
}
