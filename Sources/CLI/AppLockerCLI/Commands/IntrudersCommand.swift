import ArgumentParser
import BlockingThread
import ControlAPI
import Foundation
import LocalControl
import MomentTransfer

struct IntrudersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intruders",
        abstract: "Photos of people who entered wrong passcodes.",
        discussion: """
            A photo is sealed as soon as it is taken; the computer itself can't open it while the vault is locked. A photo's ID may be shortened as long as it matches one photo only.

              applocker intruders list
              applocker intruders show
              applocker settings set --camera v4l2:/dev/video2
            """,
        subcommands: [List.self, Show.self, Export.self, Delete.self], defaultSubcommand: List.self)

    static let idHelp = ArgumentHelp("The photo's id, or the beginning of it.", valueName: "id")

    struct List: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the photos, newest first.",
            discussion: """
                  applocker intruders list
                  applocker intruders list --json
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let list = try await vault.use { try await client.call(\.listIntruders) }
            if output.json { return try Output.standard.json(list) }
            Output.errors.warn(unreadable: list.unreadable, "photo")
            Output.standard.lines(ListedIntruders(list).lines(Paint(.standard)))
        }
    }

    struct Show: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a photo in a window; by default the newest.",
            discussion: """
                The photo is passed from memory to memory; no file is written. With --json no window opens, and the photo's data is printed.

                  applocker intruders show
                  applocker intruders show 3f9a
                """)

        @Argument(help: idHelp) var id: String?
        @OptionGroup var options: CommonOptions

        func run() async throws {
            if !output.json { try PhotoWindow.requireDesktop() }
            let json = output.json
            let photo: IntruderPhoto = try await vault.use {
                let report = try ListedIntruders(try await client.call(\.listIntruders)).one(id)
                if json { return IntruderPhoto(intruder: report, photo: Data()) }
                return try await client.call(\.readIntruder, parameter: report.id)
            }
            if output.json { return try Output.standard.json(photo.intruder) }
            let settings = try await client.call(\.settings)
            throw PhotoWindow.become(
                photo: photo.photo, caption: photo.intruder.caption, hidesOnCapture: settings.locksOnCapture)
        }
    }

    struct Export: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a photo to an unsealed file.",
            discussion: """
                Only you can read the file (mode 0600). No other file is replaced.

                  applocker intruders export 3f9a -o intruder.jpg
                """)

        @Argument(help: idHelp) var id: String
        @Option(name: .shortAndLong, help: "The new file.", completion: .file()) var output: String
        @OptionGroup var options: CommonOptions

        func run() async throws {
            // Created first, so that an unwritable path is reported before the passcode prompt.
            let path = output
            let file = try NewFile(path)
            defer { file.discard() }
            let photo: IntruderPhoto = try await vault.use {
                let report = try ListedIntruders(try await client.call(\.listIntruders)).one(id)
                return try await client.call(\.readIntruder, parameter: report.id)
            }
            try await runBlocking {
                try file.write(Array(photo.photo))
                try file.finish()
            }
            if options.output.json { return try Output.standard.json(Exported(intruder: photo.intruder, file: path)) }
            Output.standard.line("Wrote \(path.terminalSafe). It is not sealed: delete it when you are done.")
        }

        private struct Exported: Encodable {
            var intruder: IntruderReport
            var file: String
        }
    }

    struct Delete: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete photos for good.",
            discussion: """
                  applocker intruders delete 3f9a 81c0
                  applocker intruders delete --all --yes
                """)

        @Argument(help: idHelp) var ids: [String] = []
        @Flag(help: "All photos.") var all = false
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func validate() throws {
            guard ids.isEmpty == all else {
                throw ValidationError("Name the photos to delete, or use --all.")
            }
        }

        func run() async throws {
            let deleted: [String] = try await vault.use {
                let listed = ListedIntruders(try await client.call(\.listIntruders))
                // All names are checked first, so that a wrong one deletes nothing.
                let chosen = try all ? listed.reports : ids.map { try listed.one($0) }
                let unique = Set(chosen.map(\.id)).sorted()
                guard let first = unique.first else { return [] }
                let what = unique.count == 1 ? "the photo \(first.prefix(8))" : "\(unique.count) photos"
                try await Confirmation.require("Delete \(what)? This can't be undone.", isConfirmed: yes)
                for id in unique {
                    try await client.call(\.removeIntruder, parameter: id)
                }
                return unique
            }
            if output.json { return try Output.standard.json(["deleted": deleted]) }
            Output.standard.line(
                deleted.isEmpty
                    ? "There are no intruder photos."
                    : deleted.count == 1 ? "Deleted." : "Deleted \(deleted.count) photos.")
        }
    }
}
