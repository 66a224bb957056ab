import Glibc

/// The programs that serve the X and Wayland displays of this machine at this moment, found by asking the kernel who
/// listens on each display's socket (SO_PEERCRED, unix(7)).
public enum RunningServers {
    /// Looks at /tmp/.X11-unix/X* and /run/user/*/wayland-*. Opens and closes one connection a socket, never waits.
    /// Needs root (or the same user) to see the executables of others; what it may not see is left out.
    public static func probe() -> Set<FileIdentity> {
        let files = HostFiles(root: "")
        var sockets = files.names(in: "/tmp/.X11-unix").map { "/tmp/.X11-unix/" + $0 }
        for user in files.names(in: "/run/user") {
            let directory = "/run/user/" + user
            sockets += files.names(in: directory)
                .filter { $0.hasPrefix("wayland-") && !$0.hasSuffix(".lock") }.map { directory + "/" + $0 }
        }
        return Set(sockets.compactMap { listener(on: $0) }.compactMap { executable(ofProcess: $0) })
    }

    /// The identity of a process's program; nil when it is gone or may not be looked at.
    static func executable(ofProcess process: Int32) -> FileIdentity? {
        var raw = stat()
        guard process > 0, stat("/proc/\(process)/exe", &raw) == 0 else { return nil }
        return FileStatus(raw).identity
    }

    /// The process that listens on a socket of the file system.
    static func listener(on path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { return nil }
        // struct ucred: process, user and group, 32 bits each.
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials.0 > 0 ? credentials.0 : nil
    }
}
