import CAdwaita
import CGtk4
import DesktopModels
import DesktopSession
import GtkSupport

/// The dialog that asks for the passcode, as `PasscodePrompt` requires. GTK keeps what is typed in locked memory.
@MainActor
final class PasscodeDialog {
    private static let template = Template("passcode-dialog", of: adw_window_get_type())

    private let prompt: PasscodePrompt
    private let parent: Widget
    private let recovery: () -> (() -> Void)?
    private var screen: Screen?
    private var shown: PasscodeQuestion?
    private var shownRefusals = 0

    /// - Parameter recovery: where the recovery code is typed; nil where it can't be at the moment.
    init(_ prompt: PasscodePrompt, parent: Widget, recovery: @escaping () -> (() -> Void)?) {
        self.prompt = prompt
        self.parent = parent
        self.recovery = recovery
        observe(self) { $0.update() }
    }

    private func update() {
        if prompt.question != shown {
            if let screen { gtk_window_destroy(screen.widget.window) }
            screen = nil
            shown = prompt.question
        }
        guard let question = shown else { return }
        let screen = screen ?? open(question)
        self.screen = screen
        // GTK's text field must lose the focus before it is disabled.
        if prompt.isChecking { gtk_window_set_focus(screen.widget.window, nil) }
        screen["passcode"].setSensitive(!prompt.isChecking)
        for name in ["cancel", "forgotten"] { screen[name].setSensitive(!prompt.isChecking) }
        updateSubmit(screen)
        screen["refusal"].setText(prompt.refusal)
        screen["refusal"].setVisible(!prompt.refusal.isEmpty)
        if prompt.refusals != shownRefusals, !prompt.isChecking {
            shownRefusals = prompt.refusals
            gtk_widget_grab_focus(screen["passcode"])
        }
    }

    private func open(_ question: PasscodeQuestion) -> Screen {
        let screen = Self.template.make()
        shownRefusals = prompt.refusals
        let title = ShownLine.plain(question.title, maximumLength: 120)
        gtk_window_set_title(screen.widget.window, title)
        gtk_window_set_transient_for(screen.widget.window, activeParent)
        screen["heading"].setText(title)
        screen["explanation"].setText(question.explanation)
        screen["submit"].setButtonLabel(question.verb)
        cgtk_set_accessible_described_by(screen["passcode"], screen["refusal"])
        Signals.connect(screen["passcode"].raw, "changed") { [unowned self] in updateSubmit(screen) }
        Signals.connect(screen["passcode"].raw, "activate") { [unowned self] in submit(screen) }
        Signals.connect(screen["submit"].raw, "clicked") { [unowned self] in submit(screen) }
        Signals.connect(screen["cancel"].raw, "clicked") { [unowned self] in prompt.cancel() }
        let recover = question.isOfThisAppLocker ? recovery() : nil
        screen["forgotten"].setVisible(recover != nil)
        Signals.connect(screen["forgotten"].raw, "clicked") { [unowned self] in
            prompt.cancel()
            recover?()
        }
        Signals.connectClose(screen.widget) { [unowned self] in prompt.cancel() }
        gtk_window_present(screen.widget.window)
        gtk_widget_grab_focus(screen["passcode"])
        return screen
    }

    /// The dialog belongs to the dialog that is open already, if there is one.
    private var activeParent: UnsafeMutablePointer<GtkWindow> {
        guard let application = gtk_window_get_application(parent.window),
            let active = gtk_application_get_active_window(application)
        else { return parent.window }
        return active
    }

    private func updateSubmit(_ screen: Screen) {
        screen["submit"].setSensitive(!prompt.isChecking && !screen["passcode"].text.isEmpty)
    }

    private func submit(_ screen: Screen) {
        let passcode = screen["passcode"].text
        guard !passcode.isEmpty, !prompt.isChecking else { return }
        screen["passcode"].text = ""
        Task { await prompt.submit(passcode) }
    }
}
