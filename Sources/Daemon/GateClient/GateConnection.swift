import CLinux
import GateProtocol
import Glibc

/// One connection to the gate: a Unix `SOCK_SEQPACKET` socket, a message a datagram.
///
/// Sendable: a descriptor that is only read by the one reader thread, and written with single system calls, which a
/// datagram socket does not mix up. It is closed when the last reference is released.
final class GateConnection: Sendable {
    private let socket: Int32
    /// The gate's process, by SO_PEERCRED.
    let process: Int32

    /// - Parameter silence: after which `receive` returns without a message.
    /// - Throws: `Failure` if nothing listens or the listener can't be trusted.
    init(path: String, silence: Duration) throws(Failure) {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Failure(call: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            close(socket)
            throw Failure(call: "connect", code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(socket)
            throw Failure(call: "connect", code: code)
        }
        var peer = clinux_peer()
        let code = clinux_peer_of(socket, &peer)
        guard code == 0 else {
            close(socket)
            throw Failure(call: "getsockopt", code: code)
        }
        // A gate that does not read for so long is treated as away.
        var timeout = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var wait = timeval(
            tv_sec: Int(silence.components.seconds),
            tv_usec: Int(silence.components.attoseconds / 1_000_000_000_000))
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        guard peer.user == 0 || peer.user == getuid() else {
            close(socket)
            throw Failure(call: "trust", code: EPERM)
        }
        self.socket = socket
        process = peer.process
    }

    deinit { close(socket) }

    enum Received {
        case message([UInt8])
        /// Nothing came for a while.
        case silence
        /// The gate has gone, or sent more than a message may hold.
        case end
    }

    /// Blocks until a message comes, or for as long as a gate may be silent.
    /// - Parameter buffer: one byte larger than the largest message, so that one that is too large shows.
    func receive(into buffer: inout [UInt8]) -> Received {
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count == buffer.count { return .end }
            if count > 0 { return .message(Array(buffer[..<count])) }
            guard count < 0 else { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .silence
            default: return .end
            }
        }
    }

    /// - Returns: whether the gate has it.
    func send(_ message: DaemonMessage) -> Bool {
        let bytes = message.encoded()
        while true {
            let count = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if count == bytes.count { return true }
            if count < 0, errno == EINTR { continue }
            shutDown()
            return false
        }
    }

    /// Ends the connection; the reader sees its end.
    func shutDown() { shutdown(socket, Int32(SHUT_RDWR)) }

    struct Failure: Error {
        var call: String
        var code: Int32
    }
}
