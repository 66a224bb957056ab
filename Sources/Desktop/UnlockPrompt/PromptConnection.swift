public import ControlAPI
import LocalControl

/// The prompter's port to the daemon. Called from the main actor; an implementation may run on any executor.
public protocol PromptConnection: Sendable {
    /// Makes this process the prompter of its user. The sequence ends or throws when the daemon disconnects.
    func events() async throws -> any AsyncSequence<PromptEvent, any Error> & Sendable

    /// - Throws: `ControlError` if the daemon refused; the launch is still pending then.
    func answer(_ prompt: String, with request: PromptAnswerRequest) async throws -> PromptAnswer

    func cancel(_ prompt: String) async throws

    /// Registers the processes that draw the desktop: their launches must be denied at once instead of held.
    func registerDesktop(_ processes: [Int32]) async throws
}

/// The daemon itself, over its control socket.
public struct DaemonConnection: PromptConnection {
    /// Determined at each connection: a restarted daemon may have another state directory.
    private let socketPath: @Sendable () -> String

    public init(socketPath: @escaping @Sendable () -> String) { self.socketPath = socketPath }

    private var client: ControlClient { ControlClient(socketPath: socketPath()) }

    public func events() async throws -> any AsyncSequence<PromptEvent, any Error> & Sendable {
        try await client.prompts()
    }

    public func answer(_ prompt: String, with request: PromptAnswerRequest) async throws -> PromptAnswer {
        try await client.call(\.answerPrompt, parameter: prompt, body: request)
    }

    public func cancel(_ prompt: String) async throws {
        try await client.call(\.cancelPrompt, parameter: prompt)
    }

    public func registerDesktop(_ processes: [Int32]) async throws {
        let request = RegisterDesktopRequest(processes: processes)
        try await client.call(\.registerDesktop, body: request)
    }
}
