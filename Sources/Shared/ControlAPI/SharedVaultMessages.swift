/// A vault that this computer shares with devices of other households: `GET /v1/vaults/{vault}`.
public struct SharedVaultReport: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable {
        /// The member that invited has to confirm.
        case waiting
        case member
        /// Another member removed this computer.
        case removed
    }

    /// 32 hexadecimal digits: of the household that the vault is at the hub.
    public var id: String
    /// What the members call it; empty while that is not known here.
    public var name: String
    /// The hub's address.
    public var hub: String
    public var state: State
    /// While it is waiting: the device that invited shows the same.
    public var words: [String]?
    /// The members' names, this computer's first; empty while it is waiting.
    public var members: [String]
    /// The id under which its content is sealed, 32 hexadecimal digits.
    public var vault: String
    public var isConnected: Bool
    /// How many changes the hub does not have yet.
    public var waiting: Int
    /// Why it is not synchronised, as a sentence.
    public var problem: String?

    public init(
        id: String, name: String, hub: String, state: State, words: [String]? = nil, members: [String] = [],
        vault: String, isConnected: Bool = false, waiting: Int = 0, problem: String? = nil
    ) {
        (self.id, self.name, self.hub, self.state, self.words) = (id, name, hub, state, words)
        (self.members, self.vault, self.isConnected) = (members, vault, isConnected)
        (self.waiting, self.problem) = (waiting, problem)
    }
}

/// `GET /v1/vaults`.
public struct SharedVaultList: Codable, Equatable, Sendable {
    public var vaults: [SharedVaultReport]

    public init(vaults: [SharedVaultReport]) { self.vaults = vaults }
}

/// `DELETE /v1/vaults/{vault}`.
public struct LeaveVaultQuery: ControlQuery {
    public static var fields: [QueryField<Self>] { [.flag("forget", \.forget)] }

    /// Remove it from this computer although the hub can't be reached: the others still see the computer among the members.
    public var forget = false

    public init() {}
    public init(forget: Bool) { self.forget = forget }
}
