public import Foundation
import Glibc
import Synchronization

/// A simulated server: real bytes on a real Unix socket (HTTP/1.1, streams chunked), with the replies that the test
/// defines.
public final class ScriptedSocket: Sendable {
    public struct Request: Sendable {
        /// For example "POST /v1/prompts/7/answer".
        public var route: String
        /// Of `Authorization: Bearer`.
        public var token: String?
        public var body: Data
        public var instant: ContinuousClock.Instant
    }

    public enum Reply: Sendable {
        case whole(status: Int, Data)
        /// The first bytes of a response that stays open for `send`.
        case stream(Data)
        /// The connection is closed without a response.
        case hangUp
    }

    public typealias Handler = @Sendable (Request) -> Reply

    private struct State {
        var listener: Int32 = -1
        var connections: Set<Int32> = []
        var streams: Set<Int32> = []
    }

    public let path: String
    private let state = Mutex(State())

    public init(path: String) { self.path = path }

    deinit { stop() }

    public var streamCount: Int { state.withLock { $0.streams.count } }

    /// Writes to every open stream.
    public func send(_ bytes: Data) {
        // Under the lock: a stream is closed after it was removed here, and its number may be reused.
        state.withLock { for stream in $0.streams { Self.writeChunk(bytes, to: stream) } }
    }

    /// Simulates the server's end: every connection is closed and nothing listens.
    public func stop() {
        state.withLock {
            // The thread that accepts closes it.
            if $0.listener >= 0 { shutdown($0.listener, Int32(SHUT_RDWR)) }
            $0.listener = -1
            for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            $0.streams = []
        }
        unlink(path)
    }

    public func start(_ handler: @escaping Handler) throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, chmod(path, 0o666) == 0, listen(listener, 16) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        state.withLock { $0.listener = listener }
        Thread.detachNewThread { [weak self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                let isAccepted = self?.state.withLock { state in
                    guard state.listener == listener else { return false }
                    state.connections.insert(connection)
                    return true
                }
                guard isAccepted == true else {
                    close(connection)
                    break
                }
                Thread.detachNewThread { [weak self] in Self.serve(connection, handler, for: { self }) }
            }
            close(listener)
        }
    }

    private static func serve(_ connection: Int32, _ handler: Handler, for server: () -> ScriptedSocket?) {
        var pending = Data()
        while let request = readRequest(connection, &pending) {
            guard let server = server(), server.reply(handler(request), on: connection) else { break }
        }
        server()?.state.withLock {
            $0.connections.remove(connection)
            $0.streams.remove(connection)
        }
        close(connection)
    }

    /// - Returns: whether the connection stays open.
    private func reply(_ reply: Reply, on connection: Int32) -> Bool {
        switch reply {
        case .hangUp: return false
        case .whole(let status, let body):
            let head =
                "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
            Self.write(Data(head.utf8) + body, to: connection)
        case .stream(let bytes):
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            Self.write(Data(head.utf8), to: connection)
            Self.writeChunk(bytes, to: connection)
            state.withLock { _ = $0.streams.insert(connection) }
        }
        return true
    }

    private static func readRequest(_ connection: Int32, _ pending: inout Data) -> Request? {
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let range = pending.range(of: end) {
                let lines = String(decoding: pending[..<range.lowerBound], as: UTF8.self).split(separator: "\r\n")
                func field(_ name: String) -> String? {
                    lines.first { $0.lowercased().hasPrefix(name + ":") }
                        .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
                }
                let words = lines.first?.split(separator: " ") ?? []
                guard words.count >= 2 else { return nil }
                let length = field("content-length").flatMap { Int($0) } ?? 0
                if pending.distance(from: range.upperBound, to: pending.endIndex) >= length {
                    let rest = pending[range.upperBound...]
                    pending = Data(rest.dropFirst(length))
                    return Request(
                        route: "\(words[0]) \(words[1])",
                        token: field("authorization").map { String($0.dropFirst("Bearer ".count)) },
                        body: Data(rest.prefix(length)), instant: .now)
                }
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            pending.append(contentsOf: buffer[..<count])
        }
    }

    private static func writeChunk(_ data: Data, to connection: Int32) {
        write(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8), to: connection)
    }

    private static func write(_ data: Data, to connection: Int32) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
