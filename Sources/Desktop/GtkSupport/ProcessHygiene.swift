import CGtk4
import Glibc
public import ProcessHardening

/// Keeps the passcode out of core files and away from the user's other programs.
public enum ProcessHygiene {
    /// Variables that load foreign code into GTK programs, or open GTK's inspector on the passcode field.
    private static let unwanted = [
        "GTK_DEBUG", "GTK_PATH", "GTK_MODULES", "GDK_DEBUG", "GSK_DEBUG", "GIO_EXTRA_MODULES", "GDK_PIXBUF_MODULE_FILE",
        "G_DEBUG", "G_MESSAGES_DEBUG", "WAYLAND_DEBUG",
    ]

    /// Must be called before anything else.
    /// - Throws: as `ProcessHardening.apply`.
    public static func apply() throws(ProcessHardening.Refusal) -> CoreLimit {
        let coreLimit = try ProcessHardening.apply()
        for name in unwanted { unsetenv(name) }
        // Without a graphics driver a small window is drawn sooner, and with a third of the memory.
        setenv("GSK_RENDERER", "cairo", 0)
        return coreLimit
    }
}
