import CGtk4
import CLinux
import Foundation

/// The processes that draw this desktop. A launch by one of them must never be held: it would wait for its own prompt.
struct DesktopProcesses: Sendable {
    /// The window manager that X11 reports. X11 is queried on the main actor, because Xlib belongs to GTK's thread.
    var windowManager: Int32?
    var environment: [String: String]
    /// X11's display name, for example ":0".
    var x11Display: String?
    var user: uid_t = getuid()

    @MainActor
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        guard let display = gdk_display_get_default(), cgtk_is_x11(display) != 0 else { return }
        x11Display = String(cString: gdk_display_get_name(display))
        windowManager = Int32(exactly: cgtk_x11_manager_process(display)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Command names (at most 15 bytes, as the kernel stores them) of compositors, window managers, panels, docks,
    /// desktops with icons, launchers and file managers that draw the desktop.
    static let knownNames: Set<String> = [
        "gnome-shell", "mutter", "gala", "wingpanel", "plank", "io.elementary.d",
        "plasmashell", "kwin_x11", "kwin_wayland", "kwin_wayland_wr", "krunner", "latte-dock",
        "xfce4-panel", "xfdesktop", "xfwm4", "xfce4-appfinder", "wrapper-2.0", "whiskermenu",
        "cinnamon", "muffin", "nemo-desktop", "mate-panel", "marco", "caja", "budgie-panel", "budgie-wm",
        "budgie-daemon", "lxpanel", "lxqt-panel", "lxqt-runner", "pcmanfm", "pcmanfm-qt", "lxsession",
        "sway", "swaybar", "swaybg", "waybar", "wofi", "fuzzel", "river", "hyprland", "Hyprland", "labwc", "wayfire",
        "weston", "weston-desktop-", "weston-keyboard", "weston-simple-i", "phosh", "phoc", "cage", "niri",
        "cosmic-comp",
        "cosmic-panel", "cosmic-launcher", "openbox", "fluxbox", "blackbox", "icewm", "jwm", "fvwm2", "fvwm3", "twm",
        "i3",
        "i3bar", "bspwm", "sxhkd", "herbstluftwm", "dwm", "awesome", "xmonad", "qtile", "enlightenment", "compiz",
        "metacity", "tint2", "polybar", "rofi", "dmenu", "cairo-dock", "notion", "wmaker", "e16", "Xwayland",
    ]

    /// Finds them all. Blocks for some milliseconds: call it on a thread of its own.
    func find() -> [Int32] {
        var found = Set([windowManager, waylandCompositor(), xServer()].compactMap { $0 })
        found.formUnion(knownProcesses())
        return found.filter { Self.owner(of: $0) == user }.sorted()
    }

    /// The process that listens on Wayland's socket ($WAYLAND_DISPLAY, a name below $XDG_RUNTIME_DIR or an absolute
    /// path).
    private func waylandCompositor() -> Int32? {
        guard let name = environment["WAYLAND_DISPLAY"], !name.isEmpty else { return nil }
        if name.hasPrefix("/") { return Self.listener(of: name) }
        return environment["XDG_RUNTIME_DIR"].flatMap { Self.listener(of: $0 + "/" + name) }
    }

    /// The process that listens on the socket of a local X display: ":1.0" is /tmp/.X11-unix/X1.
    private func xServer() -> Int32? {
        guard let x11Display, x11Display.hasPrefix(":") || x11Display.hasPrefix("unix:"),
            let number = x11Display.split(separator: ":").last?.prefix(while: \.isNumber), !number.isEmpty
        else { return nil }
        return Self.listener(of: "/tmp/.X11-unix/X\(number)")
    }

    /// The process that called listen(2) on a Unix socket (SO_PEERCRED of a connection to it).
    static func listener(of path: String) -> Int32? {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        var peer = clinux_peer()
        guard isConnected, clinux_peer_of(descriptor, &peer) == 0, peer.process > 0 else { return nil }
        return peer.process
    }

    private func knownProcesses() -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap(Int32.init).filter { process in
            guard let name = Self.contents("/proc/\(process)/comm") else { return false }
            return Self.knownNames.contains(name.trimmingCharacters(in: .newlines))
        }
    }

    private static func owner(of process: Int32) -> uid_t? {
        var status = stat()
        return stat("/proc/\(process)", &status) == 0 ? status.st_uid : nil
    }

    private static func contents(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
