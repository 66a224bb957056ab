import CGtk4
import GtkSupport

@MainActor
extension UnsafeMutablePointer where Pointee == GtkWidget {
    /// Accepts files that are dropped here, as paths.
    func acceptFiles(_ dropped: @escaping @MainActor (_ paths: [String]) -> Void) {
        let target = gtk_drop_target_new(gdk_file_list_get_type(), GDK_ACTION_COPY)!
        Signals.connectDrop(target) { value in
            guard let value, let list = g_value_get_boxed(value) else { return false }
            var paths: [String] = []
            var files = gdk_file_list_get_files(OpaquePointer(list))
            while let file = files {
                if let path = g_file_get_path(OpaquePointer(file.pointee.data)) {
                    paths.append(String(cString: path))
                    g_free(path)
                }
                files = file.pointee.next
            }
            guard !paths.isEmpty else { return false }
            dropped(paths)
            return true
        }
        gtk_widget_add_controller(self, target)
    }
}
