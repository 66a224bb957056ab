import BlockingThread
import ControlAPI
import DesktopModels
import LocalControl
import Localization
import MomentTransfer
import Pictures
import SealedFormats

/// Seals and opens photos for the daemon's vaults.
struct DaemonPhotos: PhotoFiles {
    let control: DaemonControl
    /// Decodes photos in a process of its own.
    let maker: PictureMaker

    func inVault(_ id: String?) -> any PhotoFiles { DaemonPhotos(control: control.with(vault: id), maker: maker) }

    func picture(of photo: PhotoReport) async throws -> PixelPicture {
        let bytes = try await control.translatingErrors { try await PhotoDownload(client: $0, photo: photo).medium() }
        return try await decoded(bytes, side: PhotoBody.mediumSide)
    }

    func thumbnail(of photo: PhotoReport) async throws -> PixelPicture {
        try await decoded(Array(photo.thumbnail), side: Self.thumbnailSide)
    }

    func picture(of photo: [UInt8]) async throws -> PixelPicture {
        try await decoded(photo, side: PhotoBody.mediumSide)
    }

    func thumbnail(of photo: [UInt8]) async throws -> PixelPicture {
        try await decoded(photo, side: Self.tileSide)
    }

    /// Twice the row's 48, for dense screens.
    private static let thumbnailSide = 96
    private static let tileSide = 240

    private func decoded(_ bytes: [UInt8], side: Int) async throws -> PixelPicture {
        let pixels = try await runBlocking { [maker] in
            try maker.pixels(of: bytes, fitting: PictureSize(width: side, height: side))
        }
        return PixelPicture(width: pixels.size.width, height: pixels.size.height, rgb: pixels.rgb)
    }

    func save(_ moment: MomentReport, into folder: String, progress: @escaping ProgressHandler) async throws -> String {
        try await control.translatingErrors { client in
            let saving = PhotoSaving(client: client, folder: folder) { progress(Double($0.done) / Double($0.total)) }
            return try await saving.run(moment).summary
        }
    }

    func importFolder(
        _ folder: String, to vault: String, keepsOriginals: Bool, progress: @escaping ProgressHandler
    ) async throws -> PhotoImportOutcome {
        var options = PhotoImport.Options()
        options.keepsOriginal = keepsOriginals
        let report = try await control.translatingErrors { [options] client in
            guard let vault = ItemID(vault) else { throw ControlClientError.notUnderstood(cause: "a vault's id") }
            return try await PhotoImport(client: client, vault: vault, maker: maker, options: options) {
                // Finding the photos is much shorter than sealing them.
                let part = Double($0.done) / Double($0.total)
                progress($0.phase == .scanning ? 0.1 * part : 0.1 + 0.9 * part)
            }.run(folder)
        }
        let summary = report.summary(removesOriginals: false, option: localized("“Import Whole Files”"))
        return PhotoImportOutcome(summary: summary, skipped: report.skipped.map(\.line))
    }

    func export(to folder: String, progress: @escaping ProgressHandler) async throws -> String {
        try await control.translatingErrors { client in
            let export = MomentExport(client: client, folder: folder) { progress(Double($0.done) / Double($0.total)) }
            do {
                try await runBlocking { try export.makeFolder() }
            } catch let error as TransferError {
                throw PhotoFilesRefusal(sentence: error.sentence)
            }
            let report = try await export.run()
            // It stays in the window after a lock, so it names no photo.
            return ([report.summary] + report.warnings).joined(separator: " ")
        }
    }
}
