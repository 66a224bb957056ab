import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport

/// Shows content of the vault, or a button that opens it.
@MainActor
final class VaultLock {
    private static let template = Template("vault-lock", of: adw_bin_get_type())

    private let screen = VaultLock.template.make()

    var widget: Widget { screen.widget }

    init(_ vault: VaultModel, content: Widget, onOpen: @escaping @MainActor () async -> Void) {
        adw_bin_set_child(screen["content"].cast(to: AdwBin.self), content)
        Signals.connect(screen["open"].raw, "clicked") { Task { await vault.open() } }
        observe { [unowned self] in
            screen.show(vault.isOpen ? "open" : "locked", in: "stack")
            if vault.isOpen { Task { await onOpen() } }
        }
    }
}
