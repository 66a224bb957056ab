import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport

/// Counts of the moments, and a chart of them.
@MainActor
final class MomentStatisticsView {
    private static let template = Template("moment-statistics", of: gtk_box_get_type())

    private let screen = MomentStatisticsView.template.make()
    private let model: MomentStatisticsModel
    private let facts: RowList<MomentFact>
    private let chart: BarChart

    var widget: Widget { screen.widget }

    init(_ model: MomentStatisticsModel, onBack: @escaping @MainActor () -> Void) {
        self.model = model
        facts = RowList(screen["facts"]) { row, fact in row.show(title: fact.name, value: fact.value) }
        chart = BarChart(screen["chart"])
        screen["chart_choice"].ellipsizeChoice()
        screen["chart_choice"].setDropDownChoices(MomentChart.allCases.map(\.title), selected: 0)
        Signals.connectChange(screen["chart_choice"].raw, "notify::selected") { [unowned self] in
            guard let chart = MomentChart(rawValue: screen["chart_choice"].selectedDropDown) else { return }
            model.chart = chart
        }
        Signals.connect(screen["back"].raw, "clicked") { onBack() }
        observe(self) { $0.update() }
    }

    private func update() {
        let (shown, bars) = (model.facts, model.bars)
        facts.update(shown)
        screen["chart_group"].setVisible(!shown.isEmpty)
        screen["nothing"].setVisible(model.isEmpty)
        chart.show(bars)
        screen["no_moods"].setVisible(!shown.isEmpty && bars.isEmpty)
    }
}
