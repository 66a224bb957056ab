import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// The locked apps, and those that can be locked.
@MainActor
final class AppsPage: Page {
    private static let template = Template("apps-page", of: adw_bin_get_type())

    private let screen = AppsPage.template.make()
    private let model: AppsModel
    private let listed: RowList<AppItem>
    private let categories: RowList<CategoryItem>
    private let running: RowList<AppItem>
    private let others: RowList<AppItem>

    var widget: Widget { screen.widget }
    var search: Widget? { screen["search"] }

    /// - Parameters:
    ///   - onDetails: the user chose an app on the list.
    ///   - onCategory: the user chose a category.
    init(
        _ model: AppsModel, onDetails: @escaping (AppItem) -> Void, onCategory: @escaping (CategoryItem) -> Void
    ) {
        self.model = model
        listed = RowList(screen["listed"]) { row, app in
            row.show(title: app.name, subtitle: app.stateText)
            row.showIcon(app.icon)
            // The menu's entries as long as it is shown.
            let grants = model.grants
            let isLocked = app.listed?.state == .locked
            row.showMenu(
                isLocked ? localized("Unlock") : nil, accessible: localized("Unlock \(app.name)"),
                choices: grants.map(\.title))
            row.showButton(
                app.listed?.state == .unlocked ? localized("Lock") : nil, accessible: localized("Lock \(app.name)"))
            row.setActivatable(true)
            row.onButton = { Task { await model.lock(app.id) } }
            row.onChoice = { choice in
                let grant = grants[choice].grant
                Task { await model.unlock(app.id, grant) }
            }
            row.onActivate = { onDetails(app) }
        }
        categories = RowList(screen["categories"]) { row, category in
            row.show(title: category.id, subtitle: category.text)
            row.showButton(localized("Edit"), accessible: localized("Edit the category \(category.id)"))
            row.setActivatable(true)
            row.onButton = { onCategory(category) }
            row.onActivate = { onCategory(category) }
        }
        running = RowList(screen["running"]) { row, app in
            row.show(title: app.name)
            row.showIcon(app.icon)
            row.showButton(localized("Lock"), accessible: localized("Lock \(app.name)"))
            row.onButton = { Task { await model.add(app.id) } }
            row.showMenu(
                "", accessible: localized("Actions for \(app.name)"),
                choices: [localized("Lock and Freeze"), localized("Lock and Close")])
            row.onChoice = { choice in Task { await model.add(app.id, running: ["freeze", "close"][choice]) } }
        }
        others = RowList(screen["others"]) { row, app in
            row.show(title: app.name)
            row.showIcon(app.icon)
            row.showButton(localized("Lock"), accessible: localized("Lock \(app.name)"))
            row.onButton = { Task { await model.add(app.id) } }
        }
        Signals.connect(screen["search"].raw, "search-changed") { [unowned self] in
            model.search = screen["search"].text
        }
        widget.acceptFiles { paths in Task { await model.add(dropped: paths) } }
        observe(self) { $0.update() }
    }

    func open() async { await model.load() }
    func refresh() async { await model.refresh() }

    private func update() {
        listed.update(model.listed)
        let shown = model.shownCategories
        categories.update(shown)
        screen["categories_group"].setVisible(!shown.isEmpty)
        running.update(model.running)
        others.update(model.others)
        screen["none_listed"].setVisible(model.listed.isEmpty && model.search.isEmpty)
        screen["listed_group"].setVisible(!model.listed.isEmpty || model.search.isEmpty)
        screen["running_group"].setVisible(!model.running.isEmpty)
        screen["others_group"].setVisible(!model.others.isEmpty)
        screen["nothing"].setVisible(model.findsNothing)
        screen["loading"].setVisible(model.isLoading)
        gtk_spinner_set_spinning(screen["loading"].opaque, model.isLoading ? 1 : 0)
    }
}
