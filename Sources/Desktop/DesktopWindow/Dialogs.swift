import CAdwaita
import CGtk4
import GtkSupport
import Localization

/// Dialogs of one question.
@MainActor
enum Dialogs {
    /// A button of a question, beside Cancel.
    struct Choice {
        enum Style { case plain, suggested, destructive }

        var name: String
        var verb: String
        var style = Style.plain
    }

    /// - Parameters:
    ///   - cancel: the button that chooses nothing.
    ///   - chosen: called with the name of the choice, unless it was Cancel.
    static func choose(
        _ title: String, _ explanation: String, choices: [Choice], cancel: String = localized("_Cancel"),
        parent: Widget, cancelled: @escaping @MainActor () -> Void = {},
        chosen: @escaping @MainActor (_ name: String) -> Void
    ) {
        let dialog = adw_message_dialog_new(parent.window, title, explanation)!
        let message = UnsafeMutablePointer<AdwMessageDialog>(OpaquePointer(dialog))
        adw_message_dialog_add_response(message, "cancel", cancel)
        for choice in choices {
            adw_message_dialog_add_response(message, choice.name, choice.verb)
            switch choice.style {
            case .plain: break
            case .suggested:
                adw_message_dialog_set_response_appearance(message, choice.name, ADW_RESPONSE_SUGGESTED)
                adw_message_dialog_set_default_response(message, choice.name)
            case .destructive:
                adw_message_dialog_set_response_appearance(message, choice.name, ADW_RESPONSE_DESTRUCTIVE)
            }
        }
        adw_message_dialog_set_close_response(message, "cancel")
        Signals.connectText(dialog.raw, "response") { if $0 == "cancel" { cancelled() } else { chosen($0) } }
        dialog.useTextsAsNames()
        gtk_window_present(dialog.window)
    }

    /// Asks whether to do something that can't be undone.
    ///
    /// - Parameter verb: the button that does it; the other one is Cancel.
    static func confirm(
        _ title: String, _ explanation: String, verb: String, parent: Widget,
        _ confirmed: @escaping @MainActor () -> Void
    ) {
        let choice = Choice(name: "do", verb: verb, style: .destructive)
        choose(title, explanation, choices: [choice], parent: parent) { _ in confirmed() }
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
        adw_message_dialog_add_response(message, "cancel", localized("_Cancel"))
        adw_message_dialog_add_response(message, "do", verb)
        adw_message_dialog_set_response_appearance(message, "do", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(message, "do")
        adw_message_dialog_set_close_response(message, "cancel")
        Signals.connectText(dialog.raw, "response") { if $0 == "do" { done(entry.text) } }
        dialog.useTextsAsNames()
        gtk_window_present(dialog.window)
    }

    /// Asks where to save a file.
    static func save(
        _ title: String, name: String, parent: Widget, _ chosen: @escaping @MainActor (_ path: String) -> Void
    ) {
        let dialog = gtk_file_chooser_native_new(
            title, parent.window, GTK_FILE_CHOOSER_ACTION_SAVE, localized("_Save"), localized("_Cancel"))!
        gtk_file_chooser_set_current_name(dialog, name)
        show(dialog) { $0.first.map(chosen) }
    }

    static func chooseFolder(
        _ title: String, verb: String = localized("_Save Here"), parent: Widget,
        _ chosen: @escaping @MainActor (_ path: String) -> Void
    ) {
        let dialog = gtk_file_chooser_native_new(
            title, parent.window, GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, verb, localized("_Cancel"))!
        show(dialog) { $0.first.map(chosen) }
    }

    static func chooseFiles(
        _ title: String, verb: String, several: Bool = true, parent: Widget,
        _ chosen: @escaping @MainActor (_ paths: [String]) -> Void
    ) {
        let dialog = gtk_file_chooser_native_new(
            title, parent.window, GTK_FILE_CHOOSER_ACTION_OPEN, verb, localized("_Cancel"))!
        gtk_file_chooser_set_select_multiple(dialog, several ? 1 : 0)
        // Otherwise GTK begins with the recent files, where a path that is typed can't be accepted.
        let home = g_file_new_for_path(g_get_home_dir())
        gtk_file_chooser_set_current_folder(dialog, home, nil)
        g_object_unref(UnsafeMutableRawPointer(home))
        show(dialog, chosen)
    }

    /// - Parameter chosen: called with at least one path, unless the user cancels.
    private static func show(_ dialog: OpaquePointer, _ chosen: @escaping @MainActor (_ paths: [String]) -> Void) {
        Signals.connectResponse(UnsafeMutableRawPointer(dialog)) { response in
            if response == GTK_RESPONSE_ACCEPT.rawValue, let files = gtk_file_chooser_get_files(dialog) {
                var paths: [String] = []
                for position in 0..<g_list_model_get_n_items(files) {
                    guard let file = g_list_model_get_item(files, position) else { continue }
                    if let path = g_file_get_path(OpaquePointer(file)) {
                        paths.append(String(cString: path))
                        g_free(path)
                    }
                    g_object_unref(file)
                }
                g_object_unref(UnsafeMutableRawPointer(files))
                if !paths.isEmpty { chosen(paths) }
            }
            // No other object owns it.
            g_object_unref(UnsafeMutableRawPointer(dialog))
        }
        gtk_native_dialog_show(UnsafeMutablePointer<GtkNativeDialog>(dialog))
    }
}
