import BlockingThread
import ControlAPI
import DesktopModels
import FileLocking
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
}
