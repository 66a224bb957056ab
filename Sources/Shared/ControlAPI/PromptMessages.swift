/// What a prompter reads from `GET /v1/prompts`, a stream of server-sent events whose `data` is this as JSON.
///
/// The open stream is the prompter's presence: without one the user's launches are denied at once. The first event is
/// `ready`; a comment line comes every 15 seconds.
public enum PromptEvent: Codable, Equatable, Sendable {
    case ready
    case ask(PromptReport)
    /// A paired phone approved a launch that was denied at once: start it again, within 10 seconds, as a child. Sent to one
    /// prompter alone, before `settled`.
    case start(PromptReport, ExecRequest)
    /// The launch no longer waits: it was answered, it timed out, or its process has ended.
    case settled(prompt: String, outcome: PromptOutcome)
}

public enum PromptOutcome: String, CaseIterable, Codable, Sendable {
    case allowed, denied
    case timedOut = "timed_out"
    case gone
}

/// A launch that waits for its user's answer.
public struct PromptReport: Codable, Equatable, Sendable {
    public var prompt: String
    public var app: String
    public var name: String
    /// An icon name of the theme, or an absolute path.
    public var icon: String?
    public var path: String
    public var process: Int32
    /// What started it, for example "bash" (the command name of the parent process).
    public var parentName: String?
    public var user: UInt32
    public var userName: String?
    /// Seconds left before the launch is denied.
    public var expiresInSeconds: Int
    public var defaultGrantSeconds: Int
    /// True where this app has a passcode of its own (the owner's works too).
    public var hasOwnPasscode: Bool
    /// True where the launch was denied already because the desktop itself made it: after the right passcode the
    /// prompter starts it again from `PromptAnswer.execRequest`.
    public var startsAgain: Bool
    public var lockout: LockoutState

    public init(
        prompt: String, app: String, name: String, icon: String?, path: String, process: Int32, parentName: String?,
        user: UInt32, userName: String?, expiresInSeconds: Int, defaultGrantSeconds: Int, hasOwnPasscode: Bool,
        startsAgain: Bool, lockout: LockoutState
    ) {
        self.prompt = prompt
        self.app = app
        self.name = name
        self.icon = icon
        self.path = path
        self.process = process
        self.parentName = parentName
        self.user = user
        self.userName = userName
        self.expiresInSeconds = expiresInSeconds
        self.defaultGrantSeconds = defaultGrantSeconds
        self.hasOwnPasscode = hasOwnPasscode
        self.startsAgain = startsAgain
        self.lockout = lockout
    }
}

/// `GET /v1/prompts/waiting`: the prompts that the caller's user may answer now, the first to end first.
public struct PromptList: Codable, Equatable, Sendable {
    public var prompts: [PromptReport]
    public init(prompts: [PromptReport]) { self.prompts = prompts }
}

/// `POST /v1/prompts/desktop`: processes of the caller's own user that draw the desktop (the compositor or window
/// manager, panels, the display server). What they start is never held, but denied and started again.
public struct RegisterDesktopRequest: Codable, Sendable {
    public var processes: [Int32]
    public init(processes: [Int32]) { self.processes = processes }
}

/// A wrong passcode answers with `ControlError.Code.wrongPasscode` or `.lockedOut`, and the launch keeps waiting.
public struct PromptAnswerRequest: Codable, Sendable {
    public var passcode: String
    public var grant: GrantRequest
    public init(passcode: String, grant: GrantRequest) {
        self.passcode = passcode
        self.grant = grant
    }
}

public struct PromptAnswer: Codable, Equatable, Sendable {
    /// Present where `PromptReport.startsAgain` was true: what to start, within 10 seconds, as a child.
    public var execRequest: ExecRequest?

    private enum CodingKeys: String, CodingKey {
        case execRequest = "recipe"
    }

    public init(execRequest: ExecRequest? = nil) { self.execRequest = execRequest }
}

/// A launch exactly as it was asked for. Bytes, because neither paths, arguments nor environment need be UTF-8;
/// JSON carries them as base64 (RFC 4648 section 4).
public struct ExecRequest: Codable, Equatable, Sendable {
    public var path: String
    public var directory: String
    public var arguments: [String]
    public var environment: [String]
    /// `path`, `directory`, `arguments` and `environment` are base64.
    public init(path: String, directory: String, arguments: [String], environment: [String]) {
        self.path = path
        self.directory = directory
        self.arguments = arguments
        self.environment = environment
    }
}
