/// Who is at the other end of the control socket, as the kernel vouches for it (SO_PEERCRED).
public struct ControlPeer: Hashable, Sendable {
    public let user: UInt32
    public let process: Int32

    public init(user: UInt32, process: Int32) {
        self.user = user
        self.process = process
    }
}

/// One request of the control socket, after HTTP has been taken off it.
public struct ControlRequest: Sendable {
    public let route: ControlRoute
    public let peer: ControlPeer
    /// What stands in the place of the path's brace, percent-decoded.
    public let parameter: String?
    public let query: [String: String]
    /// Of `Authorization: Bearer`.
    public let token: String?
    /// JSON, or the bytes of a blob; at most `route.maximumBodyBytes`, empty where there is none.
    public let body: [UInt8]

    public init(
        route: ControlRoute, peer: ControlPeer, parameter: String? = nil, query: [String: String] = [:],
        token: String? = nil, body: [UInt8] = []
    ) {
        self.route = route
        self.peer = peer
        self.parameter = parameter
        self.query = query
        self.token = token
        self.body = body
    }
}

/// What stands behind the control socket. The server maps HTTP to it and knows nothing of what the requests mean.
public protocol ControlService: Sendable {
    /// Asked before a body of more than 64 KiB is read, so that only those who may send one can fill the memory.
    /// - Throws: `ControlError` to refuse the request.
    func admit(_ route: ControlRoute, from peer: ControlPeer) async throws

    /// - Returns: the body of a 200 answer: JSON, or bytes where the route says so.
    /// - Throws: `ControlError` for every refusal; anything else is answered as `failed`.
    func respond(to request: ControlRequest) async throws -> [UInt8]

    /// The events of a prompter from now on. The stream's end of life is the prompter's: `connection` identifies it
    /// to `prompterLeft`.
    func prompterJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<PromptEvent>

    func prompterLeft(connection: UInt64) async

    /// The events of a desktop agent from now on, as with a prompter.
    func agentJoined(_ peer: ControlPeer, connection: UInt64) async throws -> AsyncStream<SessionEvent>

    func agentLeft(connection: UInt64) async
}
