import CGtk4

/// Runs Swift's main actor within GLib's main loop: its jobs run between GTK's events.
@MainActor
public enum MainActorWatch {
    /// To be called once, on the main thread, before GLib's loop runs.
    public static func begin() {
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
