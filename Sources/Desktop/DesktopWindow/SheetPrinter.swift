import CAdwaita
import CGtk4
import Foundation
import GtkSupport
import Localization
import QRCode

/// Prints a recovery sheet by the desktop's print dialog.
@MainActor
final class SheetPrinter {
    private let code: String
    private let picture: QRCode

    private init(_ code: String, _ picture: QRCode) {
        self.code = code
        self.picture = picture
    }

    static func print(_ code: String, parent: Widget, onFailure: @escaping (String) -> Void) {
        guard let picture = try? QRCode(code) else {
            return onFailure(localized("The code does not fit into a QR code."))
        }
        let sheet = SheetPrinter(code, picture)
        let operation = gtk_print_operation_new()!
        defer { g_object_unref(UnsafeMutableRawPointer(operation)) }
        gtk_print_operation_set_n_pages(operation, 1)
        gtk_print_operation_set_job_name(operation, localized("AppLocker recovery sheet"))
        gtk_print_operation_set_embed_page_setup(operation, 1)
        Signals.connectPage(UnsafeMutableRawPointer(operation)) { sheet.draw($0) }
        var error: UnsafeMutablePointer<GError>?
        let result = gtk_print_operation_run(operation, GTK_PRINT_OPERATION_ACTION_PRINT_DIALOG, parent.window, &error)
        if result == GTK_PRINT_OPERATION_RESULT_ERROR, let error {
            onFailure(localized("The sheet can't be printed: \(String(cString: error.pointee.message))"))
            g_error_free(error)
        }
    }

    private func draw(_ context: OpaquePointer) {
        let cairo = gtk_print_context_get_cairo_context(context)
        let width = gtk_print_context_get_width(context)
        var top = 0.0
        func write(_ text: String, _ font: String) {
            let layout = gtk_print_context_create_pango_layout(context)
            let description = pango_font_description_from_string(font)
            pango_layout_set_font_description(layout, description)
            pango_font_description_free(description)
            pango_layout_set_width(layout, Int32(width * Double(PANGO_SCALE)))
            pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
            pango_layout_set_text(layout, text, -1)
            cairo_move_to(cairo, 0, top)
            pango_cairo_show_layout(cairo, layout)
            var height: Int32 = 0
            pango_layout_get_size(layout, nil, &height)
            top += Double(height) / Double(PANGO_SCALE) * 1.4
            g_object_unref(UnsafeMutableRawPointer(layout))
        }
        write(localized("AppLocker recovery sheet"), "Sans Bold 18")
        write(
            localized(
                """
                For \(ProcessInfo.processInfo.hostName). Anybody with this sheet can open everything that AppLocker \
                seals there. Store it where only you have access, and not beside the computer.
                """), "Sans 11")
        let module = width / 3 / Double(picture.width)
        for row in 0..<picture.width {
            for column in 0..<picture.width where picture.isDark(row, column) {
                cairo_rectangle(cairo, Double(column) * module, top + Double(row) * module, module, module)
            }
        }
        cairo_fill(cairo)
        top += width / 3 + 18
        write(code, "Monospace Bold 14")
        write(
            localized(
                "If you forget the passcode: open Settings in AppLocker, choose Passcode Forgotten, and type the code."),
            "Sans 11")
    }
}
