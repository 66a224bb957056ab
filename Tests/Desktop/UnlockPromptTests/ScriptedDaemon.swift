import ControlAPI
import Foundation
import Synchronization
import SystemTestSupport

/// A simulated control socket for the prompter, with the answers that the test defines. The daemon's own answers are
/// tested with the daemon.
final class ScriptedDaemon: Sendable {
    typealias Call = ScriptedSocket.Request

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
        var calls: [Call] = []
        var replies: [String: @Sendable (Data) -> Reply] = [:]
        var answer: @Sendable (PromptAnswerRequest) -> Reply = { _ in Reply(200, PromptAnswer()) }
    }

    private let state = Mutex(State())
    private let socket: ScriptedSocket

    init(socketPath: String) throws {
        socket = ScriptedSocket(path: socketPath)
        try start()
    }

    var socketPath: String { socket.path }

    /// All requests but the opening of a stream, in the order of arrival.
    var calls: [Call] { state.withLock { $0.calls } }

    func calls(_ route: String) -> [Call] { calls.filter { $0.route == route } }

    var prompterCount: Int { socket.streamCount }

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
        socket.send(line)
        return now
    }

    /// Simulates the daemon's end: every connection is closed and nothing listens.
    func stop() { socket.stop() }

    func start() throws { try socket.start { [weak self] in self?.reply(to: $0) ?? .hangUp } }

    private func reply(to call: Call) -> ScriptedSocket.Reply {
        if call.route == ControlRoute.prompts.rawValue { return .stream(Data("data: {\"ready\":{}}\n\n".utf8)) }
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
        return .whole(status: reply.status, reply.body)
    }
}
