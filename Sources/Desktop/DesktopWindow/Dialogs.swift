import CAdwaita
import CGtk4
import GtkSupport

/// Dialogs of one question.
@MainActor
enum Dialogs {
    /// Asks whether to do something that can't be undone.
    ///
    /// - Parameter verb: the button that does it; the other one is Cancel.
    static func confirm(
        _ title: String, _ explanation: String, verb: String, parent: Widget,
        _ confirmed: @escaping @MainActor () -> Void
    ) {
        let dialog = adw_message_dialog_new(parent.window, title, explanation)!
        let message = UnsafeMutablePointer<AdwMessageDialog>(OpaquePointer(dialog))
        adw_message_dialog_add_response(message, "cancel", "_Cancel")
        adw_message_dialog_add_response(message, "do", verb)
        adw_message_dialog_set_response_appearance(message, "do", ADW_RESPONSE_DESTRUCTIVE)
        adw_message_dialog_set_close_response(message, "cancel")
        Signals.connectText(dialog.raw, "response") { if $0 == "do" { confirmed() } }
        gtk_window_present(dialog.window)
    }

    /// Asks for a line of text.
    static func askText(
        _ title: String, _ label: String, text: String, verb: String, parent: Widget,
        _ done: @escaping @MainActor (String) -> Void
    ) {
        let dialog = adw_message_dialog_new(parent.window, title, nil)!
        let message = UnsafeMutablePointer<AdwMessageDialog>(OpaquePointer(dialog))
        let entry = gtk_entry_new()!
        entry.text = text
        entry.setAccessibleLabel(label)
        gtk_entry_set_activates_default(entry.cast(to: GtkEntry.self), 1)
        adw_message_dialog_set_extra_child(message, entry)
        adw_message_dialog_add_response(message, "cancel", "_Cancel")
        adw_message_dialog_add_response(message, "do", verb)
        adw_message_dialog_set_response_appearance(message, "do", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(message, "do")
        adw_message_dialog_set_close_response(message, "cancel")
        Signals.connectText(dialog.raw, "response") { if $0 == "do" { done(entry.text) } }
        gtk_window_present(dialog.window)
    }

    /// Asks where to save a file.
    static func save(
        _ title: String, name: String, parent: Widget, _ chosen: @escaping @MainActor (_ path: String) -> Void
    ) {
        let dialog = gtk_file_chooser_native_new(
            title, parent.window, GTK_FILE_CHOOSER_ACTION_SAVE, "_Save", "_Cancel")!
        let native = UnsafeMutablePointer<GtkNativeDialog>(dialog)
        gtk_file_chooser_set_current_name(dialog, name)
        Signals.connectResponse(UnsafeMutableRawPointer(dialog)) { response in
            if response == GTK_RESPONSE_ACCEPT.rawValue, let file = gtk_file_chooser_get_file(dialog) {
                if let path = g_file_get_path(file) {
                    chosen(String(cString: path))
                    g_free(path)
                }
                g_object_unref(UnsafeMutableRawPointer(file))
            }
            // No other object owns it.
            g_object_unref(UnsafeMutableRawPointer(dialog))
        }
        gtk_native_dialog_show(native)
    }
}
