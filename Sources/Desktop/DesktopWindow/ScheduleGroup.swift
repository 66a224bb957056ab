import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization
import Policy

/// The schedule of an app or a category, while it is edited.
@MainActor
final class ScheduleGroup {
    private static let template = Template("schedule-group", of: gtk_box_get_type())

    private let screen = ScheduleGroup.template.make()
    private let editor: ScheduleEditor
    private let save: @MainActor (_ text: String) -> Void

    /// - Parameters:
    ///   - group: an empty `AdwPreferencesGroup`.
    ///   - text: the schedule, as the control socket has it; nil without one.
    ///   - save: called with the new text; "" without times.
    init(in group: Widget, _ text: String?, save: @escaping @MainActor (_ text: String) -> Void) {
        self.save = save
        editor = ScheduleEditor(in: screen["times"])
        adw_preferences_group_add(group.cast(to: AdwPreferencesGroup.self), screen.widget)
        let draft = ScheduleDraft(text: text)
        screen["schedule_kind"].setChoices(ScheduleDraft.Kind.allCases.map(\.title), selected: draft.kind.rawValue)
        screen["template"].setChoices(
            [localized("Own times")] + ScheduleDraft.templates.map(\.title),
            selected: (ScheduleDraft.templates.firstIndex { $0.draft == draft } ?? -1) + 1)
        editor.times = draft.times.isEmpty ? [ScheduleDraft.usual] : draft.times
        Signals.connectChange(screen["schedule_kind"].raw, "notify::selected") { [unowned self] in showTimes() }
        Signals.connectChange(screen["template"].raw, "notify::selected") { [unowned self] in beginWithTemplate() }
        Signals.connect(screen["add_times"].raw, "clicked") { [unowned self] in editor.add(ScheduleDraft.usual) }
        Signals.connect(screen["save_schedule"].raw, "clicked") { [unowned self] in saveSchedule() }
        showTimes()
    }

    private var kind: ScheduleDraft.Kind {
        ScheduleDraft.Kind(rawValue: screen["schedule_kind"].selectedChoice) ?? .always
    }

    private func showTimes() {
        for part in ["times", "add_times", "template"] { screen[part].setVisible(kind != .always) }
        showProblem("")
    }

    private func beginWithTemplate() {
        let number = screen["template"].selectedChoice - 1
        guard ScheduleDraft.templates.indices.contains(number) else { return }
        let draft = ScheduleDraft.templates[number].draft
        editor.times = draft.times
        adw_combo_row_set_selected(screen["schedule_kind"].cast(to: AdwComboRow.self), guint(draft.kind.rawValue))
    }

    private func saveSchedule() {
        do throws(PolicyError) {
            let text = try ScheduleDraft(kind: kind, times: editor.times).text()
            showProblem("")
            save(text)
        } catch {
            showProblem(localized(written: error.sentence))
        }
    }

    private func showProblem(_ sentence: String) {
        screen["schedule_problem"].setText(sentence)
        screen["schedule_problem"].setVisible(!sentence.isEmpty)
    }
}
