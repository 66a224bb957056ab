import ArgumentParser
import Foundation
import LocalControl
import WireProtocol

extension MomentsCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the photos of a folder into the vault, a moment for each day.",
            discussion: """
                The day is the one that a picture says, else that of its file. What is in the vault already is left out, so \
                an import that was interrupted goes on where it ended. With --remove-originals each file is removed after \
                its photo was read back and compared.

                  applocker moments import ~/Pictures/2019
                  applocker moments import ~/Pictures/2019 --keep-original --remove-originals
                """)

        @Argument(help: "The folder, with everything below it.", completion: .directory) var folder: String
        @Flag(help: "Keep the files as they are, with all that they say about camera and place.") var keepOriginal =
            false
        @Flag(help: "A moment's point is where its first photo was taken.") var photoPlace = false
        @Option(help: "A mood for all of them.") var mood: String = ""
        @Flag(help: "Remove each file once its photo is safe.") var removeOriginals = false
        @Flag(help: "Don't ask before originals are removed.") var yes = false
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            if removeOriginals {
                let loss = keepOriginal ? "" : " What they say about camera and place is not kept."
                try await Confirmation.require(
                    "Remove the photos of \(folder) once they are in the vault?\(loss)", isGiven: yes)
            }
            let report = try await Interruption.cancels(
                saying: "Interrupted. Days that were finished stay; import the folder again to go on.", work)
            if output.json {
                try Output.standard.json(report)
            } else {
                tell(report)
            }
            if !report.left.isEmpty { throw ExitStatusError(status: .refused) }
        }

        private func work() async throws -> PhotoImport.Report {
            let client = connection.client
            let vault = try await PhotoVault.open(client, passcode.source)
            return try await PhotoImport(
                client: client, vault: vault, keepsOriginal: keepOriginal, keepsPlace: photoPlace, mood: mood,
                removesOriginals: removeOriginals, showsProgress: !output.json
            ).run(folder)
        }

        private func tell(_ report: PhotoImport.Report) {
            func counted(_ count: Int, _ what: String) -> String { count == 1 ? "1 \(what)" : "\(count) \(what)s" }
            for left in report.left {
                let isNamed = left.sentence.contains(left.path)
                Output.errors.line(
                    Paint(.errors).warning((isNamed ? left.sentence : "\(left.path): \(left.sentence)").terminalSafe))
            }
            var sentences = [
                "Imported \(counted(report.photos, "photo")) as \(counted(report.moments.count, "moment"))."
            ]
            if report.duplicates > 0 { sentences.append("\(counted(report.duplicates, "duplicate")) left out.") }
            if report.undated > 0 {
                sentences.append("\(counted(report.undated, "photo")) said no date: the day is the file's.")
            }
            if removeOriginals { sentences.append("Removed \(counted(report.removed, "original")).") }
            if !report.left.isEmpty { sentences.append("\(counted(report.left.count, "file")) stayed as above.") }
            Output.standard.line(sentences.joined(separator: " "))
        }
    }

    struct Statistics: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count moments and photos.",
            discussion: """
                  applocker moments stats
                  applocker moments stats --since 2019-06-14         and the days together since then
                """)

        @Option(help: ArgumentHelp("The day that days together are counted from.", valueName: "day")) var since:
            DayArgument?
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let list = try await MomentsCommand.list(MomentFilter(), connection.client, passcode.source)
            let figures = MomentFigures(
                list.moments, together: since?.day, today: MomentTime(date: Date().timeIntervalSince1970).day)
            if output.json { return try Output.standard.json(figures) }
            Output.standard.lines(figures.lines(Paint(.standard)))
        }
    }
}
