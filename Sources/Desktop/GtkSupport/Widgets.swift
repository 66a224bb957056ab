public import CGtk4

public typealias Widget = UnsafeMutablePointer<GtkWidget>

/// Short forms of the GTK calls that windows need. All on the main actor, because GTK runs there.
@MainActor
extension UnsafeMutablePointer where Pointee == GtkWidget {
    public static func box(_ orientation: GtkOrientation, spacing: Int32 = 0, _ children: [Widget]) -> Widget {
        let box = gtk_box_new(orientation, spacing)!
        for child in children { gtk_box_append(box.cast(to: GtkBox.self), child) }
        return box
    }

    public static func label(_ style: String, role: GtkAccessibleRole = GTK_ACCESSIBLE_ROLE_LABEL) -> Widget {
        let label = cgtk_label_new_with_role(role)!
        gtk_widget_add_css_class(label, style)
        return label
    }

    public func styled(_ classes: String...) -> Widget {
        for name in classes { gtk_widget_add_css_class(self, name) }
        return self
    }

    public func expanding() -> Widget {
        gtk_widget_set_hexpand(self, 1)
        return self
    }

    public func aligned(_ alignment: GtkAlign) -> Widget {
        gtk_widget_set_halign(self, alignment)
        return self
    }

    /// Sets a label's text only if it differs, so that a screen reader doesn't repeat it.
    public func setText(_ text: String) {
        guard String(cString: gtk_label_get_text(opaque)) != text else { return }
        gtk_label_set_text(opaque, text)
    }

    public func setVisible(_ isVisible: Bool) { gtk_widget_set_visible(self, isVisible ? 1 : 0) }

    public func setSensitive(_ isSensitive: Bool) { gtk_widget_set_sensitive(self, isSensitive ? 1 : 0) }

    /// GTK's final types and interfaces (labels, editables, images) have no public struct.
    public var opaque: OpaquePointer { OpaquePointer(self) }

    public var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }

    /// The same object as another of its classes. GObject lays a subclass out with its superclass first.
    public func cast<Class>(to: Class.Type) -> UnsafeMutablePointer<Class> {
        UnsafeMutablePointer<Class>(OpaquePointer(self))
    }
}
