import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// The activity log with filters, a chart and its proof.
@MainActor
final class ActivityPage: Page {
    private static let template = Template("activity-page", of: adw_bin_get_type())
    private static let headTemplate = Template("activity-head", of: gtk_box_get_type())

    private let screen = ActivityPage.template.make()
    /// What is above the events.
    private let head = ActivityPage.headTemplate.make()
    private let model: ActivityModel
    private let events: EventList
    private let chart: BarChart
    private var isUpdating = false

    var widget: Widget { screen.widget }
    var search: Widget? { screen["search"] }

    /// - Parameter announce: shows a sentence for a moment.
    init(_ model: ActivityModel, window: @escaping () -> Widget, announce: @escaping (String) -> Void) {
        self.model = model
        events = EventList(screen["events"], head: head.widget)
        chart = BarChart(head["chart"])
        Signals.connect(screen["search"].raw, "search-changed") { [unowned self] in
            model.filter.search = screen["search"].text
        }
        head["chart_choice"].setDropDownChoices(
            ActivityChart.allCases.map(\.title), selected: ActivityChart.allCases.firstIndex(of: model.chart) ?? 0)
        head["chart_choice"].ellipsizeChoice()
        Signals.connectChange(head["chart_choice"].raw, "notify::selected") { [unowned self] in
            let (charts, chosen) = (ActivityChart.allCases, head["chart_choice"].selectedDropDown)
            if charts.indices.contains(chosen) { Task { await model.choose(charts[chosen]) } }
        }
        screen["group"].setDropDownChoices(EventGroup.allCases.map(\.title), selected: 0)
        for name in ["group", "app", "person", "day"] {
            screen[name].ellipsizeChoice()
            Signals.connectChange(screen[name].raw, "notify::selected") { [unowned self] in choose() }
        }
        Signals.connect(head["verify"].raw, "clicked") { Task { await model.verify() } }
        Signals.connect(head["load_earlier"].raw, "clicked") { Task { await model.loadEarlier() } }
        Signals.connect(head["save"].raw, "clicked") {
            Dialogs.save(localized("Save activity"), name: "applocker-activity.csv", parent: window()) { path in
                let table = Array(model.table().utf8)
                Task {
                    do {
                        try await SavedFile.save(table, to: path)
                        announce(localized("Saved."))
                    } catch {
                        announce(sentence(error))
                    }
                }
            }
        }
        observe(self) { $0.update() }
    }

    func open() async { await model.load() }
    func refresh() async { await model.refresh() }

    private func choose() {
        guard !isUpdating else { return }
        var filter = model.filter
        filter.group = EventGroup(rawValue: screen["group"].selectedDropDown) ?? .all
        filter.app = chosen(screen["app"], model.apps)
        filter.user = chosen(screen["person"], model.users)
        filter.day = chosen(screen["day"], model.days)
        model.filter = filter
    }

    private func chosen<Value>(_ list: Widget, _ choices: [FilterChoice<Value>]) -> Value? {
        choices.indices.contains(list.selectedDropDown) ? choices[list.selectedDropDown].value : nil
    }

    private func update() {
        isUpdating = true
        defer { isUpdating = false }
        show(model.apps, model.filter.app, "app")
        show(model.users, model.filter.user, "person")
        show(model.days, model.filter.day, "day")
        events.update(model.items)
        head["nothing"].setVisible(model.items.isEmpty)
        head["earlier_row"].setVisible(!model.earlier.isEmpty)
        head["earlier_row"].setRowSubtitle(model.earlier)
        if !model.verification.isEmpty {
            head["verify_row"].setRowSubtitle(model.verification)
            head["verify_row"].addStyle("error", if: !model.isWhole)
        }
        chart.show(model.bars)
        head["no_launches"].setVisible(model.bars.isEmpty)
    }

    private func show<Value>(_ choices: [FilterChoice<Value>], _ value: Value?, _ name: String) {
        guard !choices.isEmpty else { return }
        screen[name].setDropDownChoices(
            choices.map(\.title), selected: choices.firstIndex { $0.value == value } ?? 0)
    }
}
