import CAdwaita
import CGtk4
import ControlAPI
import DesktopModels
import GtkSupport
import Localization

/// All settings of AppLocker.
@MainActor
final class SettingsPage: Page {
    private static let template = Template("settings-page", of: adw_preferences_page_get_type())
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
    private var isUpdating = false

    var widget: Widget { screen.widget }

    init(_ model: SettingsModel) {
        self.model = model
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
        connectPasscode()
        observe(self) { $0.update() }
    }

    func open() async { await model.load() }

    private func update() {
        // A refused change returns to what is set.
        _ = model.refusals
        isUpdating = true
        defer { isUpdating = false }
        gtk_widget_set_sensitive(widget, model.report == nil ? 0 : 1)
        for (setting, name) in Self.switches { screen[name].isOn = model.isOn(setting) }
        screen["monitoring"].isOn = model.monitoring.isOn
        if let camera = model.report?.camera, screen["camera"].text != camera { screen["camera"].text = camera }
    }

    private func connectPasscode() {
        for name in ["old_passcode", "new_passcode", "repeated_passcode"] {
            Signals.connect(screen[name].raw, "changed") { [unowned self] in showStrength() }
        }
        Signals.connect(screen["change_passcode"].raw, "clicked") { [unowned self] in
            let (old, new) = (screen["old_passcode"].text, screen["new_passcode"].text)
            for name in ["old_passcode", "new_passcode", "repeated_passcode"] { screen[name].text = "" }
            Task {
                if await model.changePasscode(from: old, to: new) {
                    adw_expander_row_set_expanded(screen["passcode_row"].cast(to: AdwExpanderRow.self), 0)
                }
            }
        }
    }

    private func showStrength() {
        let (new, repeated) = (screen["new_passcode"].text, screen["repeated_passcode"].text)
        let strength = PasscodeStrength(new)
        let differs = !repeated.isEmpty && repeated != new
        screen["strength"].setRowTitle(differs ? localized("The two new passcodes differ.") : strength.sentence)
        screen["change_passcode"].setSensitive(
            strength.isAccepted && repeated == new && !screen["old_passcode"].text.isEmpty)
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
