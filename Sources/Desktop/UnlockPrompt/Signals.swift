import CGtk4

/// Swift closures as GObject signal handlers. GObject owns the closure and releases it with the object.
@MainActor
enum Signals {
    private final class Handler<Argument> {
        let body: @MainActor (Argument) -> Bool
        init(_ body: @escaping @MainActor (Argument) -> Bool) { self.body = body }
    }

    /// A signal without arguments and without a result: "clicked", "activate", "map", "changed".
    static func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void) {
        let thunk: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            _ = Signals.call(data, ())
        }
        add(object, signal, unsafeBitCast(thunk, to: GCallback.self)) {
            body()
            return true
        }
    }

    /// The Escape key, and the window's "close-request", which has no other effect.
    static func connectClose(_ window: Widget, _ body: @escaping @MainActor () -> Void) {
        let keys = gtk_event_controller_key_new()!
        connectKey(keys) { key in
            guard key == guint(GDK_KEY_Escape) else { return false }
            body()
            return true
        }
        gtk_widget_add_controller(window, keys)
        let thunk: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, data in
            Signals.call(data, ()) ? 1 : 0
        }
        add(window.raw, "close-request", unsafeBitCast(thunk, to: GCallback.self)) {
            body()
            return true
        }
    }

    /// A signal with one argument that isn't needed: "notify::NAME", "changed::KEY" of GSettings.
    static func connectChange(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void
    ) {
        let thunk: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
            _ = Signals.call(data, ())
        }
        add(object, signal, unsafeBitCast(thunk, to: GCallback.self)) {
            body()
            return true
        }
    }

    /// "key-pressed" of a key controller; the closure gets the key's value and returns whether it handled it.
    private static func connectKey(_ controller: OpaquePointer, _ body: @escaping @MainActor (guint) -> Bool) {
        let thunk: @convention(c) (gpointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean = {
            _, key, _, _, data in
            Signals.call(data, key) ? 1 : 0
        }
        add(UnsafeMutableRawPointer(controller), "key-pressed", unsafeBitCast(thunk, to: GCallback.self), body)
    }

    private static func add<Argument>(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ thunk: @escaping GCallback,
        _ body: @escaping @MainActor (Argument) -> Bool
    ) {
        let handler = Unmanaged.passRetained(Handler(body)).toOpaque()
        g_signal_connect_data(
            object, signal, thunk, handler,
            { data, _ in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
    }

    private nonisolated static func call<Argument: Sendable>(_ data: gpointer?, _ argument: Argument) -> Bool {
        guard let data else { return false }
        let address = UInt(bitPattern: data)
        // GTK calls handlers on the thread that runs its loop, which is the main actor's.
        return MainActor.assumeIsolated {
            guard let pointer = UnsafeRawPointer(bitPattern: address) else { return false }
            return Unmanaged<Handler<Argument>>.fromOpaque(pointer).takeUnretainedValue().body(argument)
        }
    }
}
