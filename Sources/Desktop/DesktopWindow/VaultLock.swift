import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport

/// Shows content of the vault, or a button that opens it.
@MainActor
final class VaultLock {
    private static let template = Template("vault-lock", of: adw_bin_get_type())

    private let screen = VaultLock.template.make()
    private let vault: VaultModel
    private let onOpen: @MainActor () async -> Void

    var widget: Widget { screen.widget }

    /// - Parameter onOpen: reads what the content shows.
    init(_ vault: VaultModel, content: Widget, onOpen: @escaping @MainActor () async -> Void) {
        self.vault = vault
        self.onOpen = onOpen
        adw_bin_set_child(screen["content"].cast(to: AdwBin.self), content)
        Signals.connect(screen["open"].raw, "clicked") { Task { await vault.open() } }
        observe(self) { $0.update() }
    }

    /// The page became visible.
    func open() async {
        let wasOpen = vault.isOpen
        await vault.refresh()
        // `update` reads from a vault that wasn't open before.
        if wasOpen, vault.isOpen { await onOpen() }
    }

    private func update() {
        screen.show(vault.isOpen ? "open" : "locked", in: "stack")
        if vault.isOpen { Task { await onOpen() } }
    }
}
