import ArgumentParser
import BlockingThread
import ControlAPI
import FileLocking
import Foundation
import LocalControl
import MomentTransfer
import SealedFormats

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Export or import a sealed backup.",
        subcommands: [Export.self, Import.self])

    struct Export: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a sealed backup.",
            discussion: """
                Asks for the passcode, which also opens the backup on any computer, unless you set a passphrase (--passphrase asks for one; with --passcode-fd it is the second line).

                  applocker backup export ~/monday.aplockerbackup
                  applocker backup export --settings-only list.aplockerbackup
                """)

        @Argument(help: "The file to write; it must not exist yet.", completion: .file()) var file: String
        @Flag(help: "Only the list of apps, its rules and the settings.") var settingsOnly = false
        @Flag(help: "Seal it with a passphrase instead of the passcode.") var passphrase = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let client = options.connection.patientClient
            let target = try NewFile(file)
            do {
                let own = try await passcodes.existing()
                let passphrase = passphrase ? try await passcodes.chosen("Passphrase of the backup") : nil
                // The export fetches content only with an open vault.
                try await client.call(\.openVault, body: PasscodeRequest(passcode: own.text))
                let reply = try await client.call(
                    \.exportBackup,
                    body: ExportRequest(passcode: own.text, passphrase: passphrase?.text, settingsOnly: settingsOnly))
                var progress = ProgressBar("Writing", total: reply.size, isShown: !output.json)
                for offset in stride(from: 0, to: reply.size, by: ControlRoute.maximumBlobPiece) {
                    let piece = try await client.readBlob(
                        reply.blob, offset: offset, length: ControlRoute.maximumBlobPiece)
                    try await runBlocking { try target.write(piece) }
                    progress.show(offset + UInt64(piece.count))
                }
                try await runBlocking { try target.finish() }
                progress.end()
                try await client.call(\.removeBlob, parameter: reply.blob)
                if output.json {
                    try Output.standard.json(reply)
                } else {
                    report(reply)
                }
                if !reply.incomplete.isEmpty { throw ExitStatusError(status: .refused) }
            } catch {
                target.discard()
                throw error
            }
        }

        private func report(_ reply: ExportReply) {
            for item in reply.incomplete {
                Output.errors.line(
                    Paint(.errors).warning("\(item.subject.terminalSafe): its content can't be read here."))
            }
            Output.standard.line(
                "Wrote \(file.terminalSafe): \(reply.apps) apps, \(reply.records) sealed items, "
                    + "\(reply.size) bytes. It opens with "
                    + (passphrase ? "its passphrase." : "the current passcode, also after you change that."))
            guard !reply.incomplete.isEmpty else { return }
            Output.errors.line(
                Paint(.errors).warning(
                    "Left out: the content of \(counted(reply.incomplete.count, "item")). "
                        + "Connect the hub that has it (`applocker hub`), and make the backup again."))
        }
    }

    struct Import: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import a backup of this AppLocker or the earlier one.",
            discussion: """
                Shows what would change, then asks. The import is performed as a whole or not at all. Backups of the earlier AppLocker, sealed or plain JSON, are read too.

                  applocker backup import monday.aplockerbackup             add what is missing
                  applocker backup import monday.aplockerbackup --replace   exactly the backup's content
                  applocker backup import monday.aplockerbackup --dry-run   only show what would change
                """)

        @Argument(help: "The backup.", completion: .file()) var file: String
        @Flag(help: "Add missing items, and keep both versions of items that differ (the default).") var merge = false
        @Flag(help: "Replace everything by the backup's content.") var replace = false
        @Flag(help: "Ask for the backup's own passphrase (with --passcode-fd: the second line).") var passphrase = false
        @Flag(help: "Only show what would change.") var dryRun = false
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func validate() throws {
            if merge, replace { throw ValidationError("Choose one of --merge and --replace.") }
        }

        func run() async throws {
            let client = options.connection.patientClient
            let source = try ReadableFile.named(file)
            try await runBlocking { try Self.check(source) }
            let own = try await passcodes.existing()
            let passphrase = passphrase ? try await passcodes.existing("Passphrase of the backup") : nil
            try await client.call(\.openVault, body: PasscodeRequest(passcode: own.text))
            let blob = ItemID.random().description
            do {
                try await Interruption.cancels(saying: "Interrupted; nothing was imported.") {
                    try await upload(source, as: blob, client)
                }
                func request(isTrial: Bool) throws -> ImportRequest {
                    ImportRequest(
                        passcode: try own.text, passphrase: try passphrase?.text, blob: blob,
                        mode: replace ? .replace : .merge, isTrial: isTrial)
                }
                if !yes || dryRun {
                    let trial = try await client.call(\.importBackup, body: request(isTrial: true))
                    if dryRun, output.json { try Output.standard.json(trial) }
                    if !output.json { Output.standard.lines(trial.lines(isTrial: true)) }
                }
                if !dryRun {
                    try await Confirmation.require("Import this backup?", isConfirmed: yes)
                    let report = try await client.call(\.importBackup, body: request(isTrial: false))
                    if output.json { try Output.standard.json(report) }
                    if !output.json { Output.standard.lines(report.lines(isTrial: false)) }
                }
                try await client.call(\.removeBlob, parameter: blob)
            } catch {
                _ = try? await client.call(\.removeBlob, parameter: blob)
                throw error
            }
        }

        /// Refuses at once what can't be a backup: the file may be large, and the daemon reads all of it before it
        /// refuses.
        /// - Throws: `CommandLineError`.
        private static func check(_ source: ReadableFile) throws {
            guard source.size > EarlierContainer.maximumBackupLength,
                !BackupHeader.isBeginning(try source.read(at: 0, count: BackupHeader.length))
            else { return }
            throw CommandLineError(
                .refused, code: "not_readable",
                "This is not a backup of AppLocker. Choose the file that `applocker backup export` wrote."
            )
        }

        private func upload(_ source: ReadableFile, as blob: String, _ client: ControlClient) async throws {
            var progress = ProgressBar("Reading", total: source.size, isShown: !output.json)
            var offset: UInt64 = 0
            repeat {
                let piece = try await runBlocking { [offset] in
                    try source.read(at: offset, count: ControlRoute.maximumBlobPiece)
                }
                try await client.putBlob(blob, offset: offset, bytes: piece)
                offset += UInt64(piece.count)
                progress.show(offset)
                if piece.isEmpty { break }
            } while offset < source.size
            progress.end()
        }
    }
}

extension ExportReply.Incomplete {
    fileprivate var subject: String {
        switch collection {
        case "files": "The file \(name.isEmpty ? id : name)"
        case "photos": name.isEmpty ? "The photo \(id)" : "A photo of “\(name)”"
        default: "The intruder photo \(id)"
        }
    }
}

extension ImportReport {
    func lines(isTrial: Bool) -> [String] {
        let kind = ["plain JSON of the earlier AppLocker", "backup of the earlier AppLocker", "backup"]
        var lines = [
            "\(isTrial ? "This" : "Imported a") \(kind[min(version, 2)]) of \(created.terminalSafe)\(isTrial ? " would:" : ":")"
        ]
        func add(_ verb: String, _ names: [String]) {
            if !names.isEmpty { lines.append("  \(verb) \(names.joined(separator: ", ").terminalSafe)") }
        }
        add("add to the list:", appsAdded)
        add("change the rules of:", appsChanged)
        add("remove from the list:", appsRemoved)
        if recordsAdded > 0 { lines.append("  add \(recordsAdded) notes, files and photos") }
        if recordsInConflict > 0 { lines.append("  keep both of \(recordsInConflict) notes that differ") }
        if recordsRemoved > 0 { lines.append("  remove \(recordsRemoved) notes, files and photos") }
        if lines.count == 1 { lines.append("  change nothing") }
        return lines + notes.map { "  note: \($0.terminalSafe)" }
    }
}
