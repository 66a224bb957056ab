import ArgumentParser
import ControlAPI
import Foundation
import LocalControl
import MomentTransfer

struct MomentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "moments",
        abstract: "Everline: a vault of moments with their photos.",
        discussion: """
            A moment has a date, words, a mood, a place and photos, all of it sealed. Moments are synchronised with your phone. A MOMENT is its id, the beginning of it, or its title.

              applocker moments add 'At the lake' --photo lake.jpg --mood joy
              applocker moments list --search lake
              applocker moments show 'At the lake'
              applocker moments import ~/Pictures/2019
              applocker moments add 'At the lake' --vault Us         in a vault that is shared with others

            Only the pixels of a photo are kept, unless you use --keep-original: place and camera are removed.
            """,
        subcommands: [
            Add.self, List.self, Show.self, Favourite.self, Remove.self, Restore.self, Trash.self, Statistics.self,
            Import.self, Export.self, Vaults.self, Join.self, Leave.self,
        ], defaultSubcommand: List.self)

    static let momentHelp = ArgumentHelp("The moment's id, the beginning of it, or its title.", valueName: "moment")

    struct List: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "List moments, the newest first.",
            discussion: """
                  applocker moments list
                  applocker moments list --search 'lake summer'         every word has to be in it
                  applocker moments list --mood joy --favourites
                  applocker moments list --from 2019-06-01 --to 2019-08-31
                """)

        @Option(help: "Words that all occur in title, words, mood, place or day.") var search: String?
        @Option(help: "Only of this mood.") var mood: String?
        @Flag(help: "Only favourites.") var favourites = false
        @Option(help: ArgumentHelp("From this day on, as 2024-05-17.", valueName: "day")) var from: DayArgument?
        @Option(help: ArgumentHelp("Up to this day.", valueName: "day")) var to: DayArgument?
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            var filter = MomentFilter()
            (filter.search, filter.mood, filter.favourites) = (search, mood, favourites)
            (filter.from, filter.to) = (from?.day.text, to?.day.text)
            let list = try await MomentsCommand.list(filter, vault)
            if output.json { return try Output.standard.json(list) }
            let isFiltered = !filter.query.isEmpty
            Output.standard.lines(
                list.lines(empty: isFiltered ? "No moment matches." : "There are no moments yet.", Paint(.standard)))
        }
    }

    static func list(_ filter: MomentFilter, _ vault: OpenVault) async throws -> MomentList {
        try await vault.use { try await vault.client.call(\.listMoments, query: filter) }
    }
}

extension MomentReport {
    /// The moment's name in a sentence.
    var named: String { title.isEmpty ? "the moment of \(time.day.text)" : "\"\(title)\"" }
}

extension MomentList {
    func lines(empty: String, _ paint: Paint) -> [String] {
        var table = Table(["ID", "DATE", "PHOTOS", "MOOD", "TITLE"])
        for moment in moments {
            table.add([
                String(moment.id.prefix(8)), moment.time.spoken,
                moment.photos.isEmpty ? "" : String(moment.photos.count),
                moment.mood, (moment.favourite ? "♥ " : "") + moment.title,
            ])
        }
        var lines = moments.isEmpty ? [empty] : table.lines(paint)
        if unreadable > 0 {
            lines.append(paint.warning(Output.sentence(unreadable: unreadable, "moment")))
        }
        return lines
    }
}
