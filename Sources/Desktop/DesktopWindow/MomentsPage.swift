import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// The moments of the chosen vault: a list, one with its photos, the trash and statistics.
@MainActor
final class MomentsPage: Page {
    private static let template = Template("moments-page", of: adw_bin_get_type())

    private let screen = MomentsPage.template.make()
    private let model: MomentsModel
    private let vault: VaultModel
    private let vaults: MomentVaultsModel
    private let trash: MomentTrashModel
    private let statistics: MomentStatisticsModel
    private let list: RowList<MomentItem>
    private var trashView: MomentTrashView?
    private var statisticsView: MomentStatisticsView?
    private let lock: VaultLock
    private let transfers: TransferArea
    private var pictures: [(photo: ShownPhoto, widget: Widget)] = []
    /// While widgets are set from the models, their signals change nothing.
    private var isUpdating = false

    var widget: Widget { lock.widget }
    var search: Widget? { vault.isOpen && shownPart == .list ? screen["search"] : nil }

    private var visiblePart = Part.list

    private enum Part: String { case list, moment, trash, statistics }

    private var shownPart: Part {
        if model.shown != nil { return .moment }
        if trash.isShown { return .trash }
        return statistics.isShown ? .statistics : .list
    }

    private struct MomentItem: Equatable, Identifiable {
        var moment: MomentReport
        var thumbnail: PixelPicture?
        var id: String { moment.id }
    }

    init(_ models: WindowModels, window: @escaping () -> Widget) {
        let model = models.moments
        self.model = model
        (vault, vaults) = (models.vault, models.momentVaults)
        (trash, statistics) = (models.momentTrash, models.momentStatistics)
        list = RowList(screen["moments"]) { row, item in
            let heart = item.moment.favourite ? "♥ " : ""
            row.show(title: heart + item.moment.heading, subtitle: item.moment.facts)
            if let thumbnail = item.thumbnail {
                row.showPicture(thumbnail)
            } else {
                row.showSymbol(item.moment.photos.isEmpty ? "document-edit-symbolic" : "image-x-generic-symbolic")
            }
            row.setActivatable(true)
            row.onActivate = { Task { await model.open(item.id) } }
        }
        lock = VaultLock(models.vault, content: screen.widget) { await model.loadWithVaults() }
        transfers = TransferArea(in: screen["transfers"]) { model.cancel() }
        connectVaults()
        connectList(window)
        connectMoment(window)
        connectParts(window)
        observe(self) { $0.update() }
    }

    func open() async { await lock.open() }

    func goBack() -> Bool {
        switch shownPart {
        case .list: return false
        case .moment: model.close()
        case .trash:
            trash.close()
            // What was restored.
            Task { await model.load() }
        case .statistics: statistics.close()
        }
        return true
    }

    private func connectParts(_ window: @escaping () -> Widget) {
        let trashView = MomentTrashView(trash, window: window) { [unowned self] in _ = goBack() }
        let statisticsView = MomentStatisticsView(statistics) { [unowned self] in _ = goBack() }
        (self.trashView, self.statisticsView) = (trashView, statisticsView)
        adw_bin_set_child(screen["trash_view"].cast(to: AdwBin.self), trashView.widget)
        adw_bin_set_child(screen["statistics_view"].cast(to: AdwBin.self), statisticsView.widget)
        let choices = [localized("_Statistics"), localized("_Trash"), localized("_Write in the Companion…")]
        ChoiceMenu.install(on: screen["menu"], choices) { [model, trash, statistics] choice in
            Task {
                switch choice {
                case 0: await statistics.open()
                case 1: await trash.open()
                default: await model.openCompanion()
                }
            }
        }
        screen["menu"].setMenuButtonName(localized("More of Everline"))
    }

    private func connectVaults() {
        screen["vault"].ellipsizeChoice()
        Signals.connectChange(screen["vault"].raw, "notify::selected") { [unowned self] in
            let (choices, chosen) = (vaults.choices, screen["vault"].selectedDropDown)
            guard !isUpdating, choices.indices.contains(chosen) else { return }
            Task { [model] in await model.choose(vault: choices[chosen].value) }
        }
    }

    private func connectList(_ window: @escaping () -> Widget) {
        let model = model
        Signals.connect(screen["search"].raw, "search-changed") { [unowned self] in
            model.search = screen["search"].text
            Task { await model.load() }
        }
        Signals.connect(screen["more"].raw, "clicked") { Task { await model.showMore() } }
        Signals.connect(screen["import"].raw, "clicked") {
            Dialogs.chooseFolder(
                localized("Import the photos of a folder"), verb: localized("_Import"), parent: window()
            ) { folder in
                Dialogs.choose(
                    localized("Import these photos?"),
                    localized(
                        """
                        Each day of \(folder) becomes a moment. The folder's files stay where they are. \
                        Whole files keep the camera's data and place, and take more space.
                        """),
                    choices: [
                        .init(name: "whole", verb: localized("Import _Whole Files")),
                        .init(name: "import", verb: localized("_Import"), style: .suggested),
                    ], parent: window()
                ) { choice in
                    Task { await model.importFolder(folder, keepsOriginals: choice == "whole") }
                }
            }
        }
        Signals.connect(screen["export"].raw, "clicked") {
            Dialogs.chooseFolder(
                localized("Export Everline into an empty folder"), verb: localized("_Export Here"), parent: window()
            ) { folder in
                Task { await model.export(to: folder) }
            }
        }
    }

    private func connectMoment(_ window: @escaping () -> Widget) {
        let model = model
        Signals.connect(screen["back"].raw, "clicked") { model.close() }
        Signals.connect(screen["more_photos"].raw, "clicked") { model.showMorePhotos() }
        Signals.connect(screen["favourite"].raw, "toggled") { [unowned self] in
            guard !isUpdating else { return }
            let isOn = gtk_toggle_button_get_active(screen["favourite"].cast(to: GtkToggleButton.self)) != 0
            Task { await model.setFavourite(isOn) }
        }
        Signals.connect(screen["save"].raw, "clicked") {
            Dialogs.chooseFolder(localized("Save the photos, unsealed"), parent: window()) { folder in
                Task { await model.savePhotos(into: folder) }
            }
        }
        Signals.connect(screen["trash"].raw, "clicked") {
            Dialogs.confirm(
                localized("Move this moment to the trash?"),
                localized("It is removed from all devices after 30 days."),
                verb: localized("_Move to Trash"), parent: window()
            ) { Task { await model.moveToTrash() } }
        }
    }

    private func update() {
        list.update(
            model.moments.map { MomentItem(moment: $0, thumbnail: $0.photos.first.flatMap { model.thumbnails[$0.id] }) }
        )
        screen["more"].setVisible(model.hasMore)
        screen["nothing"].setVisible(model.isEmpty)
        screen["no_match"].setVisible(model.moments.isEmpty && !model.isEmpty)
        screen["export"].setSensitive(!model.isEmpty)
        if model.search.isEmpty, !screen["search"].text.isEmpty, !vault.isOpen { screen["search"].text = "" }
        transfers.show(model.work, model.outcome)
        screen["unreadable"].setVisible(model.unreadable > 0)
        let unreadable = model.unreadable
        screen["unreadable"].setText(
            localized(
                unreadable, one: "\(unreadable) moment can't be opened with the keys of this vault.",
                other: "\(unreadable) moments can't be opened with the keys of this vault."))
        screen["actions"].setVisible(model.work == nil)
        let isBack = shownPart == .list && visiblePart != .list
        visiblePart = shownPart
        screen.show(shownPart.rawValue, in: "stack")
        updateVaults()
        updateMoment()
        // The part that was left had the focus, and GTK gives it to none: no key would work.
        if isBack, vault.isOpen { gtk_widget_grab_focus(screen["search"]) }
    }

    private func updateVaults() {
        let (choices, chosen) = (vaults.choices, vaults.chosen)
        isUpdating = true
        screen["vault"].setDropDownChoices(
            choices.map(\.title), selected: choices.firstIndex { $0.value == chosen } ?? 0)
        isUpdating = false
        screen["vault"].setVisible(choices.count > 1)
        screen["vault_problem"].setText(vaults.problem)
        screen["vault_problem"].setVisible(!vaults.problem.isEmpty)
        for name in ["import", "favourite", "trash"] { screen[name].setSensitive(!vaults.isReadOnly) }
    }

    private func updateMoment() {
        updatePictures()
        // Also of a moment that was closed or locked nothing stays in the widgets.
        guard let shown = model.shown else {
            for name in ["heading", "facts", "words"] { screen[name].setText("") }
            return
        }
        isUpdating = true
        gtk_toggle_button_set_active(
            screen["favourite"].cast(to: GtkToggleButton.self), shown.moment.favourite ? 1 : 0)
        isUpdating = false
        screen["heading"].setText(shown.moment.heading)
        screen["facts"].setText(shown.moment.facts)
        screen["words"].setText(shown.words)
        screen["words"].setVisible(!shown.words.isEmpty)
        screen["more_photos"].setVisible(model.hasMorePhotos)
        screen["save"].setVisible(!shown.moment.photos.isEmpty)
    }

    /// A picture a photo; one is replaced when its content was fetched.
    private func updatePictures() {
        let box = screen["pictures"].cast(to: GtkBox.self)
        let count = model.shown?.moment.photos.count ?? 0
        let shown = model.photos.map(\.id)
        if !shown.starts(with: pictures.map(\.photo.id)) {
            for picture in pictures { gtk_box_remove(box, picture.widget) }
            pictures = []
        }
        for photo in model.photos.dropFirst(pictures.count) {
            let widget = Self.picture(photo, pictures.count + 1, of: count)
            gtk_box_append(box, widget)
            pictures.append((photo, widget))
        }
        for (number, photo) in model.photos.enumerated() where pictures[number].photo != photo {
            let widget = Self.picture(photo, number + 1, of: count)
            gtk_box_insert_child_after(box, widget, pictures[number].widget)
            gtk_box_remove(box, pictures[number].widget)
            pictures[number] = (photo, widget)
        }
    }

    private static func picture(_ photo: ShownPhoto, _ number: Int, of count: Int) -> Widget {
        guard let pixels = photo.picture else {
            let label = Widget.label("dim-label")
            label.setText(
                photo.problem.isEmpty ? localized("Opening photo \(number) of \(count)…") : photo.problem)
            gtk_label_set_wrap(label.opaque, 1)
            gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
            return label
        }
        let texture = PictureTexture.make(pixels)
        let picture = gtk_picture_new_for_paintable(texture)!
        g_object_unref(UnsafeMutableRawPointer(texture))
        picture.setAccessibleLabel(name(photo, number, of: count))
        guard let caption = caption(photo) else { return picture }
        let label = Widget.label("dim-label")
        label.setText(caption)
        gtk_label_set_wrap(label.opaque, 1)
        gtk_label_set_xalign(label.opaque, 0)
        return .box(GTK_ORIENTATION_VERTICAL, spacing: 6, [picture, label])
    }

    private static func name(_ photo: ShownPhoto, _ number: Int, of count: Int) -> String {
        switch photo.kind {
        case nil: localized("Photo \(number) of \(count)")
        case .video: localized("Video \(number) of \(count)")
        case .voice: localized("Voice note \(number) of \(count)")
        }
    }

    /// This window plays nothing: it shows the poster of a recording.
    private static func caption(_ photo: ShownPhoto) -> String? {
        guard let kind = photo.kind else { return nil }
        let name = kind == .video ? localized("Video") : localized("Voice note")
        let what = photo.length.map { "\(name), \($0)" } ?? name
        return localized("\(what). The companion plays it; “Save photos” saves it as a file.")
    }
}
