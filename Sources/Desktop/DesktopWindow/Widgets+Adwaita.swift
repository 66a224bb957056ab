import CAdwaita
import CGtk4
import DesktopSession
import GtkSupport

/// Short forms of libadwaita's calls.
@MainActor
extension UnsafeMutablePointer where Pointee == GtkWidget {
    /// Of an entry, a search field or an entry row.
    var text: String {
        get { String(cString: gtk_editable_get_text(opaque)) }
        nonmutating set {
            if text != newValue { gtk_editable_set_text(opaque, newValue) }
        }
    }

    /// Of a row of a list. Foreign text: it is no markup, and one line.
    func setRowTitle(_ title: String) {
        let row = cast(to: AdwPreferencesRow.self)
        adw_preferences_row_set_use_markup(row, 0)
        adw_preferences_row_set_title(row, ShownLine.plain(title))
    }

    func setGroupDescription(_ text: String) {
        adw_preferences_group_set_description(cast(to: AdwPreferencesGroup.self), escapedMarkup(text))
    }

    func setRowSubtitle(_ subtitle: String) {
        adw_preferences_row_set_use_markup(cast(to: AdwPreferencesRow.self), 0)
        adw_action_row_set_subtitle(cast(to: AdwActionRow.self), ShownLine.plain(subtitle))
    }

    /// Of a combo row. Replaces the choices only if they differ, because that closes an open list.
    func setChoices(_ titles: [String], selected: Int) {
        let row = cast(to: AdwComboRow.self)
        if shownChoices(adw_combo_row_get_model(row)) != titles {
            let list = Self.strings(titles)
            adw_combo_row_set_model(row, list)
            g_object_unref(UnsafeMutableRawPointer(list))
        }
        if adw_combo_row_get_selected(row) != guint(selected) { adw_combo_row_set_selected(row, guint(selected)) }
    }

    /// Of a drop-down.
    func setDropDownChoices(_ titles: [String], selected: Int) {
        if shownChoices(gtk_drop_down_get_model(opaque)) != titles {
            let list = Self.strings(titles)
            gtk_drop_down_set_model(opaque, list)
            g_object_unref(UnsafeMutableRawPointer(list))
        }
        if gtk_drop_down_get_selected(opaque) != guint(selected) { gtk_drop_down_set_selected(opaque, guint(selected)) }
    }

    /// Of a drop-down: its choice would make a narrow window wider, with large text.
    func ellipsizeChoice() {
        // GTK makes the label once the drop-down is in a window.
        Signals.connect(raw, "map") { [self] in
            for label in descendants(of: gtk_label_get_type()) {
                gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
            }
        }
    }

    var selectedChoice: Int { Int(adw_combo_row_get_selected(cast(to: AdwComboRow.self))) }
    var selectedDropDown: Int { Int(gtk_drop_down_get_selected(opaque)) }

    private func shownChoices(_ model: OpaquePointer?) -> [String]? {
        guard let model, g_type_check_instance_is_a(model.instance, gtk_string_list_get_type()) != 0 else { return nil }
        return (0..<g_list_model_get_n_items(model)).map { String(cString: gtk_string_list_get_string(model, $0)) }
    }

    private static func strings(_ titles: [String]) -> OpaquePointer {
        let list = gtk_string_list_new(nil)!
        for title in titles { gtk_string_list_append(list, ShownLine.plain(title)) }
        return list
    }

    func setButtonLabel(_ label: String) {
        gtk_button_set_label(cast(to: GtkButton.self), label)
        useTextAsName()
    }

    /// Of a button with a long text, which would make a narrow window wider with large text.
    func wrapButtonLabel() {
        for label in descendants(of: gtk_label_get_type()) {
            gtk_label_set_wrap(label.opaque, 1)
            gtk_label_set_justify(label.opaque, GTK_JUSTIFY_CENTER)
        }
    }

    /// Of a button with a mnemonic: GTK 4.8 makes its accessible name of the text with its underscore, and the text again.
    func useTextAsName() {
        guard isKind(of: gtk_button_get_type()), gtk_button_get_label(cast(to: GtkButton.self)) != nil,
            gtk_button_get_use_underline(cast(to: GtkButton.self)) != 0
        else { return }
        gtk_accessible_reset_property(opaque, GTK_ACCESSIBLE_PROPERTY_LABEL)
    }

    /// Of all buttons in it.
    func useTextsAsNames() {
        useTextAsName()
        var child = gtk_widget_get_first_child(self)
        while let one = child {
            one.useTextsAsNames()
            child = gtk_widget_get_next_sibling(one)
        }
    }

    /// The outermost widgets of a class within it.
    func descendants(of type: GType) -> [Widget] {
        var found: [Widget] = []
        var child = gtk_widget_get_first_child(self)
        while let one = child {
            found += one.isKind(of: type) ? [one] : one.descendants(of: type)
            child = gtk_widget_get_next_sibling(one)
        }
        return found
    }

    func isKind(of type: GType) -> Bool { g_type_check_instance_is_a(opaque.instance, type) != 0 }

    func addStyle(_ name: String, if isOn: Bool = true) {
        if isOn { gtk_widget_add_css_class(self, name) } else { gtk_widget_remove_css_class(self, name) }
    }

    /// Of a menu button: the button within has the focus, so it has the name.
    func setMenuButtonName(_ name: String) {
        guard let button = gtk_widget_get_first_child(self) else { return }
        gtk_accessible_reset_relation(button.opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        button.setAccessibleLabel(name)
    }

    func setAccessibleLabel(_ text: String) { cgtk_set_accessible_label(self, text) }

    var window: UnsafeMutablePointer<GtkWindow> { cast(to: GtkWindow.self) }
}

extension OpaquePointer {
    fileprivate var instance: UnsafeMutablePointer<GTypeInstance> { UnsafeMutablePointer(self) }
}

/// Text for widgets that expect Pango's markup.
func escapedMarkup(_ text: String) -> String {
    var escaped = ""
    for character in text {
        switch character {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        default: escaped.append(character)
        }
    }
    return escaped
}
