import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// The rules of one locked app.
@MainActor
final class AppDialog: DetailWindow {
    private static let template = Template("app-dialog", of: adw_preferences_window_get_type())
    private static let grantEnds = ["keep", "freeze", "close"]

    private let screen = AppDialog.template.make()
    private let model: AppsModel
    private let app: AppItem
    private let schedule: ScheduleGroup
    private let categories: RowList<Membership>
    private var isUpdating = false

    private struct Membership: Equatable, Identifiable {
        var id: String
        var contains: Bool
    }

    init(_ app: AppItem, _ model: AppsModel, parent: Widget) {
        self.app = app
        self.model = model
        let id = app.id
        schedule = ScheduleGroup(in: screen["schedule_group"], app.listed?.schedule) { text in
            Task { await model.change(id, ChangeAppRequest(schedule: text)) }
        }
        categories = RowList(screen["categories"]) { row, category in
            row.show(title: category.id)
            row.showButton(
                localized(category.contains ? "Remove" : "Add"),
                accessible: localized(category.contains ? "Remove from \(category.id)" : "Add to \(category.id)"))
            row.onButton = { Task { await model.setCategory(category.id, of: id, contains: !category.contains) } }
        }
        gtk_window_set_title(screen.widget.window, app.name)
        gtk_window_set_transient_for(screen.widget.window, parent.window)
        fill()
        connect()
        observe(self) { $0.update() }
        gtk_window_present(screen.widget.window)
    }

    /// Shows what changed; the window stays open.
    private func update() {
        // What `item` finds is not observed itself.
        _ = (model.listed, model.categories)
        guard let report = model.item(app.id)?.listed else { return close() }
        screen["remove_passcode"].setVisible(report.hasOwnPasscode)
        let end = Self.grantEnds.firstIndex(of: report.onGrantEnd) ?? 0
        isUpdating = true
        if screen["on_grant_end"].selectedChoice != end {
            adw_combo_row_set_selected(screen["on_grant_end"].cast(to: AdwComboRow.self), guint(end))
        }
        isUpdating = false
        categories.update(
            model.categories.map { Membership(id: $0.name, contains: report.categories.contains($0.name)) })
    }

    private func fill() {
        let shared = app.listed?.sharedWith ?? []
        screen["shared"].setVisible(!shared.isEmpty)
        screen["shared"].setRowSubtitle(shared.joined(separator: ", "))
        screen["programs"].setRowSubtitle((app.listed?.executables ?? []).joined(separator: ", "))
    }

    private func connect() {
        let (id, model) = (app.id, model)
        Signals.connect(screen["own_passcode"].raw, "changed") { [unowned self] in
            screen["set_passcode"].setSensitive(PasscodeStrength(screen["own_passcode"].text).isAccepted)
        }
        Signals.connect(screen["set_passcode"].raw, "clicked") { [unowned self] in
            let passcode = screen["own_passcode"].text
            screen["own_passcode"].text = ""
            Task { await model.change(id, ChangeAppRequest(passcode: passcode)) }
        }
        Signals.connect(screen["remove_passcode"].raw, "clicked") {
            Task { await model.change(id, ChangeAppRequest(passcode: "")) }
        }
        Signals.connectChange(screen["on_grant_end"].raw, "notify::selected") { [unowned self] in
            guard !isUpdating else { return }
            let end = Self.grantEnds[screen["on_grant_end"].selectedChoice]
            Task { [weak self] in
                await model.change(id, ChangeAppRequest(onGrantEnd: end))
                self?.update()
            }
        }
        Signals.connect(screen["new_category"].raw, "apply") { [unowned self] in
            let name = screen["new_category"].text
            screen["new_category"].text = ""
            guard !name.isEmpty else { return }
            Task { await model.setCategory(name, of: id, contains: true) }
        }
        Signals.connect(screen["remove"].raw, "clicked") { [unowned self] in
            Dialogs.confirm(
                localized("Stop locking \(app.name)?"),
                localized("It starts without a prompt. Its schedule and own passcode are removed."),
                verb: localized("Stop _Locking"), parent: screen.widget
            ) { Task { await model.remove(id) } }
        }
    }

    var widget: Widget { screen.widget }
}
