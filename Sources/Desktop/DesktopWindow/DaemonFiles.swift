import BlockingThread
import ControlAPI
import DesktopModels
import FileLocking
import Foundation
import LocalControl
import SealedFormats
import VaultTransfer

/// Seals and opens the content of files for the daemon's vault.
struct DaemonFiles: FileTransfer {
    let control: DaemonControl

    func add(
        _ path: String, to vault: String, removesOriginal: Bool, progress: @escaping ProgressHandler
    ) async throws {
        let original = try await OriginalFile(path, willBeRemoved: removesOriginal)
        let total = Double(max(original.size, 1) * (removesOriginal ? 2 : 1))
        try await control.translatingErrors { client in
            guard let vault = ItemID(vault) else { throw ControlClientError.notUnderstood(cause: "a vault's id") }
            _ = try await VaultUpload(client: client, vault: vault, original: original) {
                progress(Double($0) / total)
            }.run(removesOriginal: removesOriginal)
        }
    }

    func write(_ content: FileContent, into folder: String, progress: @escaping ProgressHandler) async throws -> String
    {
        let path = folder + "/" + content.file.name
        let received = try await runBlocking { try ReceivedFile(path) }
        do {
            try await control.translatingErrors { client in
                try await SealedDownload(client: client, content: content).run({
                    progress(Double($0) / Double(max(content.sealedSize, 1)))
                }) { try received.write($0) }
            }
            try await runBlocking { try received.finish(mode: content.mode, modified: content.file.modified) }
        } catch {
            received.discard()
            throw error
        }
        return path
    }

    func changeInPlace(
        _ change: InPlaceChange, _ paths: [String], keepsOriginals: Bool,
        earlierPasscode: @escaping @Sendable (_ name: String) async throws -> String,
        progress: @escaping ProgressHandler
    ) async throws -> InPlaceOutcome {
        var options = FileSelection.Options(purpose: change == .lock ? .lock : .unlock)
        options.protectedFolder = (control.socketPath() as NSString).deletingLastPathComponent
        let report = try await control.translatingErrors { [options] client in
            let sealing = DaemonSealing(client: client, earlierPasscode: earlierPasscode)
            return try await client.usingVault {
                try await InPlaceRun(options, keepsOriginals: keepsOriginals, sealing: sealing).run(paths) {
                    progress(Double($0.done) / Double(max($0.total, 1)))
                }
            }
        }
        let (failed, skipped) = (report.skipped.filter(\.isFailure), report.skipped.filter { !$0.isFailure })
        return InPlaceOutcome(
            paths: report.files.map(\.path),
            sentences: failed.map(\.message) + report.files.flatMap(\.notes) + skipped.map(\.message),
            failures: failed.count)
    }
}

/// Has the daemon seal and open headers of locked files with the keys of the open vault.
private struct DaemonSealing: LockedFileSealing {
    let client: ControlClient
    let earlierPasscode: @Sendable (_ name: String) async throws -> String

    func seal(_ body: Data, id: ItemID) async throws -> LockedFileHeader { try await client.seal(body, id: id) }

    func open(_ header: LockedFileHeader) async throws -> Data { try await client.open(header) }

    func earlierPasscode(for path: String) async throws -> SecretBytes {
        SecretBytes(utf8: try await earlierPasscode((path as NSString).lastPathComponent))
    }
}
