import BlockingThread
import CAdwaita
import CGtk4
import DesktopModels
import Foundation
import Glibc
import GtkSupport

/// Backup and recovery sheet.
@MainActor
final class BackupPage: Page {
    private static let template = Template("backup-page", of: adw_bin_get_type())

    private let screen = BackupPage.template.make()
    private let model: BackupModel
    private let recovery: RecoveryView

    var widget: Widget { screen.widget }

    init(
        _ model: BackupModel, _ recovery: RecoveryModel, window: @escaping () -> Widget,
        announce: @escaping (String) -> Void
    ) {
        self.model = model
        self.recovery = RecoveryView(recovery, window: window, announce: announce)
        adw_bin_set_child(screen["recovery"].cast(to: AdwBin.self), self.recovery.widget)
        Signals.connect(screen["export"].raw, "clicked") { [unowned self] in
            let settingsOnly = screen["settings_only"].isOn
            Dialogs.save("Export a backup", name: "applocker.aplockerbackup", parent: window()) { path in
                Task { await model.export(settingsOnly: settingsOnly) { try await BackupFile(path) } }
            }
        }
        Signals.connect(screen["cancel"].raw, "clicked") { model.cancel() }
        observe { [unowned self] in update() }
    }

    func open() async {}

    private func update() {
        screen["export"].setVisible(model.progress == nil)
        screen["cancel"].setVisible(model.progress != nil)
        screen["progress"].setVisible(model.progress != nil)
        gtk_progress_bar_set_fraction(screen["progress"].opaque, model.progress ?? 0)
        if !model.outcome.isEmpty { screen["export_row"].setRowSubtitle(model.outcome) }
    }
}

/// A file that appears under its name only once it is whole. The file chooser has asked before an existing one is replaced.
struct BackupFile: BackupTarget {
    /// What failed, with the path and the system's reason.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let path: String
    private let handle: FileHandle

    private var draft: String { path + ".part" }

    init(_ path: String) async throws {
        self.path = path
        let draft = path + ".part"
        handle = try await runBlocking {
            let descriptor = Glibc.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else {
                throw Failure(description: "\(draft) can't be written: \(String(cString: strerror(errno))).")
            }
            return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        try await runBlocking { [handle] in try handle.write(contentsOf: Data(bytes)) }
    }

    func finish() async throws {
        try await runBlocking { [handle, draft, path] in
            guard fsync(handle.fileDescriptor) == 0, rename(draft, path) == 0 else {
                throw Failure(description: "\(path) can't be written: \(String(cString: strerror(errno))).")
            }
        }
    }

    func discard() async { await runBlocking { [draft] in _ = unlink(draft) } }
}
