import CAdwaita
import CGtk4
import DesktopModels
import DesktopSession
import GtkSupport

/// A row of a list: icon, title, subtitle, and what can be done.
@MainActor
final class Row {
    private static let template = Template("row", of: adw_action_row_get_type())

    let screen = Row.template.make()
    var onButton: () -> Void = {}
    var onActivate: () -> Void = {}
    var onChoice: (Int) -> Void = { _ in }
    private var choices: [String] = []
    private lazy var appImage = AppImage(screen["icon"])
    private var shownApp: String?

    init() {
        Signals.connect(screen["button"].raw, "clicked") { [unowned self] in onButton() }
        Signals.connect(screen.widget.raw, "activated") { [unowned self] in onActivate() }
    }

    func show(title: String, subtitle: String = "") {
        screen.widget.setRowTitle(title)
        screen.widget.setRowSubtitle(subtitle)
    }

    /// - Parameter value: shown at the end of the row.
    func show(title: String, value: String) {
        show(title: title)
        screen["value"].setVisible(true)
        screen["value"].setText(ShownLine.plain(value))
    }

    /// Shows an app's icon. The same one is not opened again whenever a countdown changes the row.
    func showIcon(_ icon: String?) {
        screen["icon"].setVisible(true)
        guard icon == nil || icon != shownApp else { return }
        shownApp = icon
        appImage.show(icon)
    }

    func showSymbol(_ name: String) {
        screen["icon"].setVisible(true)
        gtk_image_set_pixel_size(screen["icon"].opaque, 16)
        gtk_image_set_from_icon_name(screen["icon"].opaque, name)
    }

    func showPicture(_ picture: PixelPicture) {
        let texture = PictureTexture.make(picture)
        screen["icon"].setVisible(true)
        gtk_image_set_pixel_size(screen["icon"].opaque, 48)
        gtk_image_set_from_paintable(screen["icon"].opaque, texture)
        g_object_unref(UnsafeMutableRawPointer(texture))
    }

    /// - Parameters:
    ///   - label: nil hides the button.
    ///   - accessible: what a screen reader reads, with what it applies to.
    func showButton(_ label: String?, accessible: String = "", style: String? = nil) {
        screen["button"].setVisible(label != nil)
        guard let label else { return }
        screen["button_label"].setText(label)
        screen["button"].setAccessibleLabel(accessible.isEmpty ? label : accessible)
        if let style { screen["button"].addStyle(style) }
    }

    /// - Parameters:
    ///   - label: nil hides the menu; "" shows three dots.
    func showMenu(_ label: String?, accessible: String = "", choices: [String] = []) {
        let menu = screen["menu"]
        menu.setVisible(label != nil)
        guard let label else { return }
        if label.isEmpty {
            gtk_menu_button_set_icon_name(menu.opaque, "view-more-symbolic")
        } else {
            gtk_menu_button_set_label(menu.opaque, label)
        }
        menu.setMenuButtonName(accessible.isEmpty ? label : accessible)
        guard choices != self.choices else { return }
        self.choices = choices
        ChoiceMenu.install(on: menu, choices) { [unowned self] in onChoice($0) }
    }

    /// Whether a click on the row opens something.
    func setActivatable(_ isActivatable: Bool) {
        screen["next"].setVisible(isActivatable)
        gtk_list_box_row_set_activatable(screen.widget.cast(to: GtkListBoxRow.self), isActivatable ? 1 : 0)
    }
}

extension AppImage {
    /// With the icon of any program until the app's own is there.
    convenience init(_ image: Widget, size: Int32 = 32) {
        self.init(image, size: size, programs: SessionPrograms.ownDirectory) { hasIcon in
            if !hasIcon { gtk_image_set_from_icon_name(image.opaque, "application-x-executable") }
        }
    }
}

extension PictureTexture {
    static func make(_ picture: PixelPicture) -> OpaquePointer {
        make(width: picture.width, height: picture.height, rgb: picture.rgb)
    }
}

/// The menu of a menu button, whose entries are numbered.
@MainActor
enum ChoiceMenu {
    static func install(on button: Widget, _ choices: [String], _ onChoice: @escaping @MainActor (Int) -> Void) {
        let menu = g_menu_new()!
        for (number, title) in choices.enumerated() {
            let item = g_menu_item_new(title, nil)!
            g_menu_item_set_action_and_target_value(item, "choice.choose", g_variant_new_int32(Int32(number)))
            g_menu_append_item(menu, item)
            g_object_unref(UnsafeMutableRawPointer(item))
        }
        let type = g_variant_type_new("i")
        let action = g_simple_action_new("choose", type)!
        g_variant_type_free(type)
        Signals.connectNumber(UnsafeMutableRawPointer(action), "activate") { onChoice(Int($0)) }
        let group = g_simple_action_group_new()!
        g_action_map_add_action(OpaquePointer(group), action)
        gtk_widget_insert_action_group(button, "choice", OpaquePointer(group))
        gtk_menu_button_set_menu_model(button.opaque, menu.model)
        for object in [UnsafeMutableRawPointer(action), UnsafeMutableRawPointer(group), UnsafeMutableRawPointer(menu)] {
            g_object_unref(object)
        }
    }
}

extension OpaquePointer {
    fileprivate var model: UnsafeMutablePointer<GMenuModel> { UnsafeMutablePointer(self) }
}

/// The rows of a list box, one an item. Rows of items that stay keep their widget, and with it the focus.
@MainActor
final class RowList<Item: Equatable & Identifiable> where Item.ID == String {
    private let box: Widget
    private let show: (Row, Item) -> Void
    private var items: [Item] = []
    private var rows: [Row] = []

    /// - Parameter show: fills a row, a new one or one that showed the item before.
    init(_ box: Widget, show: @escaping (Row, Item) -> Void) {
        self.box = box
        self.show = show
        box.setVisible(false)
    }

    func update(_ new: [Item]) {
        guard new != items || rows.count != new.count else { return }
        let list = box.opaque
        // What the rows that stay show.
        var before = Dictionary(items.map { ($0.id, $0) }) { $1 }
        for change in new.map(\.id).difference(from: items.map(\.id)) {
            switch change {
            case .remove(let offset, _, _):
                gtk_list_box_remove(list, rows.remove(at: offset).screen.widget)
            case .insert(let offset, let id, _):
                // Also where the item only moved, its row is new.
                before[id] = nil
                let row = Row()
                rows.insert(row, at: offset)
                gtk_list_box_insert(list, row.screen.widget, Int32(offset))
            }
        }
        items = new
        for (row, item) in zip(rows, new) where before[item.id] != item { show(row, item) }
        box.setVisible(!new.isEmpty)
    }
}
