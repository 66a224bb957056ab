import ArgumentParser
import BlockingThread
import ControlAPI
import FileLocking
import Foundation
import LocalControl
import SealedFormats
import VaultTransfer

extension FileCommand {
    struct Add: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add sealed copies of files to the vault.",
            discussion: """
                With --remove-original each file is removed after its sealed copy was read back and compared.

                  applocker file add passport.jpg
                  applocker file add passport.jpg --remove-original --yes
                """)

        @Argument(help: "Files.", completion: .file()) var paths: [String]
        @Flag(help: "Remove each file once its sealed copy is safe.") var removeOriginal = false
        @Flag(help: "Remove originals without confirmation.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            if removeOriginal {
                let what = paths.count == 1 ? paths[0] : "\(paths.count) files"
                try await Confirmation.require(
                    "Remove \(what) once the sealed copy is in the vault?", isConfirmed: yes)
            }
            let added = try await Interruption.cancels(work)
            if output.json { return try Output.standard.json(FileList(files: added)) }
            for file in added {
                Output.standard.line(
                    "Added \"\(file.name.terminalSafe)\" (\(file.id.prefix(8)), \(SizeText.spoken(file.size)))"
                        + (removeOriginal ? " and removed the original." : "."))
            }
        }

        private func work() async throws -> [FileReport] {
            // All are opened before anything is sealed, so a wrong name among them is reported at once.
            var originals: [OriginalFile] = []
            for path in paths { originals.append(try await OriginalFile(path, willBeRemoved: removeOriginal)) }
            let vault = try await vault.id()
            let steps: UInt64 = removeOriginal ? 2 : 1
            let progress = FileProgress(
                "Adding", total: originals.reduce(0) { $0 + $1.size } * steps, isShown: !output.json)
            defer { progress.end() }
            var added: [FileReport] = []
            for original in originals {
                added.append(
                    try await VaultUpload(
                        client: client, vault: vault, original: original, progress: { progress.show($0) }
                    )
                    .run(removesOriginal: removeOriginal))
                progress.finish(original.size * steps)
            }
            return added
        }
    }

    struct List: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the files in the vault, the newest first.",
            discussion: """
                  applocker file list
                  applocker file list --json
                """)

        @OptionGroup var options: CommonOptions

        func run() async throws {
            let list = try await vault.use { try await client.call(\.listFiles) }
            if output.json { return try Output.standard.json(list) }
            Output.errors.warn(unreadable: list.unreadable, "file")
            guard !list.files.isEmpty else { return Output.standard.line("There are no files in the vault yet.") }
            var table = Table(["ID", "SIZE", "ADDED", "NAME"])
            for file in list.files {
                table.add([
                    String(file.id.prefix(8)), SizeText.spoken(file.size), TimeText.local(file.added), file.name,
                ])
            }
            Output.standard.lines(table.lines(Paint(.standard)))
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a copy of a file from the vault.",
            discussion: """
                Nothing is overwritten. For a file, all content is checked before the name appears; for standard output, each piece is checked, and an exit status of 0 means that the content is complete.

                  applocker file get passport.jpg
                  applocker file get passport.jpg -o /media/stick/
                  applocker file get letters.tar -o - | tar t
                """)

        @Argument(help: FileCommand.fileHelp) var file: String
        @Option(
            name: .shortAndLong,
            help: "A new file, a folder, or \"-\" for standard output; the file's name here without it.",
            completion: .file())
        var output: String?
        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var passcode: PasscodeOptions
        @OptionGroup(title: "Output") var format: OutputOptions

        func validate() throws {
            if format.json, output == "-" { throw ValidationError("--json and -o - both print to standard output.") }
        }

        func run() async throws {
            let got = try await Interruption.cancels(work)
            guard let (content, path) = got else { return }
            if format.json { return try Output.standard.json(content.file) }
            Output.standard.line("\(path.terminalSafe) is a copy of it (\(SizeText.spoken(content.file.size))).")
        }

        /// - Returns: nil if the content was written to standard output.
        private func work() async throws -> (FileContent, path: String)? {
            let client = connection.client
            let content = try await OpenVault(client: client, passcodes: passcode.source).use {
                try await client.call(\.readFile, parameter: file)
            }
            let download = try SealedDownload(client: client, content: content)
            let progress = FileProgress("Exporting", total: content.file.size, isShown: !format.json && output != "-")
            defer { progress.end() }
            let show = { progress.show(min($0, content.file.size)) }
            if output == "-" {
                try await download.run(show) { try StandardOutput.write($0) }
                return nil
            }
            let path = try Self.path(output, named: content.file.name)
            let received = try await runBlocking { try ReceivedFile(path) }
            do {
                try await download.run(show) { try received.write($0) }
                try await runBlocking { try received.finish(mode: content.mode, modified: content.file.modified) }
            } catch {
                received.discard()
                throw error
            }
            return (content, path)
        }

        /// For a folder, the path of the file under its own name in it.
        private static func path(_ output: String?, named name: String) throws -> String {
            var isFolder: ObjCBool = false
            guard let output else { return name }
            guard FileManager.default.fileExists(atPath: output, isDirectory: &isFolder), isFolder.boolValue else {
                return output
            }
            return (output as NSString).appendingPathComponent(name)
        }
    }

    struct Remove: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove files from the vault.",
            discussion: """
                  applocker file remove passport.jpg
                  applocker file remove passport.jpg --yes
                """)

        @Argument(help: FileCommand.fileHelp) var files: [String]
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let found = try await vault.find(files) { client, reference in
                let file = try await client.call(\.readFile, parameter: reference).file
                return (file.id, file)
            }
            let names = found.map { "\"\($0.name)\"" }.joined(separator: ", ")
            try await Confirmation.require("Remove \(names) from the vault? This can't be undone.", isConfirmed: yes)
            for file in found { try await client.call(\.removeFile, parameter: file.id) }
            if output.json { return try Output.standard.json(FileList(files: found)) }
            Output.standard.line("Removed \(names.terminalSafe).")
        }
    }
}
