import ArgumentParser
import ControlAPI
import Foundation
import LocalControl

extension MomentsCommand {
    struct Favourite: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make moments favourites.",
            discussion: """
                  applocker moments favourite 'At the lake'
                  applocker moments favourite 'At the lake' --off
                """)

        @Argument(help: MomentsCommand.momentHelp) var moments: [String]
        @Flag(help: "Not a favourite any more.") var off = false
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let changed = try await MomentsCommand.change(moments, ChangeMomentRequest(favourite: !off), vault)
            if output.json { return try Output.standard.json(MomentList(moments: changed, unreadable: 0)) }
            for moment in changed {
                Output.standard.line(
                    "\(moment.named.terminalSafe) is \(off ? "not a favourite any more" : "a favourite").")
            }
        }
    }

    struct Remove: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move moments to the trash for 30 days, or remove them permanently.",
            discussion: """
                  applocker moments remove 'At the lake'
                  applocker moments restore 'At the lake'
                  applocker moments remove 'At the lake' --for-good --yes
                """)

        @Argument(help: MomentsCommand.momentHelp) var moments: [String]
        @Flag(help: "Remove permanently, with photos, on every device.") var forGood = false
        @Flag(help: "Remove permanently without confirmation.") var yes = false
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let removed =
                forGood
                ? try await removeForGood()
                : try await MomentsCommand.change(moments, ChangeMomentRequest(removed: true), vault)
            if output.json { return try Output.standard.json(MomentList(moments: removed, unreadable: 0)) }
            for moment in removed {
                Output.standard.line(
                    forGood
                        ? "Removed \(moment.named.terminalSafe) permanently."
                        : "\(moment.named.terminalSafe) is in the trash; `applocker moments restore \(moment.id.prefix(8))"
                            + "\(chosen.repeated.terminalSafe)` restores it.")
            }
        }

        private func removeForGood() async throws -> [MomentReport] {
            let found = try await MomentsCommand.find(moments, vault)
            let names = found.map(\.named).joined(separator: ", ")
            try await Confirmation.require(
                "Remove \(names) with all photos, on every device? This can't be undone.", isConfirmed: yes)
            var removed: [MomentReport] = []
            for moment in found { removed.append(try await client.call(\.removeMoment, parameter: moment.id)) }
            return removed
        }
    }

    struct Restore: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Restore moments from the trash.",
            discussion: """
                  applocker moments trash
                  applocker moments restore 3f9a
                """)

        @Argument(help: MomentsCommand.momentHelp) var moments: [String]
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let restored = try await MomentsCommand.change(moments, ChangeMomentRequest(removed: false), vault)
            if output.json { return try Output.standard.json(MomentList(moments: restored, unreadable: 0)) }
            for moment in restored { Output.standard.line("Restored \(moment.named.terminalSafe).") }
        }
    }

    struct Trash: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the trash. Moments in it are removed after 30 days.",
            discussion: """
                  applocker moments trash
                  applocker moments restore 3f9a
                """)

        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            var filter = MomentFilter()
            filter.trash = true
            let list = try await MomentsCommand.list(filter, vault)
            if output.json { return try Output.standard.json(list) }
            Output.standard.lines(list.lines(empty: "The trash is empty.", Paint(.standard)))
        }
    }

    static func find(_ references: [String], _ vault: OpenVault) async throws -> [MomentReport] {
        try await vault.find(references) { client, reference in
            let moment = try await client.call(\.readMoment, parameter: reference).moment
            return (moment.id, moment)
        }
    }

    static func change(
        _ references: [String], _ request: ChangeMomentRequest, _ vault: OpenVault
    ) async throws -> [MomentReport] {
        var changed: [MomentReport] = []
        for moment in try await find(references, vault) {
            changed.append(try await vault.client.call(\.changeMoment, parameter: moment.id, body: request))
        }
        return changed
    }
}
