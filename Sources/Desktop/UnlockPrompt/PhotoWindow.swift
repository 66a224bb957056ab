import CGtk4
import Glibc
import GtkSupport
import Localization

/// A photo, as large as the window allows, with a caption. Escape closes it and ends the process.
@MainActor
final class PhotoWindow {
    private static let largest = (width: 1024, height: 720)

    private let colors: ColorScheme
    private let window: Widget
    private let capture: Widget
    /// The picture and its caption.
    private let content: [Widget]
    private let hidesOnCapture: Bool

    /// Shows the window at once. GTK must have been initialised.
    ///
    /// - Parameter hidesOnCapture: show the picture only after `showCaptureNotice(nil)`, that is, while nothing records
    ///   the screen.
    /// - Throws: `PhotoFailure.damaged` if the picture can't be decoded.
    init(_ photo: PhotoFile, caption: String, hidesOnCapture: Bool) throws(PhotoFailure) {
        let bytes = g_bytes_new(photo.bytes, gsize(photo.bytes.count))
        let texture = gdk_texture_new_from_bytes(bytes, nil)
        g_bytes_unref(bytes)
        guard let texture else { throw .damaged }
        let picture = gtk_picture_new_for_paintable(texture)!
        g_object_unref(UnsafeMutableRawPointer(texture))

        colors = ColorScheme(sheet: PhotoStyle.sheet)
        window = gtk_window_new()!.styled("photo-viewer")
        gtk_picture_set_alternative_text(picture.opaque, caption.isEmpty ? localized("Intruder photo") : caption)
        gtk_widget_set_vexpand(picture, 1)
        let label = Widget.label("caption")
        label.setText(caption)
        label.setVisible(!caption.isEmpty)
        gtk_label_set_wrap(label.opaque, 1)
        gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_justify(label.opaque, GTK_JUSTIFY_CENTER)
        gtk_label_set_selectable(label.opaque, 0)
        capture = Widget.label("capture", role: GTK_ACCESSIBLE_ROLE_ALERT)
        gtk_label_set_wrap(capture.opaque, 1)
        capture.setVisible(false)
        content = caption.isEmpty ? [picture] : [picture, label]
        self.hidesOnCapture = hidesOnCapture
        if hidesOnCapture { for widget in content { widget.setVisible(false) } }
        let whole = Widget.box(GTK_ORIENTATION_VERTICAL, [capture, picture.expanding().styled("photo"), label])
        let window = window.cast(to: GtkWindow.self)
        gtk_window_set_title(window, localized("Intruder photo"))
        gtk_window_set_icon_name(window, "applocker")
        gtk_window_set_child(window, whole)
        let size = Self.size(of: photo)
        gtk_window_set_default_size(window, Int32(size.width), Int32(size.height))
        // Needs no cleanup: the kernel clears the memory.
        Signals.connectClose(self.window) { exit(0) }
        gtk_window_present(window)
    }

    /// The picture's own size with room for the caption, or what a small screen has room for.
    static func size(of photo: PhotoFile) -> (width: Int, height: Int) {
        let scale = min(
            1, Double(largest.width) / Double(photo.width), Double(largest.height) / Double(photo.height))
        return (max(360, Int(Double(photo.width) * scale)), max(240, Int(Double(photo.height) * scale)) + 56)
    }

    /// Shows that the screen is being recorded, or that it is not (nil).
    func showCaptureNotice(_ sentence: String?) {
        let hides = hidesOnCapture && sentence != nil
        let effect = hides ? localized("The photo is hidden while the screen is recorded.") : nil
        capture.setText([sentence, effect].compactMap { $0 }.joined(separator: " "))
        capture.setVisible(sentence != nil)
        for widget in content { widget.setVisible(!hides) }
    }
}

enum PhotoStyle {
    static func sheet(_ palette: PromptStyle.Palette) -> String { PromptStyle.colors(palette) + rules }

    private static let rules = """
        window.photo-viewer { background: @prompt_background; color: @prompt_text; }
        .photo-viewer .photo { margin: 12px 12px 0 12px; }
        .photo-viewer .capture { margin: 12px 16px 0 16px; font-weight: bold; color: @prompt_trouble; }
        .photo-viewer .caption { margin: 12px 16px 14px 16px; color: @prompt_text; }
        """
}
