public import ControlAPI
public import HubAPI

/// `commands/<random>`, revision 1: a companion's request to a computer.
public struct RemoteCommand: Codable, Equatable, Sendable {
    public var computer: HubID
    /// Milliseconds since 1970 by the companion's estimate of the computer's clock.
    public var issued: UInt64
    public var action: RemoteAction

    public init(computer: HubID, issued: UInt64, action: RemoteAction) {
        self.computer = computer
        self.issued = issued
        self.action = action
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        computer = try fields.decode(HubID.self, forKey: .computer)
        issued = try fields.decode(UInt64.self, forKey: .issued)
        action = (try? fields.decode(RemoteAction.self, forKey: .action)) ?? .unsupported
    }

    /// How long after `issued` a command is accepted, in milliseconds.
    public static let lifetime: UInt64 = 60_000
    /// How long before `issued`, for an estimate that is slightly ahead.
    public static let lead: UInt64 = 5_000
}

/// In JSON an object with one key: `{"lockAll": {}}`, `{"unlockApp": {"app": "firefox", "grant": {"kind": "duration"}}}`.
/// A computer refuses an unknown one.
public enum RemoteAction: Codable, Equatable, Sendable {
    /// Locks all apps and the vault, and ends management sessions.
    case lockAll
    case unlockAll(grant: GrantRequest)
    case lockApp(app: String)
    case unlockApp(app: String, grant: GrantRequest)
    /// Approves a waiting launch.
    case approve(prompt: String, grant: GrantRequest)
    case deny(prompt: String)
    /// Locks the vault and ends management sessions.
    case lockVault
    case takePhoto
    case removePhoto(photo: HubID)
    case addApp(app: String)
    case removeApp(app: String)
    /// The schedule's text; "" removes it.
    case setSchedule(app: String, schedule: String)
    /// The app's only categories; missing ones are created.
    case setCategories(app: String, categories: [String])
    /// 1 to 64 bytes.
    case renameDevice(device: HubID, name: String)
    /// Revokes a companion, possibly the requesting one. A computer is revoked at a computer, with the passcode.
    case revokeDevice(device: HubID)
    /// An action of a newer version. Never sent.
    case unsupported
}

/// `commands/<random>`, revision 2 (received) and 3 (the outcome), by the computer.
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
    /// The photo that was taken.
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
