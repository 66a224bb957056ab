import CGtk4
import DesktopSession
import GtkSupport

/// The app's icon with AppLocker's padlock in its corner. An app without an icon gets a tile with its first letter, and so
/// does one whose icon is still being opened.
@MainActor
struct AppIcon {
    static let size: Int32 = 72
    static let badgeSize: Int32 = 28

    let widget: Widget
    private let image = gtk_image_new()!
    private let letter = Widget.label("letter")
    private let picture: AppImage

    init() {
        picture = AppImage(image, size: Self.size, programs: SessionPrograms.ownDirectory) { [image, letter] hasIcon in
            image.setVisible(hasIcon)
            letter.setVisible(!hasIcon)
        }
        gtk_widget_set_size_request(letter, Self.size, Self.size)
        let badge = gtk_drawing_area_new()!.styled("badge").aligned(GTK_ALIGN_END)
        gtk_widget_set_valign(badge, GTK_ALIGN_END)
        gtk_widget_set_size_request(badge, Self.badgeSize, Self.badgeSize)
        gtk_drawing_area_set_draw_func(badge.cast(to: GtkDrawingArea.self), drawPadlock, nil, nil)
        let both = Widget.box(GTK_ORIENTATION_HORIZONTAL, [image, letter]).styled("picture")
        widget = gtk_overlay_new()!.styled("icon").aligned(GTK_ALIGN_CENTER)
        gtk_overlay_set_child(widget.opaque, both)
        gtk_overlay_add_overlay(widget.opaque, badge)
    }

    /// - Parameter icon: a name in the icon theme, or the absolute path of a picture.
    func show(_ icon: String?, name: String) {
        cgtk_set_accessible_label(image, name)
        letter.setText(name.first.map { String($0).uppercased() } ?? "?")
        picture.show(icon)
    }
}

/// A closed padlock in the middle of the area, in the widget's colour. Drawn, so that it depends on no icon theme.
private func drawPadlock(
    _ area: UnsafeMutablePointer<GtkDrawingArea>?, _ cairo: OpaquePointer?, _ width: Int32, _ height: Int32,
    _ data: gpointer?
) {
    guard let area, let cairo else { return }
    var color = GdkRGBA()
    gtk_style_context_get_color(
        gtk_widget_get_style_context(UnsafeMutablePointer<GtkWidget>(OpaquePointer(area))), &color)
    gdk_cairo_set_source_rgba(cairo, &color)
    let unit = Double(min(width, height)) / 28
    cairo_translate(cairo, Double(width) / 2, Double(height) / 2)
    cairo_scale(cairo, unit, unit)
    cairo_rectangle(cairo, -5.5, -1.5, 11, 8)
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
    cairo_set_line_width(cairo, 2)
    cairo_fill_preserve(cairo)
    cairo_stroke(cairo)
    cairo_move_to(cairo, -3.8, -2)
    cairo_line_to(cairo, -3.8, -4.5)
    cairo_arc(cairo, 0, -4.5, 3.8, Double.pi, 0)
    cairo_line_to(cairo, 3.8, -2)
    cairo_set_line_width(cairo, 2.2)
    cairo_stroke(cairo)
}
