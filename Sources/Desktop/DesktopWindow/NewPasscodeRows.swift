import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// Rows in which a new passcode is chosen: what permits it (the passcode now, or the recovery code), the new one twice, how
/// strong it is, and the button. GTK keeps what is typed in locked memory.
@MainActor
final class NewPasscodeRows {
    /// How long what was typed stays after the last key.
    private static let keptTime = Duration.seconds(120)

    private let expander: Widget
    private let secret: Widget
    private let new: Widget
    private let repeated: Widget
    private let strength: Widget
    private let button: Widget
    private var isChanging = false
    private var clearing: Task<Void, Never>?

    /// - Parameters:
    ///   - name: of the rows: "change" finds `change_row`, `change_secret`.
    ///   - change: returns why the passcode was not changed, which the row below shows then; nil closes the rows.
    init(
        _ screen: Screen, _ name: String,
        change: @escaping @MainActor (_ secret: String, _ new: String) async -> String?
    ) {
        expander = screen["\(name)_row"]
        secret = screen["\(name)_secret"]
        new = screen["\(name)_new"]
        repeated = screen["\(name)_repeated"]
        strength = screen["\(name)_strength"]
        button = screen["\(name)_button"]
        button.wrapButtonLabel()
        for field in fields {
            Signals.connect(field.raw, "changed") { [unowned self] in
                showStrength()
                clearLater()
            }
        }
        Signals.connect(button.raw, "clicked") { [unowned self] in
            isChanging = true
            showStrength()
            Task { [weak self, secret = secret.text, new = new.text] in
                let refusal = await change(secret, new)
                self?.finish(refusal)
            }
        }
    }

    private var fields: [Widget] { [secret, new, repeated] }

    /// A refused secret can be corrected.
    private func finish(_ refusal: String?) {
        isChanging = false
        if let refusal {
            showStrength()
            return strength.setRowTitle(refusal)
        }
        clear()
        adw_expander_row_set_expanded(expander.cast(to: AdwExpanderRow.self), 0)
    }

    private func clearLater() {
        clearing?.cancel()
        guard fields.contains(where: { !$0.text.isEmpty }) else { return }
        clearing = Task { [weak self] in
            if (try? await Task.sleep(for: Self.keptTime)) != nil { self?.clear() }
        }
    }

    /// Shows the rows, for typing.
    func open() {
        adw_expander_row_set_expanded(expander.cast(to: AdwExpanderRow.self), 1)
        gtk_widget_grab_focus(secret)
    }

    func clear() {
        for field in fields { field.text = "" }
    }

    private func showStrength() {
        let accepted = PasscodeStrength(new.text)
        let differs = !repeated.text.isEmpty && repeated.text != new.text
        strength.setRowTitle(differs ? localized("The two new passcodes differ.") : accepted.sentence)
        button.setSensitive(
            !isChanging && accepted.isAccepted && repeated.text == new.text && !secret.text.isEmpty)
    }
}
