import CGtk4
import DesktopSession
import Foundation
import GtkSupport
import Localization
import QRCode

/// `applocker-prompt --link-fd`: shows a link as a QR code in a window of its own, for a phone's camera. The window
/// closes and the process ends with Escape, or after the five minutes for which such a link is valid.
@MainActor
enum LinkWindow {
    /// The longest link, in bytes.
    private static let maximumLink = 2_048
    private static let seconds: guint = 300
    /// Points of a module's side; a code of 57 modules is as wide as a hand on most screens.
    private static let scale = 8

    /// Returns only if nothing can be shown, after one sentence on standard error.
    static func run(link descriptor: Int32) -> Int32 {
        g_set_prgname("applocker-pair")
        do {
            let link = try DescriptorContent.read(descriptor, limit: maximumLink)
            let code = try QRCode(String(decoding: link, as: UTF8.self))
            let advice = "`applocker pair` shows the code in the terminal."
            guard MainLoop.openDisplay(otherwise: advice) != nil else { return 1 }
            let colors = ColorScheme(sheet: sheet)
            show(code)
            g_timeout_add_seconds(seconds, { _ in exit(0) }, nil)
            return withExtendedLifetime(colors) { MainLoop.run() }
        } catch PhotoFailure.tooLarge {
            StandardError.write("applocker-prompt: the link is longer than \(maximumLink) bytes.\n")
        } catch {
            StandardError.write("applocker-prompt: \(error)\n")
        }
        return 1
    }

    private static func show(_ code: QRCode) {
        let window = gtk_window_new()!.styled("link-window")
        let texture = QRTexture.make(code, scale: scale)
        let picture = gtk_picture_new_for_paintable(texture)!.expanding().styled("code")
        g_object_unref(UnsafeMutableRawPointer(texture))
        gtk_picture_set_alternative_text(picture.opaque, localized("QR code of the pairing link"))
        gtk_widget_set_vexpand(picture, 1)
        let words = Widget.label("words")
        words.setText(
            localized(
                """
                Scan this with the phone’s camera within five minutes. \
                No device joins before you confirm it in the terminal.
                """))
        gtk_label_set_wrap(words.opaque, 1)
        gtk_label_set_justify(words.opaque, GTK_JUSTIFY_CENTER)
        Signals.connectClose(window) { exit(0) }
        let whole = window.cast(to: GtkWindow.self)
        gtk_window_set_title(whole, localized("Pair a device"))
        gtk_window_set_icon_name(whole, "applocker")
        gtk_window_set_child(whole, Widget.box(GTK_ORIENTATION_VERTICAL, [picture, words]))
        gtk_window_set_default_size(whole, 480, 560)
        gtk_window_present(whole)
    }

    private static func sheet(_ palette: PromptStyle.Palette) -> String {
        PromptStyle.colors(palette) + """
            window.link-window { background: @prompt_background; color: @prompt_text; }
            .link-window .code { margin: 16px 16px 0 16px; }
            .link-window .words { margin: 12px 20px 18px 20px; color: @prompt_text; }
            """
    }
}
