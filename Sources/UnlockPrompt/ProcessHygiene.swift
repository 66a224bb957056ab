import CGtk4
import Foundation
import ProcessHardening

/// Keeps the passcode out of core files and out of the reach of the user's other programs.
enum ProcessHygiene {
    /// Variables that load code of somebody's choice into GTK programs, or open GTK's inspector on the passcode field.
    private static let unwanted = [
        "GTK_DEBUG", "GTK_PATH", "GTK_MODULES", "GDK_DEBUG", "GSK_DEBUG", "GIO_EXTRA_MODULES", "GDK_PIXBUF_MODULE_FILE",
        "G_DEBUG", "G_MESSAGES_DEBUG", "WAYLAND_DEBUG",
    ]

    /// To be called before anything else is done.
    /// - Throws: as `ProcessHardening.apply`.
    static func apply() throws(ProcessHardening.Refusal) -> CoreLimit {
        let coreLimit = try ProcessHardening.apply()
        for name in unwanted { unsetenv(name) }
        // A small window is drawn sooner, and in a third of the memory, without a graphics driver.
        setenv("GSK_RENDERER", "cairo", 0)
        return coreLimit
    }
}
