import CGtk4
import Foundation

/// Keeps the passcode out of core files and out of the reach of the user's other programs.
enum ProcessHygiene {
    /// Variables that load code of somebody's choice into GTK programs, or open GTK's inspector on the passcode field.
    private static let unwanted = [
        "GTK_DEBUG", "GTK_PATH", "GTK_MODULES", "GDK_DEBUG", "GSK_DEBUG", "GIO_EXTRA_MODULES", "GDK_PIXBUF_MODULE_FILE",
        "G_DEBUG", "G_MESSAGES_DEBUG", "WAYLAND_DEBUG",
    ]

    /// To be called before anything else is done. Not dumpable: no core file, no ptrace and no /proc/PID/mem for
    /// processes without privileges.
    static func apply() -> CoreLimit {
        _ = cgtk_forbid_core_dump_and_ptrace()
        for name in unwanted { unsetenv(name) }
        // A small window is drawn sooner, and in a third of the memory, without a graphics driver.
        setenv("GSK_RENDERER", "cairo", 0)
        return CoreLimit()
    }
}

/// The limit on core files: none for this process, the session's own for what it starts.
struct CoreLimit: Sendable {
    private let session: rlimit

    init() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        session = limit
        set(0)
    }

    /// Runs `start` under the session's limit. A core file of this process is still ruled out meanwhile: it is not
    /// dumpable.
    func lifted<Result>(_ start: () throws -> Result) rethrows -> Result {
        set(session.rlim_cur)
        defer { set(0) }
        return try start()
    }

    private func set(_ soft: rlim_t) {
        var limit = rlimit(rlim_cur: soft, rlim_max: session.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
}
