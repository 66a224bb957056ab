import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// The schedule and the apps of one category.
@MainActor
final class CategoryDialog: DetailWindow {
    private static let template = Template("category-dialog", of: adw_preferences_window_get_type())

    private let screen = CategoryDialog.template.make()
    private let model: AppsModel
    private let name: String
    private let schedule: ScheduleGroup
    private let apps: RowList<AppItem>

    init(_ category: CategoryItem, _ model: AppsModel, parent: Widget) {
        self.model = model
        let name = category.id
        self.name = name
        schedule = ScheduleGroup(in: screen["schedule_group"], category.schedule) { text in
            Task { await model.setSchedule(text, ofCategory: name) }
        }
        apps = RowList(screen["apps"]) { row, app in
            let contains = app.listed?.categories.contains(name) == true
            row.show(title: app.name, subtitle: app.listed?.schedule == nil ? "" : localized("Has its own schedule"))
            row.showIcon(app.icon)
            row.showButton(
                localized(contains ? "Remove" : "Add"),
                accessible: localized(contains ? "Remove \(app.name)" : "Add \(app.name)"))
            row.onButton = { Task { await model.setCategory(name, of: app.id, contains: !contains) } }
        }
        gtk_window_set_title(screen.widget.window, name)
        gtk_window_set_transient_for(screen.widget.window, parent.window)
        Signals.connect(screen["remove"].raw, "clicked") { [unowned self] in askToRemove() }
        observe(self) { $0.update() }
        gtk_window_present(screen.widget.window)
    }

    private func update() {
        // Removed elsewhere: to change it would create it again.
        guard model.categories.contains(where: { $0.name == name }) else { return close() }
        apps.update(model.locked)
    }

    private func askToRemove() {
        Dialogs.confirm(
            localized("Remove the category \(name)?"),
            localized("Its apps stay on the list. Those without another schedule are then always locked."),
            verb: localized("_Remove"), parent: screen.widget
        ) { [model, name] in Task { await model.removeCategory(name) } }
    }

    var widget: Widget { screen.widget }
}
