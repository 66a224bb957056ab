import Foundation
import GateProtocol
import Glibc

/// A gate over a real `SOCK_SEQPACKET` socket, whose messages the test sends and receives.
///
/// Its calls block for at most a minute: `blocking` runs them outside Swift's pool.
final class TestGate: @unchecked Sendable {
    // Sendable: the listener never changes.
    private let listener: Int32

    init(_ path: String) throws {
        listener = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // An initializer that throws with everything set still runs deinit, which closes.
        guard result == 0, listen(listener, 8) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Self.limitWaiting(listener)
    }

    deinit { close(listener) }

    /// The next connection of the daemon.
    func accept() async throws -> Connection {
        try await blocking { [listener] in
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            Self.limitWaiting(descriptor)
            return Connection(descriptor)
        }
    }

    /// Accepts, exchanges greetings and returns the connection.
    func greet() async throws -> Connection {
        let connection = try await accept()
        guard try await connection.next() == .hello(version: GateProtocol.version) else { throw POSIXError(.EPROTO) }
        connection.send(.hello(version: GateProtocol.version, mode: .held, orphansDenied: 0, refusal: 0))
        return connection
    }

    private static func limitWaiting(_ descriptor: Int32) {
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sendable: the descriptor never changes, and each call on it is one system call.
    final class Connection: @unchecked Sendable {
        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        func send(_ message: GateMessage) { send(bytes: message.encoded()) }

        func send(bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

        func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

        /// The daemon's next message; nil if it has disconnected.
        func next() async throws -> DaemonMessage? {
            try await blocking { [descriptor] in
                var buffer = [UInt8](repeating: 0, count: GateProtocol.maximumMessageBytes)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count >= 0 else {
                    if errno == ECONNRESET { return nil }
                    throw POSIXError(.init(rawValue: errno) ?? .EIO)
                }
                return count == 0 ? nil : try DaemonMessage(decoding: Array(buffer[..<count]))
            }
        }
    }
}

/// Runs blocking work on a thread of its own.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}
