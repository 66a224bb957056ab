import CGtk4
import DesktopModels
import GtkSupport
import Policy

/// The times of a schedule: for each a row with the days as buttons, and both ends.
@MainActor
final class ScheduleEditor {
    private static let template = Template("schedule-times", of: gtk_list_box_row_get_type())

    private let list: Widget
    private var rows: [Screen] = []

    /// - Parameter list: an empty `GtkListBox`.
    init(in list: Widget) { self.list = list }

    /// As they are chosen and typed now.
    var times: [ScheduleDraft.Times] {
        get {
            rows.map { row in
                ScheduleDraft.Times(
                    days: Set(Weekday.allCases.filter { Self.isOn(row[$0.longName]) }), start: row["start"].text,
                    end: row["end"].text)
            }
        }
        set {
            for row in rows { gtk_list_box_remove(list.opaque, row.widget) }
            rows = newValue.map(row)
            allowRemoval()
        }
    }

    func add(_ times: ScheduleDraft.Times) {
        let added = row(times)
        rows.append(added)
        allowRemoval()
        gtk_widget_grab_focus(added[Weekday.monday.longName])
    }

    private func row(_ times: ScheduleDraft.Times) -> Screen {
        let row = Self.template.make()
        for day in Weekday.allCases {
            gtk_toggle_button_set_active(
                row[day.longName].cast(to: GtkToggleButton.self), times.days.contains(day) ? 1 : 0)
        }
        row["start"].text = times.start
        row["end"].text = times.end
        Signals.connect(row["remove"].raw, "clicked") { [unowned self] in remove(row) }
        gtk_list_box_append(list.opaque, row.widget)
        return row
    }

    private func remove(_ row: Screen) {
        rows.removeAll { $0.widget == row.widget }
        gtk_list_box_remove(list.opaque, row.widget)
        allowRemoval()
    }

    /// "Always locked" is the choice without times.
    private func allowRemoval() {
        for row in rows { row["remove"].setSensitive(rows.count > 1) }
    }

    private static func isOn(_ button: Widget) -> Bool {
        gtk_toggle_button_get_active(button.cast(to: GtkToggleButton.self)) != 0
    }
}
