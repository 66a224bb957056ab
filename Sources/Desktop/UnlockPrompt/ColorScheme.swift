import CGtk4
import Glibc
import GtkSupport

/// Loads the style sheet and follows the desktop's colour scheme: dark, light or high contrast.
///
/// GTK's own settings follow the desktop's theme. GNOME's "dark style" is a separate setting, which GTK ignores, so it
/// is read here.
@MainActor
final class ColorScheme {
    private let sheet: (PromptStyle.Palette) -> String
    private let provider = gtk_css_provider_new()!
    private let desktop = cgtk_interface_settings()
    private var loaded: PromptStyle.Palette?
    /// The value of GTK's own settings, without what was set from here.
    private var prefersDark = cgtk_prefers_dark() != 0
    private var isSettingPreference = false

    init(sheet: @escaping (PromptStyle.Palette) -> String = PromptStyle.sheet) {
        self.sheet = sheet
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        update()
        let settings = UnsafeMutableRawPointer(gtk_settings_get_default())!
        Signals.connectChange(settings, "notify::gtk-theme-name") { [unowned self] in update() }
        Signals.connectChange(settings, "notify::gtk-application-prefer-dark-theme") { [unowned self] in
            guard !isSettingPreference else { return }
            prefersDark = cgtk_prefers_dark() != 0
            update()
        }
        if let desktop {
            Signals.connectChange(UnsafeMutableRawPointer(desktop), "changed::color-scheme") { [unowned self] in
                update()
            }
        }
    }

    private func update() {
        let named = getenv("GTK_THEME").map { String(cString: $0) } ?? take(cgtk_theme_name()) ?? ""
        let theme = named.lowercased()
        let scheme = take(cgtk_setting(desktop, "color-scheme")) ?? "default"
        let isDark = scheme == "prefer-dark" || prefersDark || theme.hasSuffix("-dark") || theme.hasSuffix(":dark")
        let isHighContrast = theme.contains("highcontrast") || theme.hasPrefix("hc") || theme.contains("-hc")
        let palette: PromptStyle.Palette = isHighContrast ? .theme : isDark ? .dark : .light
        guard palette != loaded else { return }
        loaded = palette
        // The parts that the style sheet doesn't cover (menus, selections) must be dark as well.
        isSettingPreference = true
        cgtk_prefer_dark(isDark ? 1 : 0)
        isSettingPreference = false
        gtk_css_provider_load_from_data(provider, sheet(palette), -1)
    }

    /// Copies a string that GLib allocated, and frees it.
    private func take(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        guard let text else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }
}
