import ArgumentParser
import ControlAPI
import Foundation
import LocalControl
import MomentTransfer

extension MomentsCommand {
    struct Import: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import the photos of a folder, a moment for each day.",
            discussion: """
                The day is the one in the photo's metadata, else that of its file. Photos already in the vault are skipped, so an interrupted import continues where it stopped. With --remove-originals each file is removed after its photo was read back and compared.

                  applocker moments import ~/Pictures/2019
                  applocker moments import ~/Pictures/2019 --keep-original --remove-originals
                """)

        @Argument(help: "The folder, with everything below it.", completion: .directory) var folder: String
        @Flag(help: "Keep the original files, with their camera and place.") var keepOriginal =
            false
        @Flag(help: "Use the place of each moment's first photo.") var photoPlace = false
        @Option(help: "A mood for all of them.") var mood: String = ""
        @Flag(help: "Remove each file once its photo is safe.") var removeOriginals = false
        @Flag(help: "Remove originals without confirmation.") var yes = false
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            if removeOriginals {
                let loss = keepOriginal ? "" : " Their camera and place are not kept."
                try await Confirmation.require(
                    "Remove the photos of \(folder) once they are in the vault?\(loss)", isConfirmed: yes)
            }
            let report = try await Interruption.cancels(
                saying: "Interrupted. Finished days stay; import the folder again to continue.", work)
            if output.json {
                try Output.standard.json(report)
            } else {
                printReport(report)
            }
            if !report.skipped.isEmpty { throw ExitStatusError(status: .refused) }
        }

        private func work() async throws -> PhotoImport.Report {
            var choices = PhotoImport.Options()
            choices.keepsOriginal = keepOriginal
            choices.keepsPlace = photoPlace
            choices.mood = mood
            choices.removesOriginals = removeOriginals
            let progress = PhaseBar(isShown: !output.json)
            defer { progress.end() }
            return try await PhotoImport(
                client: client, vault: vault.id(), maker: .installed, options: choices, progress: progress.show
            ).run(folder)
        }

        private func printReport(_ report: PhotoImport.Report) {
            for file in report.skipped { Output.errors.line(Paint(.errors).warning(file.line.terminalSafe)) }
            let summary = report.summary(removesOriginals: removeOriginals, option: "--keep-original")
            Output.standard.line(summary.terminalSafe)
        }
    }

    struct Statistics: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count moments and photos.",
            discussion: """
                  applocker moments stats
                  applocker moments stats --since 2019-06-14         and the days together since then
                """)

        @Option(help: ArgumentHelp("The day from which days together are counted.", valueName: "day")) var since:
            DayArgument?
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let list = try await MomentsCommand.list(MomentFilter(), vault)
            let statistics = MomentStatistics(
                list.moments, together: since?.day, today: MomentTime(date: Date().timeIntervalSince1970).day)
            if output.json { return try Output.standard.json(statistics) }
            Output.standard.lines(statistics.lines(Paint(.standard)))
        }
    }
}
