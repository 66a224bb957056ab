import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import DesktopSession
import GtkSupport
import Localization

/// The notes of the open vault.
@MainActor
final class NotesPage: Page {
    private static let template = Template("notes-page", of: adw_bin_get_type())

    private let screen = NotesPage.template.make()
    private let model: NotesModel
    private let vault: VaultModel
    private let context: DesktopContext
    private let list: RowList<NoteItem>
    private let lock: VaultLock
    private var shownLoads = -1

    var widget: Widget { lock.widget }
    var search: Widget? { vault.isOpen ? screen["search"] : nil }

    private struct NoteItem: Equatable, Identifiable {
        var note: NoteReport
        var time: String
        var id: String { note.id }
    }

    init(_ model: NotesModel, _ vault: VaultModel, _ context: DesktopContext, window: @escaping () -> Widget) {
        self.model = model
        self.vault = vault
        self.context = context
        list = RowList(screen["notes"]) { row, item in
            row.show(title: item.note.title, subtitle: item.time)
            row.setActivatable(true)
            row.onActivate = { Task { await model.open(item.id) } }
        }
        lock = VaultLock(vault, content: screen.widget) { await model.load() }
        connect(window)
        observe(self) { $0.update() }
    }

    func open() async { await lock.open() }

    func goBack() -> Bool {
        guard model.isEditing else { return false }
        Task { await model.finishEditing() }
        return true
    }

    /// Ctrl+N.
    func startNew() {
        guard vault.isOpen else { return }
        Task {
            await model.startNew()
            gtk_widget_grab_focus(screen["title"])
        }
    }

    private func connect(_ window: @escaping () -> Widget) {
        let (model, vault) = (model, vault)
        Signals.connect(screen["search"].raw, "search-changed") { [unowned self] in
            model.search = screen["search"].text
            Task { await model.load() }
        }
        Signals.connect(screen["new"].raw, "clicked") { [unowned self] in startNew() }
        Signals.connect(screen["lock"].raw, "clicked") {
            Task {
                if await model.finishEditing() { await vault.lock() }
            }
        }
        Signals.connect(screen["close"].raw, "clicked") { Task { await model.finishEditing() } }
        Signals.connect(screen["remove"].raw, "clicked") {
            // Another note can be opened behind the dialog.
            let loaded = model.loads
            let title = ShownLine.plain(String(model.title.prefix(100)))
            let explanation =
                title.isEmpty
                ? localized("It is removed from all devices.") : localized("“\(title)” is removed from all devices.")
            Dialogs.confirm(
                localized("Remove this note?"), explanation, verb: localized("_Remove"), parent: window()
            ) { Task { await model.removeCurrent(of: loaded) } }
        }
        Signals.connect(screen["title"].raw, "changed") { [unowned self] in edited() }
        Signals.connect(UnsafeMutableRawPointer(buffer), "changed") { [unowned self] in edited() }
    }

    private var buffer: UnsafeMutablePointer<GtkTextBuffer> {
        gtk_text_view_get_buffer(screen["body"].cast(to: GtkTextView.self))
    }

    private var body: String {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 0) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    private func edited() {
        guard shownLoads == model.loads else { return }
        model.edit(title: screen["title"].text, body: body)
    }

    private func update() {
        list.update(model.notes.map { NoteItem(note: $0, time: context.time.text($0.modified)) })
        screen["nothing"].setVisible(model.notes.isEmpty)
        screen["nothing"].setText(localized(model.search.isEmpty ? "No notes yet." : "No note matches."))
        if !vault.isOpen, model.search.isEmpty, !screen["search"].text.isEmpty { screen["search"].text = "" }
        screen["save_state"].setText(model.saveState)
        screen.show(model.isEditing ? "editor" : "empty", in: "editor_stack")
        adw_leaflet_set_visible_child_name(screen["leaflet"].opaque, model.isEditing ? "editor" : "list")
        guard shownLoads != model.loads else { return }
        // What these signal is no input.
        shownLoads = -1
        screen["title"].text = model.title
        gtk_text_buffer_set_text(buffer, model.body, -1)
        // Undo must not show another note's text.
        gtk_text_buffer_set_enable_undo(buffer, 0)
        gtk_text_buffer_set_enable_undo(buffer, 1)
        shownLoads = model.loads
    }
}
