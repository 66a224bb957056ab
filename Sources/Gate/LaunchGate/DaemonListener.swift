import CLinux
import Glibc

/// The listening socket for the daemon.
final class DaemonListener {
    let descriptor: Descriptor
    private let daemonUser: UInt32
    private let daemonProgram: FileIdentity?

    /// - Parameters:
    ///   - path: at most 107 bytes. Its directory must belong to root, the daemon's user or the gate's user, and no
    ///     other user may write to it.
    ///   - daemonProgram: the program that the peer must run; nil accepts any.
    init(path: PathBytes, daemonUser: UInt32, daemonProgram: FileIdentity?) throws(GateError) {
        self.daemonUser = daemonUser
        self.daemonProgram = daemonProgram
        guard path.count < 108, path.first == UInt8(ascii: "/"), let (directory, _) = path.directoryAndName else {
            throw GateError(.usage, "--socket takes an absolute path of at most 107 bytes")
        }
        try Self.checkDirectory(directory, daemonUser: daemonUser)
        try Self.removeStaleSocket(path, daemonUser: daemonUser)
        let number = Self.newSocket()
        descriptor = try Descriptor(number, "socket")
        let mask = umask(0o177)
        let bound = Self.withAddress(path) { bind(number, $0, $1) } == 0 ? 0 : errno
        umask(mask)
        guard bound == 0 else { throw GateError(.socket, "Can't create the socket \(path.text)", cause: bound) }
        guard geteuid() == daemonUser || path.withTerminator({ lchown($0, daemonUser, UInt32.max) }) == 0,
            listen(number, 8) == 0
        else { throw GateError(.socket, "Can't listen on \(path.text)", cause: errno) }
    }

    private static func checkDirectory(_ directory: PathBytes, daemonUser: UInt32) throws(GateError) {
        var status = stat()
        guard directory.withTerminator({ lstat($0, &status) }) == 0 else {
            throw GateError(.socket, "Can't use the socket's directory \(directory.text)", cause: errno)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw GateError(.socket, "The socket's directory \(directory.text) is not a directory (a link is refused)")
        }
        guard [0, daemonUser, geteuid()].contains(status.st_uid), status.st_mode & 0o022 == 0 else {
            throw GateError(
                .socket,
                "Others may write to the socket's directory \(directory.text): it must belong to root or the daemon's "
                    + "user, with mode 0755 or less")
        }
    }

    /// Removes the socket of an earlier gate. Any other file is kept and is an error.
    private static func removeStaleSocket(_ path: PathBytes, daemonUser: UInt32) throws(GateError) {
        var status = stat()
        guard path.withTerminator({ lstat($0, &status) }) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK, [0, daemonUser, geteuid()].contains(status.st_uid) else {
            throw GateError(.socket, "\(path.text) exists and is not the gate's socket: move it away")
        }
        let probe = try Descriptor(newSocket(), "socket")
        guard withAddress(path, { connect(probe.number, $0, $1) }) != 0, errno == ECONNREFUSED else {
            throw GateError(.socket, "Another gate listens on \(path.text): stop it first")
        }
        _ = path.withTerminator { unlink($0) }
    }

    /// - Returns: a descriptor or a negative errno.
    private static func newSocket() -> Int32 {
        let number = socket(
            AF_UNIX,
            Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        return number < 0 ? -errno : number
    }

    private static func withAddress(
        _ path: PathBytes, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.prefix(107)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// - Returns: the next connection; nil if there is none or if its peer is not the daemon.
    func accept() -> DaemonConnection? {
        let number = clinux_accept(descriptor.number)
        guard number >= 0 else { return nil }
        let connection = Descriptor(number)
        var peer = clinux_peer()
        guard clinux_peer_of(number, &peer) == 0, peer.user == daemonUser else {
            report("refused a connection of process \(peer.process), user \(peer.user): not the daemon's user")
            return nil
        }
        // By pid, so the result is valid only for this moment; the check of the user above is what counts. Without root
        // the gate can't read the daemon's /proc files, because the daemon clears PR_SET_DUMPABLE.
        if geteuid() == 0, let daemonProgram, ProcessFacts.executable(peer.process) != daemonProgram {
            report("refused a connection of process \(peer.process): it does not run the daemon's program")
            return nil
        }
        return DaemonConnection(connection, process: peer.process)
    }
}
