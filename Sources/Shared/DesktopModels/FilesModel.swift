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
        let added: Int? =
            await vault.read {
                guard let vault = try await context.control.call(\.vault).vault else { return nil }
                for (index, path) in paths.enumerated() {
                    let name = path.split(separator: "/").last.map(String.init) ?? path
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

    /// Stops the running work; nothing incomplete remains.
    public func cancel() { running.cancel() }
}
