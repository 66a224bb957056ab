/// What a desktop agent reads from `GET /v1/session`, a stream of server-sent events whose `data` is this as JSON.
///
/// The first event is `ready`, the second `state`; a comment line comes every 15 seconds.
public enum SessionEvent: Codable, Equatable, Sendable {
    case ready
    /// Sent first, and on every change.
    case state(SessionState)
    case notice(Notice)
    case closing(ClosingNotice)
    /// What `closing` says about the app no longer applies.
    case closingWithdrawn(app: String)
}

/// What a desktop session shows of AppLocker's state.
public struct SessionState: Codable, Equatable, Sendable {
    public enum Protection: String, Codable, Sendable {
        /// Nothing is unlocked.
        case locked
        case unlocked
        /// Protection is weaker than it should be; `degraded` has the reasons.
        case degraded
    }

    /// What inactivity locks.
    public struct Inactivity: Codable, Equatable, Sendable {
        public var limitSeconds: Int
        /// Whether something is open that inactivity would lock. Where nothing is, the watch is paused.
        public var isArmed: Bool
        public init(limitSeconds: Int, isArmed: Bool) {
            self.limitSeconds = limitSeconds
            self.isArmed = isArmed
        }
    }

    public var protection: Protection
    public var unlockedApps: Int
    public var vaultIsOpen: Bool
    public var monitoringIsOn: Bool
    /// Sentences, as in `StatusReport`.
    public var degraded: [String]
    public var inactivity: Inactivity
    /// How long what was copied from AppLocker stays on the clipboard.
    public var clipboardSeconds: Int
    /// Whether content is hidden and the vault locked while the screen is recorded.
    public var locksOnCapture: Bool

    public init(
        protection: Protection, unlockedApps: Int, vaultIsOpen: Bool, monitoringIsOn: Bool, degraded: [String],
        inactivity: Inactivity, clipboardSeconds: Int, locksOnCapture: Bool
    ) {
        self.protection = protection
        self.unlockedApps = unlockedApps
        self.vaultIsOpen = vaultIsOpen
        self.monitoringIsOn = monitoringIsOn
        self.degraded = degraded
        self.inactivity = inactivity
        self.clipboardSeconds = clipboardSeconds
        self.locksOnCapture = locksOnCapture
    }
}

/// An event that this desktop shows as a notification.
public struct Notice: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable {
        case blocked
        case wrongPasscode = "wrong_passcode"
        case unlocked, relocked, degraded
    }

    public var kind: Kind
    public var app: String?
    public var appName: String?
    /// One sentence.
    public var sentence: String
    /// Whether an intruder photo was taken.
    public var hasPhoto: Bool
    /// Of the line in the activity log.
    public var number: Int64

    public init(kind: Kind, app: String?, appName: String?, sentence: String, hasPhoto: Bool, number: Int64) {
        self.kind = kind
        self.app = app
        self.appName = appName
        self.sentence = sentence
        self.hasPhoto = hasPhoto
        self.number = number
    }
}

/// The running instances of an app are closed soon, because its grant ends.
public struct ClosingNotice: Codable, Equatable, Sendable {
    /// How much longer the app stays open if the user chooses so.
    public static let extensionSeconds = 300

    public var app: String
    public var appName: String
    public var secondsLeft: Int

    public init(app: String, appName: String, secondsLeft: Int) {
        self.app = app
        self.appName = appName
        self.secondsLeft = secondsLeft
    }
}

/// `POST /v1/session/idle`: how this session measures inactivity, at the start and on every change; and, when
/// the limit is reached, how long it has been inactive.
public struct IdleReport: Codable, Equatable, Sendable {
    public enum Source: String, CaseIterable, Codable, Sendable {
        case mutter, logind, xscreensaver
        /// Inactivity can't be measured, so it locks nothing here.
        case none
    }

    public var source: Source
    public var idleSeconds: Int
    public init(source: Source, idleSeconds: Int) {
        self.source = source
        self.idleSeconds = idleSeconds
    }
}
