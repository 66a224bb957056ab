import CGtk4
import DesktopSession
import GtkSupport

/// GLib's main loop, which also runs Swift's main actor: its jobs run between GTK's events.
@MainActor
enum MainLoop {
    /// Initialises GTK.
    /// - Parameter advice: the sentence about what works without a desktop.
    /// - Returns: nil without a desktop session, after one sentence on standard error.
    static func openDisplay(otherwise advice: String) -> OpaquePointer? {
        if gtk_init_check() != 0, let display = gdk_display_get_default() { return display }
        StandardError.write(
            "applocker-prompt: there is no desktop session (neither WAYLAND_DISPLAY nor DISPLAY can be reached). "
                + "\(advice)\n")
        return nil
    }

    /// Runs until the process ends. GTK must have been initialised on this thread.
    static func run() -> Never {
        MainActorWatch.begin()
        let loop = g_main_loop_new(nil, 0)
        g_main_loop_run(loop)
        fatalError("the main loop ended unexpectedly")
    }
}
