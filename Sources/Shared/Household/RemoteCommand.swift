public import ControlAPI
public import HubAPI

/// `commands/<random>`, revision 1: what a companion asks of a computer. Signed by the companion over every byte.
public struct RemoteCommand: Codable, Equatable, Sendable {
    public var computer: HubID
    /// Milliseconds since 1970 by the computer's clock, as far as the companion knows it.
    public var issued: UInt64
    public var action: RemoteAction

    public init(computer: HubID, issued: UInt64, action: RemoteAction) {
        self.computer = computer
        self.issued = issued
        self.action = action
    }

    /// A command is acted on so long after `issued`, in milliseconds.
    public static let lifetime: UInt64 = 60_000
    /// And so long before it, for a clock that was read a moment too fast.
    public static let lead: UInt64 = 5_000
}

/// In JSON an object with one key: `{"lockAll": {}}`, `{"unlockApp": {"app": "firefox", "grant": {"kind": "duration"}}}`.
/// A computer refuses what it does not know.
public enum RemoteAction: Codable, Equatable, Sendable {
    case lockAll
    case unlockAll(grant: GrantRequest)
    case lockApp(app: String)
    case unlockApp(app: String, grant: GrantRequest)
    /// Lets a waiting launch in.
    case approve(prompt: String, grant: GrantRequest)
    case deny(prompt: String)
    case lockVault
    case takePhoto
    /// Locks the vault and ends management sessions.
    case signOut
    case removePhoto(photo: HubID)
    /// Asks for a fresh status.
    case report
    case addApp(app: String)
    case removeApp(app: String)
    /// The schedule's text; "" removes it.
    case setSchedule(app: String, schedule: String)
    /// The app is in these categories and in no other; those that are not there yet are made.
    case setCategories(app: String, categories: [String])
    /// 1 to 64 bytes.
    case renameDevice(device: HubID, name: String)
    /// Revokes a companion, the one that asks too. A computer is revoked at a computer, with the passcode.
    case revokeDevice(device: HubID)
}

/// `commands/<random>`, revision 2 (received) and 3 (how it ended), by the computer.
public struct CommandReply: Codable, Equatable, Sendable {
    public enum State: String, CaseIterable, Codable, Sendable {
        case received, done, refused
    }

    public var computer: HubID
    /// The computer's clock, milliseconds since 1970.
    public var clock: UInt64
    public var state: State
    /// A stable word for a refusal: "too_old", "too_early", "replayed", or a code of the control socket.
    public var reason: String?
    /// One sentence.
    public var sentence: String
    /// What was made: a photo.
    public var record: HubID?

    public init(
        computer: HubID, clock: UInt64, state: State, reason: String? = nil, sentence: String, record: HubID? = nil
    ) {
        self.computer = computer
        self.clock = clock
        self.state = state
        self.reason = reason
        self.sentence = sentence
        self.record = record
    }
}
