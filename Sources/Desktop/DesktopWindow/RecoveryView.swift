import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport

/// Makes, prints and checks a recovery sheet.
@MainActor
final class RecoveryView {
    private static let template = Template("recovery-view", of: adw_bin_get_type())

    private let screen = RecoveryView.template.make()
    private let model: RecoveryModel

    var widget: Widget { screen.widget }

    init(_ model: RecoveryModel, window: @escaping () -> Widget, announce: @escaping (String) -> Void) {
        self.model = model
        screen["make"].wrapButtonLabel()
        Signals.connect(screen["make"].raw, "clicked") { Task { await model.make() } }
        Signals.connect(screen["print"].raw, "clicked") {
            guard let code = model.code else { return }
            SheetPrinter.print(code, parent: window(), onFailure: announce)
        }
        Signals.connect(screen["check"].raw, "clicked") { [unowned self] in check() }
        Signals.connect(screen["typed"].raw, "entry-activated") { [unowned self] in check() }
        observe(self) { $0.update() }
    }

    private func check() {
        let typed = screen["typed"].text
        guard !typed.isEmpty else { return }
        Task { await model.verify(typed) }
    }

    private func update() {
        screen["make"].setVisible(model.code == nil)
        screen["sheet"].setVisible(model.code != nil)
        screen["code"].setText(model.code ?? "")
        screen["check_box"].setVisible(model.code != nil)
        screen["refusal"].setText(model.refusal)
        screen["refusal"].setVisible(!model.refusal.isEmpty)
        screen["verified"].setVisible(model.isVerified)
        if model.code == nil { screen["typed"].text = "" }
    }
}
