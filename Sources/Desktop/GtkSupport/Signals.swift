public import CGtk4

/// Swift closures as GObject signal handlers. GObject owns the closure and releases it with the object.
@MainActor
public enum Signals {
    private final class Handler<Argument> {
        let body: @MainActor (Argument) -> Bool
        init(_ body: @escaping @MainActor (Argument) -> Bool) { self.body = body }
    }

    /// A signal without arguments and without a result: "clicked", "activate", "map", "changed".
    public static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void
    ) {
        let thunk: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            _ = Signals.call(data, ())
        }
        add(object, signal, unsafeBitCast(thunk, to: GCallback.self)) {
            body()
            return true
        }
    }

    /// The Escape key, and the window's "close-request", which has no other effect.
    public static func connectClose(_ window: Widget, _ body: @escaping @MainActor () -> Void) {
        let keys = gtk_event_controller_key_new()!
        connectKey(keys) { key in
            guard key == guint(GDK_KEY_Escape) else { return false }
            body()
            return true
        }
        gtk_widget_add_controller(window, keys)
        connectCloseRequest(window) {
            body()
            return true
        }
    }

    /// Each key that is pressed in the window, before any part of it handles it.
    public static func connectKeys(_ window: Widget, _ body: @escaping @MainActor () -> Void) {
        let keys = gtk_event_controller_key_new()!
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        connectKey(keys) { _ in
            body()
            return false
        }
        gtk_widget_add_controller(window, keys)
    }

    /// The window's "close-request"; the closure returns whether the window stays.
    public static func connectCloseRequest(_ window: Widget, _ body: @escaping @MainActor () -> Bool) {
        let thunk: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, data in
            Signals.call(data, ()) ? 1 : 0
        }
        add(window.raw, "close-request", unsafeBitCast(thunk, to: GCallback.self), body)
    }

    /// A signal with one argument that isn't needed: "notify::NAME", "changed::KEY" of GSettings, "activate" of an action.
    public static func connectChange(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void
    ) {
        connectPointer(object, signal) { _ in body() }
    }

    /// A signal with one object as its argument: "row-activated", "row-selected".
    public static func connectWidget(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor (Widget?) -> Void
    ) {
        connectPointer(object, signal) { body($0?.assumingMemoryBound(to: GtkWidget.self)) }
    }

    /// "bind", "unbind" and "teardown" of GtkSignalListItemFactory, with the list item.
    public static func connectItem(
        _ factory: OpaquePointer, _ signal: String, _ body: @escaping @MainActor (OpaquePointer) -> Void
    ) {
        connectPointer(UnsafeMutableRawPointer(factory), signal) { item in
            if let item { body(OpaquePointer(item)) }
        }
    }

    /// A signal with one string as its argument: "response" of AdwMessageDialog.
    public static func connectText(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor (String) -> Void
    ) {
        connectPointer(object, signal) { text in
            body(text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? "")
        }
    }

    /// "activate" of an action whose parameter is a number.
    public static func connectNumber(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor (Int32) -> Void
    ) {
        connectPointer(object, signal) { parameter in
            guard let parameter else { return }
            body(g_variant_get_int32(OpaquePointer(parameter)))
        }
    }

    /// "response" of GtkNativeDialog, with its number.
    public static func connectResponse(
        _ object: UnsafeMutableRawPointer, _ body: @escaping @MainActor (Int32) -> Void
    ) {
        let thunk: @convention(c) (gpointer?, gint, gpointer?) -> Void = { _, response, data in
            _ = Signals.call(data, response)
        }
        add(object, "response", unsafeBitCast(thunk, to: GCallback.self)) { (response: Int32) in
            body(response)
            return true
        }
    }

    /// "draw-page" of GtkPrintOperation, with the print context.
    public static func connectPage(
        _ object: UnsafeMutableRawPointer, _ body: @escaping @MainActor (OpaquePointer) -> Void
    ) {
        let thunk: @convention(c) (gpointer?, gpointer?, gint, gpointer?) -> Void = { _, context, _, data in
            _ = Signals.call(data, UInt(bitPattern: context))
        }
        add(object, "draw-page", unsafeBitCast(thunk, to: GCallback.self)) { (address: UInt) in
            if let context = OpaquePointer(bitPattern: address) { body(context) }
            return true
        }
    }

    /// "drop" of GtkDropTarget; the closure gets what was dropped and returns whether it accepts it.
    public static func connectDrop(
        _ target: OpaquePointer, _ body: @escaping @MainActor (UnsafePointer<GValue>?) -> Bool
    ) {
        let thunk: @convention(c) (gpointer?, UnsafePointer<GValue>?, Double, Double, gpointer?) -> gboolean = {
            _, value, _, _, data in
            Signals.call(data, UInt(bitPattern: value)) ? 1 : 0
        }
        add(UnsafeMutableRawPointer(target), "drop", unsafeBitCast(thunk, to: GCallback.self)) { (address: UInt) in
            body(UnsafePointer(bitPattern: address))
        }
    }

    /// "open" of GApplication, with the paths of the files; those that have none on this computer are left out.
    public static func connectOpen(
        _ application: UnsafeMutableRawPointer, _ body: @escaping @MainActor (_ paths: [String]) -> Void
    ) {
        let thunk: @convention(c) (gpointer?, gpointer?, gint, gpointer?, gpointer?) -> Void = {
            _, files, count, _, data in
            _ = Signals.call(data, FileArray(address: UInt(bitPattern: files), count: Int(count)))
        }
        add(application, "open", unsafeBitCast(thunk, to: GCallback.self)) { (files: FileArray) in
            body(files.paths)
            return true
        }
    }

    /// An array of GFile pointers.
    private struct FileArray {
        var address: UInt
        var count: Int

        var paths: [String] {
            guard let files = UnsafePointer<OpaquePointer>(bitPattern: address) else { return [] }
            return (0..<count).compactMap { index in
                guard let path = g_file_get_path(files[index]) else { return nil }
                defer { g_free(path) }
                return String(validatingCString: path)
            }
        }
    }

    private static func connectPointer(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor (gpointer?) -> Void
    ) {
        let thunk: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, argument, data in
            _ = Signals.call(data, UInt(bitPattern: argument))
        }
        add(object, signal, unsafeBitCast(thunk, to: GCallback.self)) { (address: UInt) in
            body(gpointer(bitPattern: address))
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
