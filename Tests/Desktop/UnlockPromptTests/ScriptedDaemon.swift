import ControlAPI
import Foundation
import Glibc
import Synchronization

/// A simulated control socket for the prompter: real bytes on a real Unix socket (HTTP/1.1, the events chunked), with
/// the answers that the test defines. The daemon's own answers are tested with the daemon.
final class ScriptedDaemon: Sendable {
    struct Call: Sendable {
        /// For example "POST /v1/prompts/7/answer".
        var route: String
        var body: Data
        var instant: ContinuousClock.Instant
    }

    struct Reply: Sendable {
        var status: Int
        var body: Data

        static let done = Reply(200, DoneReport())

        init(_ status: Int = 200, _ body: some Encodable) {
            self.status = status
            self.body = (try? JSONEncoder().encode(body)) ?? Data()
        }

        static func refused(_ error: ControlError) -> Reply { Reply(error.status, ControlErrorBody(error: error)) }
    }

    private struct State {
        var listener: Int32 = -1
        var connections: Set<Int32> = []
        var streams: Set<Int32> = []
        var calls: [Call] = []
        var replies: [String: @Sendable (Data) -> Reply] = [:]
        var answer: @Sendable (PromptAnswerRequest) -> Reply = { _ in Reply(200, PromptAnswer()) }
    }

    private let state = Mutex(State())
    let socketPath: String

    init(socketPath: String) throws {
        self.socketPath = socketPath
        try start()
    }

    deinit { stop() }

    /// All requests but the opening of a stream, in the order of arrival.
    var calls: [Call] { state.withLock { $0.calls } }

    func calls(_ route: String) -> [Call] { calls.filter { $0.route == route } }

    var prompterCount: Int { state.withLock { $0.streams.count } }

    /// Every answer to this launch.
    func answers(_ prompt: String) throws -> [PromptAnswerRequest] {
        try calls("POST /v1/prompts/\(prompt)/answer").map {
            try JSONDecoder().decode(PromptAnswerRequest.self, from: $0.body)
        }
    }

    /// Sets the response to passcodes.
    func onAnswer(_ answer: @escaping @Sendable (PromptAnswerRequest) -> Reply) {
        state.withLock { $0.answer = answer }
    }

    /// Sets the response of this route.
    func on(_ route: ControlRoute, _ reply: @escaping @Sendable (Data) -> Reply) {
        state.withLock { $0.replies[route.rawValue] = reply }
    }

    /// Sends an event to every prompter and returns the time.
    @discardableResult
    func send(_ event: PromptEvent) throws -> ContinuousClock.Instant {
        let line = Data("data: ".utf8) + (try JSONEncoder().encode(event)) + Data("\n\n".utf8)
        let now = ContinuousClock.now
        for stream in state.withLock({ $0.streams }) { Self.writeChunk(line, to: stream) }
        return now
    }

    /// Simulates the daemon's end: every connection is closed and nothing listens.
    func stop() {
        state.withLock {
            if $0.listener >= 0 {
                shutdown($0.listener, Int32(SHUT_RDWR))
                close($0.listener)
            }
            $0.listener = -1
            for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            $0.streams = []
        }
        unlink(socketPath)
    }

    func start() throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, chmod(socketPath, 0o666) == 0, listen(listener, 16) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        state.withLock { $0.listener = listener }
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                guard let self else {
                    _ = close(connection)
                    return
                }
                self.state.withLock { _ = $0.connections.insert(connection) }
                Thread.detachNewThread { [weak self] in Self.serve(connection, for: { self }) }
            }
        }
    }

    private static func serve(_ connection: Int32, for daemon: () -> ScriptedDaemon?) {
        var pending = Data()
        while let (head, body) = readRequest(connection, &pending) {
            guard let daemon = daemon() else { break }
            let words = head.split(separator: " ")
            guard words.count >= 2 else { break }
            daemon.handle(Call(route: "\(words[0]) \(words[1])", body: body, instant: .now), on: connection)
        }
        daemon()?.state.withLock {
            $0.connections.remove(connection)
            $0.streams.remove(connection)
        }
        close(connection)
    }

    private func handle(_ call: Call, on connection: Int32) {
        if call.route == ControlRoute.prompts.rawValue {
            Self.write(
                Data(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".utf8),
                to: connection)
            Self.writeChunk(Data("data: {\"ready\":{}}\n\n".utf8), to: connection)
            state.withLock { _ = $0.streams.insert(connection) }
            return
        }
        let (answer, scripted) = state.withLock {
            $0.calls.append(call)
            return ($0.answer, $0.replies[call.route])
        }
        var reply = scripted?(call.body) ?? Reply.done
        if call.route.hasSuffix("/answer"),
            let request = try? JSONDecoder().decode(
                PromptAnswerRequest.self, from: call.body)
        {
            reply = answer(request)
        }
        let head = "HTTP/1.1 \(reply.status) X\r\nContent-Type: application/json\r\n"
        Self.write(Data((head + "Content-Length: \(reply.body.count)\r\n\r\n").utf8) + reply.body, to: connection)
    }

    private static func readRequest(_ connection: Int32, _ pending: inout Data) -> (String, Data)? {
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let range = pending.range(of: end) {
                let head = String(decoding: pending[..<range.lowerBound], as: UTF8.self)
                let length =
                    head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) } ?? 0
                if pending.distance(from: range.upperBound, to: pending.endIndex) >= length {
                    let body = pending[range.upperBound...].prefix(length)
                    defer { pending = Data(pending[range.upperBound...].dropFirst(length)) }
                    return (head, Data(body))
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
