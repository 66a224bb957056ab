import ArgumentParser
import FileLocking
import Foundation
import LocalControl
import Synchronization

extension FileCommand {
    struct Lock: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seal files and folders in place: PATH becomes PATH.aplk.",
            discussion: """
                Skips and lists links, devices, sockets, files with hard links and files that a program is writing. Ctrl-C never leaves an incomplete file.

                  applocker file lock letters/ taxes.pdf
                  applocker file lock taxes.pdf --keep        keeps the original
                """)

        @Argument(help: "Files and folders.", completion: .file()) var paths: [String]
        @Flag(help: "Keep the originals.") var keep = false
        @Flag(help: "Include file systems that are mounted below the folders.") var crossFileSystems = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await InPlaceWork(
                purpose: .lock, paths: paths, keepsOriginal: keep, crossesFileSystems: crossFileSystems,
                command: options
            ).run()
        }
    }

    struct Unlock: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open locked files and folders in place: PATH.aplk becomes PATH.",
            discussion: """
                All of a file is checked before it appears under its name. Files of the earlier AppLocker open with the \
                passcode they were locked with, which is asked for. With --passcode-fd: a line for each passcode, in the \
                order in which they are needed.

                  applocker file unlock letters/ taxes.pdf
                """)

        @Argument(help: "Locked files, or folders that contain some.", completion: .file()) var paths: [String]
        @Flag(help: "Keep the locked files.") var keep = false
        @Flag(help: "Include file systems that are mounted below the folders.") var crossFileSystems = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            try await InPlaceWork(
                purpose: .unlock, paths: paths, keepsOriginal: keep, crossesFileSystems: crossFileSystems,
                command: options
            ).run()
        }
    }
}

/// Locks or unlocks the given files and reports all of them.
private struct InPlaceWork: Sendable {
    let purpose: FileSelection.Purpose
    let paths: [String]
    let keepsOriginal: Bool
    let crossesFileSystems: Bool
    let command: CommonOptions

    func run() async throws {
        let report = try await Interruption.cancels(work)
        if command.output.json {
            try Output.standard.json(report)
        } else {
            let paint = Paint(.errors)
            for note in report.files.flatMap(\.notes) { Output.errors.line(paint.warning(note.terminalSafe)) }
            for file in report.skipped where !file.isFailure {
                Output.errors.line(paint.faint(file.message.terminalSafe))
            }
            for file in report.skipped where file.isFailure {
                Output.errors.line("applocker: \(file.message.terminalSafe)")
            }
            Output.standard.line(report.summary(purpose))
        }
        if report.skipped.contains(where: \.isFailure) { throw ExitStatusError(status: .refused) }
    }

    private func work() async throws -> InPlaceReport {
        var options = FileSelection.Options(purpose: purpose)
        options.crossesFileSystems = crossesFileSystems
        options.protectedFolder = (command.connection.socketPath as NSString).deletingLastPathComponent
        let bar = Mutex<ProgressBar?>(nil)
        defer { bar.withLock { $0?.end() } }
        let client = command.connection.client
        let sealing = VaultSealing(client: client, passcodes: command.passcode.source)
        let run = InPlaceRun(options, keepsOriginals: keepsOriginal, sealing: sealing)
        return try await client.usingVault {
            try await run.run(paths) { progress in
                // The passcode may be asked for before.
                guard progress.done > 0 else { return }
                bar.withLock { bar in
                    if bar == nil {
                        bar = ProgressBar(
                            purpose == .lock ? "Locking" : "Unlocking", total: progress.total,
                            isShown: !command.output.json)
                    }
                    bar?.show(progress.done)
                }
            }
        }
    }
}

extension InPlaceReport {
    fileprivate func summary(_ purpose: FileSelection.Purpose) -> String {
        let done = purpose == .lock ? "Locked" : "Unlocked"
        let size = SizeText.spoken(files.reduce(0) { $0 + $1.size })
        let failed = skipped.count(where: \.isFailure)
        let rest = failed == 0 ? "" : " \(failed) could not be \(done.lowercased()) and are unchanged."
        if files.count == 1, let file = files.first {
            return "\(done) \(file.from.terminalSafe) as \(file.path.terminalSafe) (\(size)).\(rest)"
        }
        if files.isEmpty { return "No files to \(purpose == .lock ? "lock" : "unlock").\(rest)" }
        return "\(done) \(files.count) files (\(size)).\(rest)"
    }
}
