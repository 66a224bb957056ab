import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import DesktopSession
import FileLocking
import GtkSupport
import Localization

/// The files of the open vault, and the change of files in place. Files are dropped here, chosen, or opened from the file
/// manager.
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
    private let transfers: TransferArea
    /// Files that wait for the passcode.
    private var offered: [String] = []

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
        transfers = TransferArea(in: screen["transfers"]) { model.cancel() }
        Signals.connect(screen["add"].raw, "clicked") { [unowned self] in
            Dialogs.chooseFiles(localized("Lock files"), verb: localized("_Lock"), parent: window()) {
                [unowned self] in offer($0)
            }
        }
        connectMenu(window)
        screen.widget.acceptFiles { [unowned self] in offer($0) }
        observe(self) { $0.update() }
    }

    func open() async { await lock.open() }

    /// Asks what to do with files and folders that were dropped here, or opened from the file manager: unlocks locked
    /// files, and locks others. Asks for the passcode first where the vault is locked.
    func offer(_ paths: [String]) {
        guard !isBusy() else { return }
        // A file manager may open several files one by one while the passcode is asked for.
        let isAsking = !offered.isEmpty
        guard isAsking || context.prompt.question == nil else {
            return context.announce(localized("Answer the open question first."))
        }
        offered += paths
        guard !isAsking else { return }
        Task {
            await vault.refresh()
            if !vault.isOpen { await vault.open() }
            let paths = offered
            offered = []
            guard vault.isOpen else { return }
            if paths.allSatisfy({ $0.hasSuffix(FileLocker.suffix) }) { askToUnlock(paths) } else { askToLock(paths) }
        }
    }

    private func isBusy() -> Bool {
        guard let work = model.work else { return false }
        context.announce(work.refusal)
        return true
    }

    private func askToLock(_ paths: [String]) {
        guard !isBusy() else { return }
        // The vault has no folders.
        if paths.contains(where: { g_file_test($0, G_FILE_TEST_IS_DIR) != 0 }) {
            return Dialogs.choose(
                Self.question(.lock, paths),
                localized("Each file in it becomes NAME.aplk, and is removed after that was read back and compared."),
                choices: [.init(name: "here", verb: localized("_Lock"), style: .suggested)], parent: window()
            ) { [model] _ in Task { await model.changeInPlace(.lock, paths) } }
        }
        Dialogs.choose(
            Self.question(.lock, paths),
            localized(
                """
                Into the vault: a sealed copy, beside your notes. Where it is: NAME becomes NAME.aplk. \
                The original is removed after the sealed file was read back and compared.
                """),
            choices: [
                .init(name: "here", verb: localized("_Where It Is")),
                .init(name: "keep", verb: localized("Into the Vault, _Keep Originals")),
                .init(name: "vault", verb: localized("Into the _Vault"), style: .suggested),
            ], parent: window()
        ) { [model] choice in
            Task {
                if choice == "here" {
                    await model.changeInPlace(.lock, paths)
                } else {
                    await model.add(paths, removesOriginals: choice == "vault")
                }
            }
        }
    }

    private func askToUnlock(_ paths: [String]) {
        guard !isBusy() else { return }
        Dialogs.choose(
            Self.question(.unlock, paths),
            localized("NAME.aplk becomes NAME, once all of it was checked. Then the locked file is removed."),
            choices: [
                .init(name: "keep", verb: localized("_Keep Locked File")),
                .init(name: "unlock", verb: localized("_Unlock"), style: .suggested),
            ], parent: window()
        ) { [model] choice in
            Task { await model.changeInPlace(.unlock, paths, keepsOriginals: choice == "keep") }
        }
    }

    private static func question(_ change: InPlaceChange, _ paths: [String]) -> String {
        let count = paths.count
        if count == 1 {
            let name = ShownLine.plain(FilesModel.name(paths[0]), maximumLength: 120)
            return change == .lock ? localized("Lock \(name)?") : localized("Unlock \(name)?")
        }
        return change == .lock
            ? localized(count, one: "Lock \(count) item?", other: "Lock \(count) items?")
            : localized(count, one: "Unlock \(count) file?", other: "Unlock \(count) files?")
    }

    private func connectMenu(_ window: @escaping () -> Widget) {
        let choices = [localized("Lock _Folder…"), localized("_Unlock Files…"), localized("Unlock F_older…")]
        ChoiceMenu.install(on: screen["menu"], choices) { [unowned self] choice in
            switch choice {
            case 0:
                Dialogs.chooseFolder(localized("Lock a folder"), verb: localized("_Lock"), parent: window()) {
                    [unowned self] in offer([$0])
                }
            case 1:
                Dialogs.chooseFiles(localized("Unlock files"), verb: localized("_Unlock"), parent: window()) {
                    [unowned self] in askToUnlock($0)
                }
            default:
                Dialogs.chooseFolder(
                    localized("Unlock the files of a folder"), verb: localized("_Unlock"), parent: window()
                ) { [unowned self] in askToUnlock([$0]) }
            }
        }
        screen["menu"].setMenuButtonName(localized("More for files"))
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
        screen["actions"].setVisible(model.work == nil)
        transfers.show(model.work, model.outcome)
    }

    private static func size(_ bytes: UInt64) -> String {
        guard let text = g_format_size_full(guint64(bytes), G_FORMAT_SIZE_IEC_UNITS) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
