import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// Backup and recovery sheet.
@MainActor
final class BackupPage: Page {
    private static let template = Template("backup-page", of: adw_bin_get_type())

    private let screen = BackupPage.template.make()
    private let model: BackupModel
    private let recovery: RecoveryModel
    private let recoveryView: RecoveryView
    private let window: () -> Widget
    private var shownQuestion: ImportQuestion?
    private var pulsing: Task<Void, Never>?

    var widget: Widget { screen.widget }

    init(
        _ model: BackupModel, _ recovery: RecoveryModel, window: @escaping () -> Widget,
        announce: @escaping (String) -> Void
    ) {
        self.model = model
        self.window = window
        self.recovery = recovery
        recoveryView = RecoveryView(recovery, window: window, announce: announce)
        adw_bin_set_child(screen["recovery"].cast(to: AdwBin.self), recoveryView.widget)
        Signals.connect(screen["export"].raw, "clicked") { [unowned self] in
            let settingsOnly = screen["settings_only"].isOn
            Dialogs.save(localized("Export a backup"), name: "applocker.aplockerbackup", parent: window()) { path in
                Task { await model.export(settingsOnly: settingsOnly) { try await SavedFile(path) } }
            }
        }
        for (button, replaces) in [("import", false), ("replace", true)] {
            Signals.connect(screen[button].raw, "clicked") {
                Dialogs.chooseFiles(
                    localized("Choose a backup"), verb: localized("_Open"), several: false, parent: window()
                ) { paths in
                    Task {
                        do {
                            await model.importBackup(from: try await OpenedFile(paths[0]), replaces: replaces)
                        } catch {
                            announce(sentence(error))
                        }
                    }
                }
            }
        }
        Signals.connect(screen["cancel"].raw, "clicked") { model.cancel() }
        Signals.connect(screen["erase"].raw, "clicked") {
            Dialogs.confirm(
                localized("Erase everything?"),
                localized(
                    "The keys, notes, files, photos, moments, the list of apps and the log on this computer. Only a backup restores them; files that were locked in place can't be opened any more."
                ), verb: localized("_Erase Everything"), parent: window()
            ) { Task { await model.eraseEverything() } }
        }
        observe(self) { $0.update() }
    }

    func leave() { recovery.close() }

    private func update() {
        screen["export"].setVisible(!model.isWorking)
        screen["cancel"].setVisible(model.isWorking)
        screen["cancel"].setSensitive(model.canCancel)
        screen["progress"].setVisible(model.isWorking)
        if let progress = model.progress { gtk_progress_bar_set_fraction(screen["progress"].opaque, progress) }
        pulse()
        if !model.outcome.isEmpty { screen["export_row"].setRowSubtitle(model.outcome) }
        for button in ["import", "replace", "erase"] { screen[button].setVisible(!model.isWorking) }
        if !model.importOutcome.isEmpty { screen["import_row"].setRowSubtitle(model.importOutcome) }
        let confirmation = model.confirmation
        guard confirmation.question != shownQuestion else { return }
        shownQuestion = confirmation.question
        guard let question = shownQuestion else { return }
        Dialogs.choose(
            localized(question.replaces ? "Replace everything by this backup?" : "Import this backup?"), question.text,
            choices: [
                question.replaces
                    ? .init(name: "import", verb: localized("_Replace"), style: .destructive)
                    : .init(name: "import", verb: localized("_Import"), style: .suggested)
            ],
            parent: window(), cancelled: { confirmation.answer(false) }, chosen: { _ in confirmation.answer(true) })
    }

    /// Moves the bar while nobody knows how much is done.
    private func pulse() {
        guard model.isWorking, model.progress == nil, pulsing == nil else { return }
        pulsing = Task { [weak self] in
            while let self, self.model.isWorking, self.model.progress == nil {
                gtk_progress_bar_pulse(self.screen["progress"].opaque)
                try? await Task.sleep(for: .milliseconds(200))
            }
            self?.pulsing = nil
        }
    }
}
