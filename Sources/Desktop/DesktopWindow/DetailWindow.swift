import CGtk4
import GtkSupport

/// A window of its own, above the main one, with the details of what was chosen there.
@MainActor
protocol DetailWindow: AnyObject {
    /// An `AdwPreferencesWindow`.
    var widget: Widget { get }
}

extension DetailWindow {
    func close() { gtk_window_close(widget.window) }

    /// - Parameter body: the window was closed.
    func onClose(_ body: @escaping @MainActor () -> Void) { Signals.connect(widget.raw, "destroy", body) }
}
