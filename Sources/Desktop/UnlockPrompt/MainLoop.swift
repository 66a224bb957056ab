import CGtk4
import DesktopSession

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
        watchMainActor()
        let loop = g_main_loop_new(nil, 0)
        g_main_loop_run(loop)
        fatalError("the main loop ended unexpectedly")
    }

    private static func watchMainActor() {
        let descriptor = _dispatch_get_main_queue_handle_4CF()
        let drain: GUnixFDSourceFunc = { descriptor, _, _ in
            // An eventfd: reading its 8-byte counter resets it.
            var counter: UInt64 = 0
            _ = read(descriptor, &counter, MemoryLayout<UInt64>.size)
            _dispatch_main_queue_callback_4CF(nil)
            return 1
        }
        g_unix_fd_add(descriptor, G_IO_IN, drain, nil)
        // Runs the jobs that were enqueued before the watch began.
        _dispatch_main_queue_callback_4CF(nil)
    }
}
