/// The peer of the control socket, as the kernel reports it (SO_PEERCRED).
public struct ControlPeer: Hashable, Sendable {
    public let user: UInt32
    public let process: Int32

    public init(user: UInt32, process: Int32) {
        self.user = user
        self.process = process
    }
}

/// One request of the control socket, decoded from HTTP.
public struct ControlRequest: Sendable {
    public let route: ControlRoute
    public let peer: ControlPeer
    /// The value of the path's parameter, percent-decoded.
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

/// Answers the requests of the control socket. The server maps HTTP to it and does not interpret the requests.
public protocol ControlService: Sendable {
    /// Asked before a body of more than 64 KiB is read, so that only those who may send one can fill the memory.
    /// - Throws: `ControlError` to refuse the request.
    func admit(_ route: ControlRoute, from peer: ControlPeer) async throws

    /// - Returns: the body of a 200 answer: JSON, or bytes, depending on the route.
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
