import CGtk4
import Pictures

/// Shows an app's icon in an image: a name in the icon theme, which GTK looks up, or the absolute path of a picture.
@MainActor
public final class AppImage {
    private let image: Widget
    private let size: Int32
    private let maker: PictureMaker
    private let onChange: (_ hasIcon: Bool) -> Void
    private var opening: Task<Void, Never>?

    /// - Parameters:
    ///   - size: in pixels.
    ///   - programs: the directory of AppLocker's programs.
    ///   - onChange: called by `show`, and again when the picture of a file can be shown.
    public init(_ image: Widget, size: Int32, programs: String, onChange: @escaping (_ hasIcon: Bool) -> Void) {
        self.image = image
        self.size = size
        self.onChange = onChange
        maker = PictureMaker(executable: programs + "/applocker-picture", limit: .seconds(10))
        gtk_image_set_pixel_size(image.opaque, size)
    }

    public func show(_ icon: String?) {
        opening?.cancel()
        guard let icon else { return onChange(false) }
        guard icon.hasPrefix("/") else {
            let theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(image))
            let hasIcon = gtk_icon_theme_has_icon(theme, icon) != 0
            if hasIcon { gtk_image_set_from_icon_name(image.opaque, icon) }
            return onChange(hasIcon)
        }
        onChange(false)
        // Twice as many pixels, for dense screens.
        opening = Task { [weak self, side = Int(size) * 2, maker] in
            guard let pixels = await IconFiles.pixels(icon, side: side, maker), !Task.isCancelled else { return }
            self?.show(pixels)
        }
    }

    private func show(_ pixels: IconFiles.Pixels) {
        let texture = PictureTexture.make(width: pixels.width, height: pixels.height, rgb: pixels.rgb)
        gtk_image_set_from_paintable(image.opaque, texture)
        g_object_unref(UnsafeMutableRawPointer(texture))
        onChange(true)
    }
}
