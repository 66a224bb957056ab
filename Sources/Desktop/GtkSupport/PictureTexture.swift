import CGtk4

/// A decoded picture as GTK draws it.
@MainActor
public enum PictureTexture {
    /// - Parameter rgb: three bytes a pixel, by rows from the top.
    /// - Returns: a GdkTexture, which the caller unrefs.
    public static func make(width: Int, height: Int, rgb: [UInt8]) -> OpaquePointer {
        let bytes = g_bytes_new(rgb, gsize(rgb.count))!
        defer { g_bytes_unref(bytes) }
        return gdk_memory_texture_new(Int32(width), Int32(height), GDK_MEMORY_R8G8B8, bytes, gsize(width * 3))!
    }
}
