import CAdwaita
import CGtk4
import CWindowTemplates
import GtkSupport
import HubAPI
import Localization

/// Windows that only inform.
@MainActor
enum Informing {
    static func showShortcuts(parent: Widget) {
        let builder = gtk_builder_new_from_string(cwindow_text("shortcuts"), -1)
        defer { g_object_unref(UnsafeMutableRawPointer(builder)) }
        guard let object = gtk_builder_get_object(builder, "shortcuts") else { return }
        let window = Widget(OpaquePointer(object)).window
        gtk_window_set_transient_for(window, parent.window)
        gtk_window_present(window)
    }

    static func showAbout(parent: Widget) {
        let about = adw_about_window_new()!
        let window = about.opaque
        adw_about_window_set_application_name(window, "AppLocker")
        adw_about_window_set_application_icon(window, "applocker")
        adw_about_window_set_version(window, Release.version)
        adw_about_window_set_developer_name(window, localized("The AppLocker developers"))
        adw_about_window_set_license_type(window, GTK_LICENSE_APACHE_2_0)
        gtk_window_set_transient_for(about.window, parent.window)
        gtk_window_present(about.window)
    }
}
