import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// The files of the open vault: they are added by dropping them here, or by a file chooser.
@MainActor
final class FilesPage: Page {
    private static let template = Template("files-page", of: adw_bin_get_type())
    /// The entries of a file's menu.
    private static let choices = [localized("Save a Copy…"), localized("Remove…")]

    private let screen = FilesPage.template.make()
    private let model: FilesModel
    private let vault: VaultModel
    private let context: DesktopContext
    private let window: () -> Widget
    private let list: RowList<FileItem>
    private let lock: VaultLock

    var widget: Widget { lock.widget }

    private struct FileItem: Equatable, Identifiable {
        var file: FileReport
        var detail: String
        var id: String { file.id }
    }

    init(_ model: FilesModel, _ vault: VaultModel, _ context: DesktopContext, window: @escaping () -> Widget) {
        self.model = model
        self.vault = vault
        self.context = context
        self.window = window
        list = RowList(screen["files"]) { row, item in
            let file = item.file
            row.show(title: file.name, subtitle: item.detail)
            row.showSymbol("text-x-generic-symbolic")
            row.showMenu("", accessible: localized("Actions for \(file.name)"), choices: Self.choices)
            row.onChoice = { choice in
                if choice == 0 {
                    Dialogs.chooseFolder(localized("Save a copy of \(file.name)"), parent: window()) { folder in
                        Task { await model.save(file, into: folder) }
                    }
                } else {
                    Dialogs.confirm(
                        localized("Remove \(file.name)?"),
                        localized("It is removed from the vault on all devices. This can't be undone."),
                        verb: localized("_Remove"), parent: window()
                    ) { Task { await model.remove(file) } }
                }
            }
        }
        lock = VaultLock(vault, content: screen.widget) { await model.load() }
        Signals.connect(screen["add"].raw, "clicked") { [unowned self] in
            Dialogs.chooseFiles(localized("Lock files"), verb: localized("_Lock"), parent: window()) {
                [unowned self] in askToAdd($0)
            }
        }
        Signals.connect(screen["cancel"].raw, "clicked") { model.cancel() }
        screen.widget.acceptFiles { [unowned self] in askToAdd($0) }
        observe(self) { $0.update() }
    }

    func open() async { await lock.open() }

    private func askToAdd(_ paths: [String]) {
        if let work = model.work {
            return context.announce(localized("\(work.title) is not finished. Wait until it ends."))
        }
        let count = paths.count
        Dialogs.choose(
            count == 1
                ? localized("Lock this file?")
                : localized(count, one: "Lock \(count) file?", other: "Lock \(count) files?"),
            localized(
                """
                A sealed copy goes into the vault. \
                The original is removed after the copy was read back and compared.
                """),
            choices: [
                .init(name: "keep", verb: localized("_Keep Originals")),
                .init(name: "lock", verb: localized("_Lock"), style: .suggested),
            ], parent: window()
        ) { [model] choice in
            Task { await model.add(paths, removesOriginals: choice == "lock") }
        }
    }

    private func update() {
        list.update(
            model.files.map {
                FileItem(
                    file: $0, detail: localized("\(Self.size($0.size)) · added \(context.time.text($0.added))"))
            })
        screen["files"].setVisible(!model.files.isEmpty)
        screen["nothing"].setVisible(model.files.isEmpty)
        screen["unreadable"].setVisible(model.unreadable > 0)
        let unreadable = model.unreadable
        screen["unreadable"].setText(
            localized(
                unreadable, one: "\(unreadable) file can't be opened with the keys of this vault.",
                other: "\(unreadable) files can't be opened with the keys of this vault."))
        screen["add"].setVisible(model.work == nil)
        screen["working"].setVisible(model.work != nil)
        guard let work = model.work else { return }
        screen["work_title"].setText(work.title)
        gtk_progress_bar_set_fraction(screen["progress"].opaque, work.part)
    }

    private static func size(_ bytes: UInt64) -> String {
        guard let text = g_format_size_full(guint64(bytes), G_FORMAT_SIZE_IEC_UNITS) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
