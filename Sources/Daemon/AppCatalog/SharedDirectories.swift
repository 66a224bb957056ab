/// The directories that programs of many packages share. A mark on one of them would hold every program there, so none
/// of them is ever private to an app; the directories right below a container can be.
enum SharedDirectories {
    static let programs: Set<String> = [
        "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/games", "/usr/local/bin", "/usr/local/sbin", "/usr/local/games",
        "/usr/libexec", "/usr/local/libexec", "/snap/bin", "/usr/lib/cgi-bin",
    ]

    /// Below these, each directory usually belongs to one product: /usr/lib/chromium, /opt/x.
    static let containers: Set<String> = [
        "/opt", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/share/games",
        "/usr/lib/games", "/usr/local/lib", "/usr/local/libexec", "/usr/local/share", "/usr/local/games",
        "/usr/local/opt", "/lib", "/lib64", "/srv",
    ]

    /// Directories right below a container that are shared all the same.
    private static let sharedNames: Set<String> = [
        "applications", "bin", "sbin", "games", "lib", "libexec", "share", "python2.7", "python3", "perl", "perl5",
        "ruby", "node_modules", "nodejs", "jvm", "java", "mono", "cli", "systemd", "udev", "dbus-1.0", "polkit-1",
        "xorg", "firmware", "modules", "gcc", "gcc-cross", "pkgconfig", "pam.d", "security", "git-core", "cups",
        "mime", "pixmaps", "themes", "gnome-shell", "xsessions", "wayland-sessions", "dbus-1", "man", "doc", "locale",
    ]

    /// The directories from right below the container down to the one that holds `path`, shallowest first: each may be
    /// private to the app that `path` belongs to. Empty for a file in a directory that is always shared.
    static func candidates(for path: String, home: String) -> [String] {
        var found: [String] = []
        var directory = HostFiles.directory(of: path)
        while directory != "/" {
            let parent = HostFiles.directory(of: directory)
            if programs.contains(directory) || containers.contains(directory) || isMultiarch(directory) { break }
            found.append(directory)
            if containers.contains(parent) || isMultiarch(parent) {
                let name = HostFiles.name(of: directory)
                if sharedNames.contains(name) || name.hasPrefix("python3.") || HostFiles.isInside(home, directory) {
                    return []
                }
                return found.reversed()
            }
            directory = parent
        }
        return []
    }

    /// /usr/lib/x86_64-linux-gnu and its kind.
    private static func isMultiarch(_ directory: String) -> Bool {
        let parent = HostFiles.directory(of: directory)
        guard parent == "/usr/lib" || parent == "/lib" || parent == "/usr/libexec" else { return false }
        let name = HostFiles.name(of: directory)
        return name.contains("-linux-gnu") || name.contains("-linux-musl")
    }
}
