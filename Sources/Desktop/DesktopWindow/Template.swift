import CGtk4
import CWindowTemplates
import GtkSupport

/// A screen that a Blueprint file describes, as a class of widgets.
@MainActor
struct Template {
    private let type: GType
    private let parts: [String]

    /// To be called once for each name.
    ///
    /// - Parameters:
    ///   - name: of the Blueprint file, "overview-page".
    ///   - parent: the class in its first line.
    init(_ name: String, of parent: GType) {
        let className =
            "AppLocker" + name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        parts = Self.ids(in: cwindow_text(name))
        var children: [UnsafePointer<CChar>?] = parts.map { UnsafePointer(strdup($0)) }
        children.append(nil)
        type = GType(cwindow_register(name, className, UInt(parent), children))
        for child in children { free(UnsafeMutableRawPointer(mutating: child)) }
    }

    func make() -> Screen {
        let screen = Screen(type)
        for part in parts { screen[part].useTextAsName() }
        return screen
    }

    /// The values of the attributes `id`.
    private static func ids(in text: UnsafePointer<CChar>?) -> [String] {
        guard let text else { preconditionFailure("there is no such screen") }
        var (ids, isID) = ([String](), false)
        for piece in String(cString: text).split(separator: "\"", omittingEmptySubsequences: false) {
            if isID { ids.append(String(piece)) }
            isID = piece.hasSuffix(" id=")
        }
        return ids
    }
}

/// An instance of a screen, and its named parts.
@MainActor
struct Screen {
    let widget: Widget
    private let type: GType

    fileprivate init(_ type: GType) {
        self.type = type
        widget = Widget(OpaquePointer(g_object_new_with_properties(type, 0, nil, nil)))
    }

    /// The part of this name, which the Blueprint file must have.
    subscript(_ name: String) -> Widget {
        guard let part = gtk_widget_get_template_child(widget, type, name) else {
            preconditionFailure("the screen has no \(name)")
        }
        return Widget(OpaquePointer(part))
    }

    /// Shows one page of a stack. The others are hidden, not only covered: a screen reader would still read them.
    func show(_ page: String, in stack: String) {
        let stack = self[stack]
        guard let wanted = gtk_stack_get_child_by_name(stack.opaque, page) else {
            preconditionFailure("the stack has no \(page)")
        }
        wanted.setVisible(true)
        gtk_stack_set_visible_child(stack.opaque, wanted)
        var child = gtk_widget_get_first_child(stack)
        while let one = child {
            one.setVisible(one == wanted)
            child = gtk_widget_get_next_sibling(one)
        }
    }
}
