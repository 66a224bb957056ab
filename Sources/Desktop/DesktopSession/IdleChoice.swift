import ControlAPI
import DBus

/// Finds the best available source of idle time: GNOME's compositor, logind's hint, the X server.
struct IdleChoice: Sendable {
    /// Nil if there is no such bus.
    var sessionBus: DBusConnection?
    var systemBus: DBusConnection?
    /// XDG_SESSION_ID; nil for the caller's own.
    var session: String?
    /// DISPLAY; nil in a Wayland session, where the X server sees only the input of its own windows.
    var display: String?

    init(environment: [String: String]) {
        session = environment["XDG_SESSION_ID"].flatMap { $0.isEmpty ? nil : $0 }
        let isWayland =
            environment["XDG_SESSION_TYPE"] == "wayland" || !(environment["WAYLAND_DISPLAY"] ?? "").isEmpty
        display = isWayland ? nil : environment["DISPLAY"].flatMap { $0.isEmpty ? nil : $0 }
    }

    func best() async -> (any IdleSource)? {
        if let sessionBus, let mutter = try? await MutterIdle(sessionBus) { return mutter }
        if let systemBus, let logind = try? await LogindIdle(systemBus, session: session) { return logind }
        if let display {
            let server = X11Idle(display: display)
            if (try? await server.idleTime()) != nil { return server }
        }
        return nil
    }
}
