import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization
import Policy

/// The rules of one locked app.
@MainActor
final class AppDialog {
    private static let template = Template("app-dialog", of: adw_preferences_window_get_type())
    private static let grantEnds = ["keep", "freeze", "close"]

    private let screen = AppDialog.template.make()
    private let model: AppsModel
    private let app: AppItem
    private let schedule: ScheduleEditor
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
        schedule = ScheduleEditor(in: screen["times"])
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
        guard let report = model.item(app.id)?.listed else { return }
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
        let draft = ScheduleDraft(text: app.listed?.schedule)
        screen["schedule_kind"].setChoices(ScheduleDraft.Kind.allCases.map(\.title), selected: draft.kind.rawValue)
        screen["template"].setChoices(
            [localized("Own times")] + ScheduleDraft.templates.map(\.title),
            selected: (ScheduleDraft.templates.firstIndex { $0.draft == draft } ?? -1) + 1)
        schedule.times = draft.times.isEmpty ? [ScheduleDraft.usual] : draft.times
        let shared = app.listed?.sharedWith ?? []
        screen["shared"].setVisible(!shared.isEmpty)
        screen["shared"].setRowSubtitle(shared.joined(separator: ", "))
        screen["programs"].setRowSubtitle((app.listed?.executables ?? []).joined(separator: ", "))
        showTimes()
    }

    private func connect() {
        let (id, model) = (app.id, model)
        Signals.connectChange(screen["schedule_kind"].raw, "notify::selected") { [unowned self] in showTimes() }
        Signals.connectChange(screen["template"].raw, "notify::selected") { [unowned self] in beginWithTemplate() }
        Signals.connect(screen["add_times"].raw, "clicked") { [unowned self] in schedule.add(ScheduleDraft.usual) }
        Signals.connect(screen["save_schedule"].raw, "clicked") { [unowned self] in saveSchedule() }
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
            ) { [weak self] in
                Task {
                    await model.remove(id)
                    if let self, model.item(id)?.listed == nil { self.close() }
                }
            }
        }
    }

    func close() { gtk_window_close(screen.widget.window) }

    /// - Parameter body: the window was closed.
    func onClose(_ body: @escaping @MainActor () -> Void) { Signals.connect(screen.widget.raw, "destroy", body) }

    private func showTimes() {
        let kind = ScheduleDraft.Kind(rawValue: screen["schedule_kind"].selectedChoice) ?? .always
        screen["times"].setVisible(kind != .always)
        screen["add_times"].setVisible(kind != .always)
        screen["template"].setVisible(kind != .always)
        showProblem("")
    }

    private func beginWithTemplate() {
        let number = screen["template"].selectedChoice - 1
        guard ScheduleDraft.templates.indices.contains(number) else { return }
        let draft = ScheduleDraft.templates[number].draft
        schedule.times = draft.times
        adw_combo_row_set_selected(screen["schedule_kind"].cast(to: AdwComboRow.self), guint(draft.kind.rawValue))
    }

    private func saveSchedule() {
        let kind = ScheduleDraft.Kind(rawValue: screen["schedule_kind"].selectedChoice) ?? .always
        let (id, model) = (app.id, model)
        do throws(PolicyError) {
            let text = try ScheduleDraft(kind: kind, times: schedule.times).text()
            showProblem("")
            Task { await model.change(id, ChangeAppRequest(schedule: text)) }
        } catch {
            showProblem(localized(written: error.sentence))
        }
    }

    private func showProblem(_ sentence: String) {
        screen["schedule_problem"].setText(sentence)
        screen["schedule_problem"].setVisible(!sentence.isEmpty)
    }
}
