import ArgumentParser
import ControlAPI
import Foundation
import LocalControl
import MomentTransfer

extension MomentsCommand {
    struct Export: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Export all moments unsealed: photos, a page to read, and data for other programs.",
            discussion: """
                The folder must be new or empty; only you can read its files. They are not sealed: store them like a photo album. Always asks for the passcode. The trash is not exported. What can't be opened here is left out and listed.

                  applocker moments export /media/stick/everline
                  applocker moments export ~/everline --yes
                """)

        @Argument(help: "The new folder.", completion: .directory) var folder: String
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await Confirmation.require(
                "Export every moment and photo unsealed to \(folder)?", isConfirmed: yes)
            // An export needs the passcode even if the vault is open, so that nobody else at the terminal can export
            // everything.
            try await vault.open()
            let progress = PhaseBar(isShown: !output.json)
            defer { progress.end() }
            let export = MomentExport(client: client, folder: folder, progress: progress.show)
            try export.makeFolder()
            let report = try await Interruption.cancels(
                saying: "Interrupted. The files in \(folder) are not sealed: remove them.", export.run)
            progress.end()
            if output.json {
                try Output.standard.json(report)
            } else {
                for line in report.lines { Output.errors.line(Paint(.errors).warning(line.terminalSafe)) }
                Output.standard.line(report.summary.terminalSafe)
                for warning in report.warnings { Output.errors.line(Paint(.errors).warning(warning)) }
            }
            if !report.isComplete { throw ExitStatusError(status: .refused) }
        }
    }
}
