import Foundation
import Glibc
import Synchronization

/// Answers every connection with the same bytes, whether they are valid HTTP or not, and keeps it open or closes it.
///
/// Sendable because its state is one `Mutex`; its thread ends when the listening socket is closed.
final class ScriptedServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let heard = Mutex("")
    private let answered = Mutex(false)
    private let sent = Mutex(0)

    /// Whether the kernel has taken a whole answer.
    var hasAnswered: Bool { answered.withLock { $0 } }

    /// How many bytes of its answers the kernel has taken so far.
    var bytesSent: Int { sent.withLock { $0 } }

    /// The bytes that the clients sent.
    var requests: String { heard.withLock { $0 } }

    init(_ answer: String, closes: Bool = true) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Of each connection: otherwise the kernel chooses it, up to tcp_wmem (tcp(7)), which differs between machines.
        var buffer = Int32(256 << 10)
        setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { [self] in serve(connection, answer, closes) }
            }
        }
    }

    private func serve(_ connection: Int32, _ answer: String, _ closes: Bool) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = read(connection, &buffer, buffer.count)
        guard count > 0 else { return }
        heard.withLock { $0 += String(decoding: buffer[..<count], as: UTF8.self) }
        var rest = Array(answer.utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(65_536)
            let taken = piece.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard taken > 0 else { break }
            sent.withLock { $0 += taken }
            rest = rest.dropFirst(taken)
        }
        answered.withLock { $0 = true }
        if closes { close(connection) } else { _ = read(connection, &buffer, buffer.count) }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}
