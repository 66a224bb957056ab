import ControlAPI
import Foundation
import Localization
public import Observation

/// Where a backup is written. Called from the main actor; an implementation may run on any executor.
public protocol BackupTarget: Sendable {
    func write(_ bytes: [UInt8]) async throws
    /// Makes the file durable under its name.
    func finish() async throws
    /// Removes what was written.
    func discard() async
}

/// A backup that is read. Called from the main actor; an implementation may run on any executor.
public protocol BackupSource: Sendable {
    /// In bytes.
    var size: UInt64 { get }
    /// - Returns: fewer bytes at the end.
    func read(at offset: UInt64, count: Int) async throws -> [UInt8]
}

/// What an import would change.
public struct ImportQuestion: Equatable, Sendable {
    public let text: String
    /// Whether everything here is replaced by the backup's content.
    public let replaces: Bool

    public init(text: String, replaces: Bool) { (self.text, self.replaces) = (text, replaces) }
}

/// Writes and imports sealed backups.
@MainActor @Observable
public final class BackupModel {
    /// Whether a backup is exported or imported, once the passcode was accepted.
    public private(set) var isWorking = false
    /// 0 to 1 while a backup is written or read; nil otherwise, also while the daemon seals, checks or imports it.
    public private(set) var progress: Double?
    /// Whether `cancel` still has an effect.
    public private(set) var canCancel = false
    /// The result of the last export; empty before.
    public private(set) var outcome = ""
    /// The result of the last import; empty before.
    public private(set) var importOutcome = ""
    /// Of what an import would change.
    public let confirmation = Confirmation<ImportQuestion>()

    private let context: DesktopContext
    @ObservationIgnored private var isCancelled = false

    public init(_ context: DesktopContext) { self.context = context }

    /// - Parameters:
    ///   - settingsOnly: only the list of apps, its rules and the settings.
    ///   - makeTarget: opens the file, once the daemon has sealed the backup.
    public func export(settingsOnly: Bool, to makeTarget: @escaping () async throws -> any BackupTarget) async {
        guard !isWorking else { return }
        outcome = ""
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Export a backup"),
                explanation: localized(
                    "The backup opens with this passcode, on any computer, also after you change it."),
                verb: localized("Export", context: "verb"))
            let control = context.control
            func seal(_ passcode: String) async throws -> ExportReply {
                try await control.call(
                    \.exportBackup,
                    body: ExportRequest(passcode: passcode, passphrase: nil, settingsOnly: settingsOnly))
            }
            defer { end() }
            let reply: ExportReply
            if settingsOnly {
                reply = try await context.prompt.ask(question) { try await seal($0) }
                begin()
            } else {
                // The export contains sealed content only with an open vault. It takes minutes if that is much, so the
                // passcode dialog doesn't wait for it.
                let passcode = try await context.prompt.ask(question) { passcode in
                    try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
                    return passcode
                }
                begin()
                reply = try await seal(passcode)
            }
            do {
                if isCancelled { throw CancellationError() }
                progress = 0
                try await write(reply, to: try await makeTarget())
                // No message can have the forms of two numbers.
                let apps = localized(reply.apps, one: "\(reply.apps) app", other: "\(reply.apps) apps")
                let items = localized(
                    reply.records, one: "\(reply.records) sealed item", other: "\(reply.records) sealed items")
                outcome = localized("Exported \(apps) and \(items).")
                if !reply.incomplete.isEmpty {
                    let count = reply.incomplete.count
                    let skipped = localized(
                        count, one: "The content of \(count) item can't be read here and is left out.",
                        other: "The content of \(count) items can't be read here and is left out.")
                    outcome += " \(skipped)"
                }
            } catch {
                _ = try? await control.call(\.removeBlob, parameter: reply.blob)
                throw error
            }
            _ = try? await control.call(\.removeBlob, parameter: reply.blob)
        }
    }

    /// Asks for the passcode and for the confirmation, then imports as a whole or not at all.
    ///
    /// - Parameter replaces: everything here by the backup's content. Otherwise what is missing is added, and both versions
    ///   of what differs are kept.
    public func importBackup(from source: any BackupSource, replaces: Bool = false) async {
        guard !isWorking else { return }
        importOutcome = ""
        await context.attempt {
            let control = context.control
            let question = PasscodeQuestion(
                title: localized(replaces ? "Replace everything by a backup" : "Import a backup"),
                explanation: localized("Enter the passcode of AppLocker on this computer."))
            let passcode = try await context.prompt.ask(question) { passcode in
                try await control.call(\.openVault, body: PasscodeRequest(passcode: passcode))
                return passcode
            }
            begin()
            defer { end() }
            let blob = UUID().uuidString.replacing("-", with: "").lowercased()
            do {
                try await upload(source, as: blob)
                try await importBlob(blob, passcode, replaces: replaces)
            } catch {
                _ = try? await control.call(\.removeBlob, parameter: blob)
                throw error
            }
            _ = try? await control.call(\.removeBlob, parameter: blob)
        }
    }

    private func upload(_ source: any BackupSource, as blob: String) async throws {
        defer { progress = nil }
        progress = 0
        var offset: UInt64 = 0
        while offset < source.size {
            let piece = try await source.read(at: offset, count: ControlRoute.maximumBlobPiece)
            guard !piece.isEmpty else { break }
            if isCancelled { throw CancellationError() }
            try await context.control.putBlob(blob, offset: offset, bytes: piece)
            offset += UInt64(piece.count)
            progress = Double(offset) / Double(source.size)
        }
    }

    private func importBlob(_ blob: String, _ passcode: String, replaces: Bool) async throws {
        let control = context.control
        func send(_ passphrase: String?, isTrial: Bool) async throws -> ImportReport {
            try await control.call(
                \.importBackup,
                body: ImportRequest(
                    passcode: passcode, passphrase: passphrase, blob: blob, mode: replaces ? .replace : .merge,
                    isTrial: isTrial))
        }
        var (trial, passphrase): (ImportReport, String?)
        do {
            (trial, passphrase) = (try await send(nil, isTrial: true), nil)
        } catch let error as ControlError where error.code == .notReadable {
            let question = PasscodeQuestion(
                title: localized("The backup has another passcode"),
                explanation: localized("Enter the passcode that it was exported with."))
            (trial, passphrase) = try await context.prompt.ask(question) { passphrase in
                do {
                    return (try await send(passphrase, isTrial: true), passphrase)
                } catch let error as ControlError where error.code == .notReadable {
                    throw ControlError(.wrongPasscode, error.message)
                }
            }
        }
        if isCancelled { throw CancellationError() }
        let question = ImportQuestion(text: Self.text(trial, replaces: replaces), replaces: replaces)
        guard await confirmation.ask(question) else { return }
        canCancel = false
        importOutcome =
            localized("Imported.") + " " + Self.text(try await send(passphrase, isTrial: false), replaces: replaces)
    }

    private static func text(_ report: ImportReport, replaces: Bool) -> String {
        var sentences: [String] = []
        func list(_ apps: [String], _ sentence: (String) -> String) {
            if !apps.isEmpty { sentences.append(sentence(apps.joined(separator: ", "))) }
        }
        list(report.appsAdded) { apps in localized("Apps to lock: \(apps).") }
        list(report.appsChanged) { apps in localized("Apps with changed rules: \(apps).") }
        list(report.appsRemoved) { apps in localized("Apps that are no longer locked: \(apps).") }
        if report.recordsRemoved > 0 {
            sentences.append(
                localized("Notes, files, moments and photos that are removed here: \(report.recordsRemoved)."))
        }
        if report.recordsAdded > 0 {
            sentences.append(
                replaces
                    ? localized(
                        "Notes, files, moments and photos that are added or overwritten: \(report.recordsAdded).")
                    : localized("Notes, files and photos that are missing here: \(report.recordsAdded)."))
        }
        if report.recordsInConflict > 0 {
            sentences.append(
                localized("Notes that differ, of which both versions are kept: \(report.recordsInConflict)."))
        }
        // The report counts neither.
        if replaces {
            sentences.append(localized("Settings and categories become those of the backup."))
        } else if sentences.isEmpty {
            sentences.append(localized("Everything in it is on this computer already."))
        }
        return (sentences + report.notes.map { localized(written: $0) }).joined(separator: "\n")
    }

    /// Erases what AppLocker stores on this computer, the keys first, and leaves the household. Asks for the passcode.
    public func eraseEverything() async {
        guard !isWorking else { return }
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Erase everything"),
                explanation: localized("Enter the passcode of AppLocker on this computer. Nothing is kept."),
                verb: localized("Erase", context: "verb"))
            let done = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(
                    \.reset,
                    body: ResetRequest(passcode: passcode, confirmation: ResetRequest.confirmationText))
            }
            // The first note sends to the command line; the window begins again by itself.
            let rest = done.notes.dropFirst().map { localized(written: $0) }
            context.announce(([localized("Everything is erased.")] + rest).joined(separator: " "))
        }
    }

    /// Stops after the current piece, or once the daemon has sealed or checked the backup; the incomplete file is removed.
    /// An import that was confirmed is finished.
    public func cancel() {
        guard canCancel else { return }
        (isCancelled, canCancel) = (true, false)
        confirmation.answer(false)
        // Also the question for the passcode of the backup.
        context.prompt.cancel()
    }

    private func begin() { (isWorking, canCancel, isCancelled) = (true, true, false) }

    private func end() { (isWorking, canCancel, progress) = (false, false, nil) }

    private func write(_ reply: ExportReply, to target: any BackupTarget) async throws {
        do {
            var offset: UInt64 = 0
            while offset < reply.size {
                let piece = try await context.control.readBlob(reply.blob, offset: offset)
                guard !piece.isEmpty else {
                    throw ControlError(.failed, localized("The backup is incomplete. Export it again."))
                }
                if isCancelled { throw CancellationError() }
                try await target.write(piece)
                offset += UInt64(piece.count)
                progress = Double(offset) / Double(reply.size)
            }
            try await target.finish()
        } catch {
            await target.discard()
            throw error
        }
    }
}
