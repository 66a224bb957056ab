public import ControlAPI
import Localization
public import Observation

/// The window's port to the content of files, which is sealed and opened in this process: the daemon stores it sealed.
/// Called from the main actor; an implementation may run on any executor.
public protocol FileTransfer: Sendable {
    typealias ProgressHandler = TransferWork.ProgressHandler

    /// Seals a file into the vault.
    ///
    /// - Parameter removesOriginal: once the sealed copy was read back and compared.
    func add(_ path: String, to vault: String, removesOriginal: Bool, progress: @escaping ProgressHandler) async throws
    /// Writes a file of the vault into a folder, under its name. Nothing is overwritten.
    ///
    /// - Returns: its path.
    func write(_ content: FileContent, into folder: String, progress: @escaping ProgressHandler) async throws -> String
    /// Locks or unlocks files, and all files below folders, where they are. A file that fails is left as it was.
    ///
    /// - Parameters:
    ///   - keepsOriginals: whether the files of which new ones were made stay.
    ///   - earlierPasscode: asks for the passcode of a file, given by its name, that the earlier AppLocker locked.
    func changeInPlace(
        _ change: InPlaceChange, _ paths: [String], keepsOriginals: Bool,
        earlierPasscode: @escaping @Sendable (_ name: String) async throws -> String,
        progress: @escaping ProgressHandler
    ) async throws -> InPlaceOutcome
}

/// Lock: PATH becomes PATH.aplk. Unlock: PATH.aplk becomes PATH.
public enum InPlaceChange: Sendable { case lock, unlock }

/// What a change of files in place has done.
public struct InPlaceOutcome: Sendable {
    /// The paths of the new files.
    public var paths: [String]
    /// A sentence, in English, for each file that was skipped, and for each property of a new one that was lost.
    public var sentences: [String]
    /// How many files should have been changed and were not.
    public var failures: Int

    public init(paths: [String], sentences: [String] = [], failures: Int = 0) {
        (self.paths, self.sentences, self.failures) = (paths, sentences, failures)
    }
}

/// The files of the open vault.
@MainActor @Observable
public final class FilesModel {
    /// Newest first.
    public private(set) var files: [FileReport] = []
    /// How many can't be opened with this vault's keys.
    public private(set) var unreadable = 0
    /// What is done with files at the moment.
    public var work: TransferWork.Step? { running.step }
    /// What the last change in place did: one sentence, and one for each file that was skipped.
    public private(set) var outcome: [String] = []

    private let context: DesktopContext
    private let vault: VaultModel
    private let transfer: any FileTransfer
    private let running = TransferWork()

    public init(_ context: DesktopContext, _ vault: VaultModel, _ transfer: any FileTransfer) {
        self.context = context
        self.vault = vault
        self.transfer = transfer
        vault.onLock.append { [unowned self] in
            cancel()
            (files, unreadable) = ([], 0)
        }
    }

    public func load() async {
        guard let list = await vault.read({ try await context.control.call(\.listFiles) }) else { return }
        if list.files != files { files = list.files }
        unreadable = list.unreadable
    }

    /// Seals files into the vault, one after another. After a failure or `cancel`, those before it are in the vault, and
    /// the original of each other one is where it was.
    public func add(_ paths: [String], removesOriginals: Bool) async {
        if work == nil { outcome = [] }
        let added: Int? =
            await vault.read {
                guard let vault = try await context.control.call(\.vault).vault else { return nil }
                for (index, path) in paths.enumerated() {
                    let name = Self.name(path)
                    let title = localized(
                        paths.count == 1 ? "Locking \(name)" : "Locking \(name) (\(index + 1) of \(paths.count))")
                    try await running.run(title, of: paths.count, after: index) { [transfer] progress in
                        try await transfer.add(path, to: vault, removesOriginal: removesOriginals, progress: progress)
                    }
                }
                return paths.count
            } ?? nil
        if let added {
            context.announce(localized(added, one: "\(added) file locked.", other: "\(added) files locked."))
        }
        await load()
    }

    /// Writes an opened copy into a folder; the file stays in the vault.
    public func save(_ file: FileReport, into folder: String) async {
        if work == nil { outcome = [] }
        let path: String? = await vault.read {
            let content = try await context.control.call(\.readFile, parameter: file.id)
            return try await running.run(localized("Saving \(file.name)")) { [transfer] progress in
                try await transfer.write(content, into: folder, progress: progress)
            }
        }
        if let path { context.announce(localized("Saved as \(path).")) }
    }

    public func remove(_ file: FileReport) async {
        let done = await vault.read { try await context.control.call(\.removeFile, parameter: file.id) }
        if done != nil { context.announce(localized("\(file.name) is removed from the vault.")) }
        await load()
    }

    /// Locks or unlocks files, and all files below folders, where they are, and continues after a file that fails. The
    /// outcome stays after a lock: its sentences name no content of the vault.
    public func changeInPlace(_ change: InPlaceChange, _ paths: [String], keepsOriginals: Bool = false) async {
        if let work { return context.announce(work.refusal) }
        outcome = []
        do {
            let done = try await running.run(Self.title(change, paths)) { [transfer, context] progress in
                try await transfer.changeInPlace(
                    change, paths, keepsOriginals: keepsOriginals,
                    earlierPasscode: { try await Self.earlierPasscode(of: $0, context.prompt) }, progress: progress)
            }
            outcome = [Self.summary(change, done)] + done.sentences.map { localized(written: $0) }
        } catch is CancellationError {
            outcome = [Self.stopped]
        } catch let error as ControlError where error.code == .vaultLocked {
            await vault.refresh()
            outcome = [Self.stopped]
        } catch {
            outcome = [sentence(error), Self.stopped]
        }
        // The page shows nothing then.
        if !vault.isOpen, let first = outcome.first {
            context.announce(localized("The vault was locked. \(first)"))
        }
    }

    private static let stopped = localized(
        "Stopped. The files that were not finished are unchanged.")

    private static func title(_ change: InPlaceChange, _ paths: [String]) -> String {
        let count = paths.count
        if count == 1 {
            let name = name(paths[0])
            return change == .lock ? localized("Locking \(name)") : localized("Unlocking \(name)")
        }
        return change == .lock
            ? localized(count, one: "Locking \(count) file", other: "Locking \(count) files")
            : localized(count, one: "Unlocking \(count) file", other: "Unlocking \(count) files")
    }

    private static func summary(_ change: InPlaceChange, _ done: InPlaceOutcome) -> String {
        let (count, failures) = (done.paths.count, done.failures)
        guard count > 0 || failures > 0 else { return localized("There was nothing to change.") }
        let changed =
            if count == 0 {
                ""
            } else if count == 1 {
                change == .lock ? localized("Locked as \(done.paths[0]).") : localized("Unlocked as \(done.paths[0]).")
            } else if change == .lock {
                localized(count, one: "\(count) file locked.", other: "\(count) files locked.")
            } else {
                localized(count, one: "\(count) file unlocked.", other: "\(count) files unlocked.")
            }
        guard failures > 0 else { return changed }
        let unchanged = localized(
            failures, one: "\(failures) could not be changed and is as it was.",
            other: "\(failures) could not be changed and are as they were.")
        return changed.isEmpty ? unchanged : "\(changed) \(unchanged)"
    }

    private static func earlierPasscode(of name: String, _ prompt: PasscodePrompt) async throws -> String {
        let question = PasscodeQuestion(
            title: localized("Unlock \(name)"),
            explanation: localized("The earlier AppLocker locked it. Enter the passcode that it had then."),
            verb: localized("Unlock"), isOfThisAppLocker: false)
        return try await withTaskCancellationHandler {
            try await prompt.ask(question) { $0 }
        } onCancel: {
            Task { @MainActor in prompt.cancel(question) }
        }
    }

    /// Of a file or folder at a path.
    public static func name(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Stops the running work; nothing incomplete remains.
    public func cancel() { running.cancel() }
}
