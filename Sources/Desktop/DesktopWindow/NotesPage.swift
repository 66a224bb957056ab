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

    private static let versionTemplate = Template("note-version", of: gtk_flow_box_child_get_type())

    private let screen = NotesPage.template.make()
    private let model: NotesModel
    private let vault: VaultModel
    private let context: DesktopContext
    private let list: RowList<NoteItem>
    private let lock: VaultLock
    private var shownLoads = -1
    private var shownComparison: [NoteVersion] = []
    private var keep: @MainActor (_ index: Int) -> Void = { _ in }

    var widget: Widget { lock.widget }
    var search: Widget? { vault.isOpen ? screen["search"] : nil }

    private struct NoteItem: Equatable, Identifiable {
        var note: NoteReport
        var title: String
        var detail: String
        var id: String { note.id }
    }

    init(_ model: NotesModel, _ vault: VaultModel, _ context: DesktopContext, window: @escaping () -> Widget) {
        self.model = model
        self.vault = vault
        self.context = context
        list = RowList(screen["notes"]) { row, item in
            row.show(title: item.title, subtitle: item.detail)
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
        guard model.comparison.isEmpty else {
            model.closeComparison()
            return true
        }
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
        Signals.connect(screen["compare"].raw, "clicked") { Task { await model.compare() } }
        Signals.connect(screen["leave_comparison"].raw, "clicked") { model.closeComparison() }
        Signals.connect(screen["keep_both"].raw, "clicked") { Task { await model.keepBoth() } }
        keep = { index in
            Dialogs.confirm(
                localized("Keep this version?"), localized("The other one is removed from all devices."),
                verb: localized("_Keep This Version"), parent: window()
            ) { Task { await model.keep(index) } }
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

    private func updateComparison() {
        guard model.comparison != shownComparison else { return }
        shownComparison = model.comparison
        let box = screen["compared"].opaque
        while let child = gtk_flow_box_get_child_at_index(box, 0) {
            gtk_flow_box_remove(box, UnsafeMutableRawPointer(child).assumingMemoryBound(to: GtkWidget.self))
        }
        for (index, version) in shownComparison.enumerated() {
            let card = Self.versionTemplate.make()
            card["heading"].setText(version.heading)
            card["time"].setText(context.time.text(version.note.modified))
            card["title"].setText(version.title)
            let lines = NoteVersion.lines(version.body).enumerated().map { number, line in
                let text = escapedMarkup(String(line))
                return version.differing.contains(number) ? "<b>\(text)</b>" : text
            }
            gtk_label_set_markup(card["body"].opaque, lines.joined(separator: "\n"))
            card["keep"].setAccessibleLabel(localized("Keep this version: \(version.heading)"))
            Signals.connect(card["keep"].raw, "clicked") { [unowned self] in keep(index) }
            gtk_flow_box_insert(box, card.widget, -1)
        }
    }

    private func update() {
        list.update(
            model.notes.map { note in
                let isTwice = model.versions[note.id] != nil
                let facts = [isTwice ? localized("Two versions") : "", context.time.text(note.modified), note.preview]
                return NoteItem(
                    note: note, title: model.plainTitle(note),
                    detail: facts.filter { !$0.isEmpty }.joined(separator: " · "))
            })
        screen["nothing"].setVisible(model.notes.isEmpty)
        screen["nothing"].setText(localized(model.search.isEmpty ? "No notes yet." : "No note matches."))
        if !vault.isOpen, model.search.isEmpty, !screen["search"].text.isEmpty { screen["search"].text = "" }
        screen["save_state"].setText(model.saveState)
        screen["versions"].setVisible(model.hasOtherVersion)
        updateComparison()
        screen.show(
            !model.comparison.isEmpty ? "comparison" : model.isEditing ? "editor" : "empty", in: "editor_stack")
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
