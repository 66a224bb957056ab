import GateProtocol
import Glibc

/// The one connected daemon. Non-blocking: a daemon that does not read is disconnected.
final class DaemonConnection {
    let descriptor: Descriptor
    let process: Int32
    /// The daemon sent `hello` with this version.
    var isGreeted = false
    /// The daemon sent all apps.
    var isSynchronised = false
    /// Whose launches are denied without asking it.
    var unaskedUsers = DeniedUsers.none
    var incoming = IncomingApps()

    /// The send buffer in bytes: several exec requests of the largest size fit while the daemon is busy.
    static let bufferBytes: Int32 = 16_777_216

    init(_ descriptor: Descriptor, process: Int32) {
        self.descriptor = descriptor
        self.process = process
        var size = Self.bufferBytes
        // SO_SNDBUFFORCE, which needs CAP_NET_ADMIN, may exceed net.core.wmem_max.
        if setsockopt(descriptor.number, SOL_SOCKET, SO_SNDBUFFORCE, &size, 4) != 0 {
            _ = setsockopt(descriptor.number, SOL_SOCKET, SO_SNDBUF, &size, 4)
        }
    }

    /// - Returns: false if the daemon has disconnected or its buffer is full.
    func send(_ message: GateMessage) -> Bool {
        let bytes = message.encoded()
        while true {
            if Glibc.send(descriptor.number, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                == bytes.count
            {
                return true
            }
            guard errno == EINTR else { return false }
        }
    }

    /// Bytes that the daemon has not read yet; `Int32.max` if unknown.
    var unread: Int32 {
        var count: Int32 = 0
        return ioctl(descriptor.number, UInt(TIOCOUTQ), &count) == 0 ? count : .max
    }

    enum Received {
        case message(DaemonMessage)
        case nothing
        /// The peer disconnected or sent an invalid message.
        case end(reason: String)
    }

    func receive() -> Received {
        withUnsafeTemporaryAllocation(byteCount: GateProtocol.maximumMessageBytes + 1, alignment: 8) { buffer in
            let count = recv(descriptor.number, buffer.baseAddress!, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0 {
                return errno == EAGAIN || errno == EINTR ? .nothing : .end(reason: String(cString: strerror(errno)))
            }
            guard count > 0 else { return .end(reason: "it closed the connection") }
            guard count <= GateProtocol.maximumMessageBytes else { return .end(reason: "it sent too long a message") }
            do {
                return .message(try DaemonMessage(decoding: Array(buffer[..<count])))
            } catch {
                return .end(reason: "it sent an invalid message: \(error)")
            }
        }
    }
}
