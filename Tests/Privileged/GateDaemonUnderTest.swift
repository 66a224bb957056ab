import Foundation
import GateProtocol
import Synchronization
import SystemTestSupport
import Testing

/// A minimal daemon: it uses the real protocol over the real socket and answers as the test defines.
final class DaemonUnderTest: Sendable {
    struct NoMessage: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var messages: [GateMessage] = []
        var questions = 0
        var isClosed = false
        var sequence: UInt32 = 0
    }

    private let socket: Int32
    private let state = Mutex(State())
    private let answering: @Sendable (LaunchQuestion) -> Bool?

    /// - Parameter answering: called on the reader's thread for each launch; nil leaves it waiting.
    init(socketPath: String, answering: @escaping @Sendable (LaunchQuestion) -> Bool?) throws {
        self.answering = answering
        socket = Foundation.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let (socket, length) = (socket, socklen_t(MemoryLayout<sockaddr_un>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Foundation.connect(socket, $0, length) }
        }
        guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [self] in readUntilEnd() }
    }

    /// Uses a connection that was made elsewhere.
    init(connected socket: Int32, answering: @escaping @Sendable (LaunchQuestion) -> Bool?) {
        self.answering = answering
        self.socket = socket
        Thread.detachNewThread { [self] in readUntilEnd() }
    }

    /// Reads, answers, records. Keeps the connection (and this object) alive until `shutDown`.
    private func readUntilEnd() {
        var buffer = [UInt8](repeating: 0, count: GateProtocol.maximumMessageBytes + 1)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0, let message = try? GateMessage(decoding: Array(buffer[..<count])) else { break }
            // Before the answer: a test that sees the outcome of the launch must find it counted.
            state.withLock { state in
                if case .launch = message { state.questions += 1 }
                state.messages.append(message)
            }
            if case .launch(let question) = message, !question.deniedAtOnce, let allow = answering(question) {
                send(.answer(question.launch, allow: allow))
            }
        }
        state.withLock { $0.isClosed = true }
        close(socket)
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// How many launches caused a question.
    var questions: Int { state.withLock { $0.questions } }
    /// The messages that have arrived and that `next` has not returned.
    var messages: [GateMessage] { state.withLock { $0.messages } }

    func shutDown() { shutdown(socket, Int32(SHUT_RDWR)) }

    func send(_ message: DaemonMessage) { send(raw: message.encoded()) }

    func send(raw bytes: [UInt8]) {
        _ = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Removes and returns the first message for which `pick` returns a value, and waits for it.
    func next<Value: Sendable>(
        _ what: String, within timeout: Duration = .seconds(60), _ pick: @Sendable (GateMessage) -> Value?
    ) async throws -> Value {
        let clock = ContinuousClock()
        let end = clock.now + timeout
        while true {
            let found = state.withLock { state -> Value? in
                for (index, message) in state.messages.enumerated() {
                    if let value = pick(message) {
                        state.messages.remove(at: index)
                        return value
                    }
                }
                return nil
            }
            if let found { return found }
            guard clock.now < end else {
                throw NoMessage(description: "no \(what) within \(timeout); received: \(messages.suffix(10))")
            }
            try await Task.sleep(for: .microseconds(500))
        }
    }

    func nextLaunch() async throws -> LaunchQuestion {
        try await next("launch") { if case .launch(let question) = $0 { question } else { nil } }
    }

    func nextEnd(of launch: LaunchToken) async throws -> LaunchEnd {
        try await next("end of launch \(launch)") {
            if case .ended(launch, let end) = $0 { end } else { nil }
        }
    }

    /// The exec request's fields: path, directory, number of arguments, arguments, environment.
    func nextExecRequest(of launch: LaunchToken) async throws -> [[UInt8]] {
        var bytes: [UInt8] = []
        var isLast = false
        while !isLast {
            let part: ([UInt8], Bool) = try await next("exec request of \(launch)") {
                if case .execRequest(launch, let isLast, let part) = $0 { (part, isLast) } else { nil }
            }
            bytes += part.0
            isLast = part.1
        }
        try #require(bytes.last == 0)
        return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
    }

    private func newSequence() -> UInt32 {
        state.withLock {
            $0.sequence += 1
            return $0.sequence
        }
    }

    struct Applied: Equatable, Sendable {
        var marks: UInt32
        var failures: UInt32
    }

    private func applied(_ sequence: UInt32) async throws -> Applied {
        try await next("applied \(sequence)") {
            if case .applied(_, sequence, let marks, let failures) = $0 {
                Applied(marks: marks, failures: failures)
            } else {
                nil
            }
        }
    }

    @discardableResult
    func commit(
        _ app: AppToken, executables: [String] = [], directories: [String] = [], guarded: Bool = true
    ) async throws -> Applied {
        let sequence = newSequence()
        send(.beginApp(app))
        for path in executables { send(.appPath(app, .executable, path: Array(path.utf8))) }
        for path in directories { send(.appPath(app, .privateDirectory, path: Array(path.utf8))) }
        send(.commitApp(app, guarded: guarded, sequence: sequence))
        return try await applied(sequence)
    }

    @discardableResult
    func setGuarded(_ app: AppToken, _ guarded: Bool) async throws -> Applied {
        let sequence = newSequence()
        send(.setGuarded(app, guarded: guarded, sequence: sequence))
        return try await applied(sequence)
    }

    func forget(_ app: AppToken) async throws {
        let sequence = newSequence()
        send(.forgetApp(app, sequence: sequence))
        _ = try await applied(sequence)
    }

    /// Sends `synchronised` and waits until the gate has processed it.
    func synchronise() async throws {
        send(.synchronised)
        try await roundTrip()
    }

    /// Waits until the gate has processed all earlier messages, and its own have arrived.
    func roundTrip() async throws {
        let number = UInt64.random(in: 0 ... .max)
        send(.ping(number))
        try await next("pong") { if case .pong(number) = $0 { () } else { nil } }
    }

    /// Waits until the gate has noticed changes of files and mounts. Within one round it may read its daemon first; the
    /// second message is read after that round.
    func filesNoticed() async throws {
        try await roundTrip()
        try await roundTrip()
    }
}
