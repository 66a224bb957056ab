import CGtk4
import Glibc
public import ProcessHardening

/// Keeps the passcode out of core files and away from the user's other programs.
public enum ProcessHygiene {
    /// What the variables of GTK, GLib and the graphics drivers begin with. Several name a directory of modules or
    /// drivers, whose code runs in this process then; others open GTK's inspector on the passcode field.
    private static let removed = [
        "GTK_", "GDK_", "GSK_", "GIO_", "G_", "LIBGL_", "MESA_", "GALLIUM_", "EGL_", "__EGL_", "__GLX_", "GBM_", "VK_",
        "LIBVA_", "WAYLAND_DEBUG",
    ]
    /// Those that only choose among what is installed.
    private static let kept: Set = [
        "GDK_BACKEND", "GDK_SCALE", "GDK_DPI_SCALE", "GTK_A11Y", "GTK_IM_MODULE", "GTK_THEME",
    ]

    /// The variables that only this process shall have, not the programs that it starts.
    ///
    /// GTK begins OpenGL for each display, whatever draws: its drivers are chosen by files and variables of the user.
    /// Without one, a small window is also drawn sooner, and with a third of the memory.
    public static var ownVariables: [String: String] {
        let noGraphics =
            gtk_get_minor_version() < 15 ? ["GDK_DEBUG": "gl-disable"] : ["GDK_DISABLE": "gl,vulkan"]
        return ["GSK_RENDERER": "cairo"].merging(noGraphics) { $1 }
    }

    /// Must be called before anything else.
    /// - Throws: as `ProcessHardening.apply`.
    public static func apply() throws(ProcessHardening.Refusal) -> CoreLimit {
        let coreLimit = try ProcessHardening.apply()
        for name in environmentNames() where !kept.contains(name) && removed.contains(where: name.hasPrefix) {
            unsetenv(name)
        }
        for (name, value) in ownVariables { setenv(name, value, 1) }
        return coreLimit
    }

    private static func environmentNames() -> [String] {
        guard let list = g_listenv() else { return [] }
        defer { g_strfreev(list) }
        var names: [String] = []
        var entry = list
        while let name = entry.pointee {
            names.append(String(cString: name))
            entry += 1
        }
        return names
    }
}
