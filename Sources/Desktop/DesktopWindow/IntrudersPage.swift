import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// The intruder photos of the open vault.
@MainActor
final class IntrudersPage: Page {
    private static let template = Template("intruders-page", of: adw_bin_get_type())

    private let screen = IntrudersPage.template.make()
    private let model: IntrudersModel
    private let vault: VaultModel
    private let list: RowList<IntruderItem>
    private let lock: VaultLock

    var widget: Widget { lock.widget }

    init(_ model: IntrudersModel, _ vault: VaultModel, window: @escaping () -> Widget) {
        self.model = model
        self.vault = vault
        list = RowList(screen["photos"]) { row, photo in
            row.show(title: photo.title, subtitle: photo.detail)
            row.showSymbol("camera-photo-symbolic")
            row.setActivatable(true)
            row.onActivate = { Task { await model.open(photo.id) } }
        }
        lock = VaultLock(vault, content: screen.widget) { await model.load() }
        Signals.connect(screen["back"].raw, "clicked") { model.close() }
        Signals.connect(screen["remove"].raw, "clicked") {
            guard let shown = model.shown else { return }
            Dialogs.confirm(
                localized("Remove this photo?"), localized("It is removed from all devices."),
                verb: localized("_Remove"), parent: window()
            ) { Task { await model.remove(shown.id) } }
        }
        observe(self) { $0.update() }
    }

    func open() async { await lock.open() }

    func goBack() -> Bool {
        guard model.shown != nil else { return false }
        model.close()
        return true
    }

    private func update() {
        list.update(model.items)
        screen["nothing"].setVisible(model.items.isEmpty)
        screen.show(model.picture == nil ? "list" : "photo", in: "stack")
        gtk_picture_set_paintable(screen["picture"].opaque, nil)
        guard let shown = model.shown, let picture = model.picture else { return }
        let caption = "\(shown.title). \(shown.detail)."
        gtk_picture_set_alternative_text(screen["picture"].opaque, localized("Intruder photo. \(caption)"))
        switch picture {
        case .decoded(let pixels):
            screen["caption"].setText(caption)
            let texture = PictureTexture.make(pixels)
            gtk_picture_set_paintable(screen["picture"].opaque, texture)
            g_object_unref(UnsafeMutableRawPointer(texture))
        case .failed(let reason):
            screen["caption"].setText(caption + " " + reason)
        }
    }
}
