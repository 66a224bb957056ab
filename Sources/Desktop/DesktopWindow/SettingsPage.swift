import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// All settings of AppLocker.
@MainActor
final class SettingsPage: Page {
    private static let template = Template("settings-page", of: adw_bin_get_type())
    private static let numbers: [(NumberSetting, String)] = [
        (.promptTimeout, "prompt_timeout"), (.defaultGrant, "default_grant"), (.phoneTimeout, "phone_timeout"),
        (.inactivity, "inactivity"), (.vaultIdle, "vault_idle"), (.clipboard, "clipboard"),
        (.photographsFrom, "photographs"), (.alertDays, "alert_days"),
    ]
    private static let switches: [(SwitchSetting, String)] = [
        (.asksPhoneAlone, "asks_phone"), (.holdsRoot, "holds_root"), (.locksOnCapture, "locks_capture"),
    ]

    private let screen = SettingsPage.template.make()
    private let model: SettingsModel
    private let rows: RowSearch
    private let change: NewPasscodeRows
    private let recovery: NewPasscodeRows
    private var isUpdating = false
    /// The rows take the focus once the settings were read.
    private var opensRecovery = false

    var widget: Widget { screen.widget }
    var search: Widget? { screen["search"] }

    init(_ model: SettingsModel) {
        self.model = model
        rows = RowSearch(of: screen["settings"])
        change = NewPasscodeRows(screen, "change") { await model.changePasscode(from: $0, to: $1) }
        recovery = NewPasscodeRows(screen, "recover") { await model.recover(code: $0, newPasscode: $1) }
        Signals.connect(screen["search"].raw, "search-changed") { [unowned self] in
            let isFound = rows.show(matching: screen["search"].text)
            screen["settings"].setVisible(isFound)
            screen["nothing"].setVisible(!isFound)
        }
        for (setting, name) in Self.numbers { NumberRow.connect(screen[name], setting, model, owner: self) }
        for (setting, name) in Self.switches {
            Signals.connectChange(screen[name].raw, "notify::active") { [unowned self] in
                guard !isUpdating else { return }
                let isOn = screen[name].isOn
                Task { await model.set(setting, to: isOn) }
            }
        }
        Signals.connectChange(screen["monitoring"].raw, "notify::active") { [unowned self] in
            guard !isUpdating else { return }
            let isOn = screen["monitoring"].isOn
            Task { await model.setMonitoring(isOn) }
        }
        Signals.connect(screen["camera"].raw, "apply") { [unowned self] in
            let camera = screen["camera"].text
            Task { await model.setCamera(camera) }
        }
        observe(self) { $0.update() }
    }

    func open() async { await model.load() }

    func leave() { clear() }

    /// What was typed and not used.
    func clear() {
        change.clear()
        recovery.clear()
    }

    /// The passcode was forgotten.
    func showRecovery() {
        screen["search"].text = ""
        opensRecovery = true
        update()
    }

    private func update() {
        // A refused change returns to what is set.
        _ = model.refusals
        isUpdating = true
        defer { isUpdating = false }
        screen["settings"].setSensitive(model.report != nil)
        if opensRecovery, model.report != nil {
            opensRecovery = false
            recovery.open()
        }
        for (setting, name) in Self.switches { screen[name].isOn = model.isOn(setting) }
        screen["monitoring"].isOn = model.monitoring.isOn
        if let camera = model.report?.camera, screen["camera"].text != camera { screen["camera"].text = camera }
    }
}

/// A row that chooses the value of a setting.
@MainActor
enum NumberRow {
    /// - Parameter owner: of the row.
    static func connect(
        _ row: Widget, _ setting: NumberSetting, _ model: SettingsModel, owner: some AnyObject & Sendable
    ) {
        var isUpdating = false
        Signals.connectChange(row.raw, "notify::selected") {
            guard !isUpdating, let choices = model.choices(setting), choices.values.indices.contains(row.selectedChoice)
            else { return }
            let value = choices.values[row.selectedChoice]
            Task { await model.set(setting, to: value) }
        }
        observe(owner) { _ in
            _ = model.refusals
            guard let choices = model.choices(setting) else { return }
            isUpdating = true
            row.setChoices(choices.titles, selected: choices.selected)
            isUpdating = false
        }
    }
}

@MainActor
extension UnsafeMutablePointer where Pointee == GtkWidget {
    /// Of a switch.
    var isOn: Bool {
        get { gtk_switch_get_active(opaque) != 0 }
        nonmutating set {
            if isOn != newValue { gtk_switch_set_active(opaque, newValue ? 1 : 0) }
        }
    }
}
