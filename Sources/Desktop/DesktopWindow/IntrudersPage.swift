import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// The intruder photos of the open vault.
@MainActor
final class IntrudersPage: Page {
    private static let template = Template("intruders-page", of: adw_bin_get_type())
    private static let tileTemplate = Template("intruder-tile", of: gtk_flow_box_child_get_type())
    /// In pixels of the screen's layout.
    private static let tileHeight: Int32 = 120

    private let screen = IntrudersPage.template.make()
    private let model: IntrudersModel
    private let vault: VaultModel
    private var tiles: [(photo: IntruderItem, screen: Screen, hasPicture: Bool)] = []
    private let lock: VaultLock

    var widget: Widget { lock.widget }

    init(_ model: IntrudersModel, _ vault: VaultModel, window: @escaping () -> Widget) {
        self.model = model
        self.vault = vault
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

    private func updateTiles() {
        let grid = screen["photos"].opaque
        if tiles.map(\.photo) != model.items {
            for tile in tiles { gtk_flow_box_remove(grid, tile.screen.widget) }
            tiles = model.items.map { ($0, tile($0), false) }
            for tile in tiles { gtk_flow_box_insert(grid, tile.screen.widget, -1) }
        }
        screen["photos"].setVisible(!tiles.isEmpty)
        for (index, tile) in tiles.enumerated() where !tile.hasPicture {
            guard let pixels = model.thumbnails[tile.photo.id] else { continue }
            let texture = PictureTexture.make(pixels)
            gtk_picture_set_paintable(tile.screen["picture"].opaque, texture)
            g_object_unref(UnsafeMutableRawPointer(texture))
            tile.screen["picture"].setAccessibleLabel(localized("Thumbnail of \(tile.photo.title)"))
            tile.screen.show("picture", in: "picture_stack")
            tiles[index].hasPicture = true
        }
    }

    private func tile(_ photo: IntruderItem) -> Screen {
        let tile = Self.tileTemplate.make()
        tile["title"].setText(photo.title)
        tile["detail"].setText(photo.detail)
        tile["open"].setAccessibleLabel("\(photo.title). \(photo.detail)")
        gtk_widget_set_size_request(tile["picture_stack"], Self.tileHeight / 3 * 4, Self.tileHeight)
        Signals.connect(tile["open"].raw, "clicked") { [model] in Task { await model.open(photo.id) } }
        return tile
    }

    private func update() {
        updateTiles()
        screen["nothing"].setVisible(model.items.isEmpty)
        screen.show(model.picture == nil ? "grid" : "photo", in: "stack")
        gtk_picture_set_paintable(screen["picture"].opaque, nil)
        guard let shown = model.shown, let picture = model.picture else { return }
        let caption = "\(shown.title). \(shown.detail)."
        screen["picture"].setAccessibleLabel(localized("Intruder photo. \(caption)"))
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
