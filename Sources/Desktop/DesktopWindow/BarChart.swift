import CGtk4
import DesktopModels
import GtkSupport

/// Bars below each other, each with its name and what it counts.
@MainActor
final class BarChart {
    private static let template = Template("bar", of: gtk_box_get_type())

    private let box: Widget
    private var bars: [ChartBar] = []

    /// - Parameter box: an empty one.
    init(_ box: Widget) { self.box = box }

    func show(_ new: [ChartBar]) {
        box.setVisible(!new.isEmpty)
        guard new != bars else { return }
        bars = new
        while let bar = gtk_widget_get_first_child(box) { gtk_box_remove(box.cast(to: GtkBox.self), bar) }
        for bar in bars {
            let part = Self.template.make()
            part["name"].setText(bar.name)
            part["detail"].setText(bar.detail)
            gtk_level_bar_set_value(part["bar"].opaque, bar.fraction)
            gtk_box_append(box.cast(to: GtkBox.self), part.widget)
        }
    }
}
