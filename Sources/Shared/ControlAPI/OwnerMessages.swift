/// `POST /v1/setup`: one of the two.
public struct SetUpRequest: Codable, Sendable {
    public var passcode: String?
    public var earlierVerifier: EarlierVerifier?
    public init(passcode: String) { self.passcode = passcode }
    public init(earlierVerifier: EarlierVerifier) { self.earlierVerifier = earlierVerifier }
}

/// What the earlier AppLocker stored to recognise its passcode.
public struct EarlierVerifier: Codable, Equatable, Sendable {
    /// "sha256" or "pbkdf2-sha256".
    public var kind: String
    /// Base64.
    public var salt: String
    /// Base64, 32 bytes.
    public var digest: String
    public init(kind: String, salt: String, digest: String) {
        self.kind = kind
        self.salt = salt
        self.digest = digest
    }
}

/// Carries the owner's passcode.
public struct PasscodeRequest: Codable, Sendable {
    public var passcode: String
    public init(passcode: String) { self.passcode = passcode }
}

/// A management session. Every request that changes something carries the token as `Authorization: Bearer TOKEN`.
public struct SessionReport: Codable, Sendable {
    /// 32 random bytes in hexadecimal.
    public var token: String
    /// The session ends after this many seconds whatever happens,
    public var expiresInSeconds: Int
    /// and after this many seconds without a request.
    public var idleSeconds: Int
    public init(token: String, expiresInSeconds: Int, idleSeconds: Int) {
        self.token = token
        self.expiresInSeconds = expiresInSeconds
        self.idleSeconds = idleSeconds
    }
}

/// A confirmation sentence.
public struct DoneReport: Codable, Equatable, Sendable {
    public var notes: [String]
    public init(notes: [String] = []) { self.notes = notes }
}

public struct ChangePasscodeRequest: Codable, Sendable {
    public var old: String
    public var new: String
    public init(old: String, new: String) {
        self.old = old
        self.new = new
    }
}

public struct MonitoringRequest: Codable, Sendable {
    public var isOn: Bool
    public static let allowedSeconds = 60...86_400

    /// Only with `isOn` false: turns itself on again after this many seconds, in `allowedSeconds`.
    public var forSeconds: Int?
    public init(isOn: Bool, forSeconds: Int? = nil) {
        self.isOn = isOn
        self.forSeconds = forSeconds
    }
}

public struct SettingsReport: Codable, Equatable, Sendable {
    /// 5 to 300: how long a launch waits for an answer, while its user has a prompter, before it is denied.
    public var promptTimeoutSeconds: Int
    /// 30 to 600: how long a launch waits that only a paired phone can answer.
    public var phoneTimeoutSeconds: Int
    /// 30 to 3,600: the duration that the prompt offers first.
    public var defaultGrantSeconds: Int
    /// Whether root, too, is asked when it starts a locked app.
    public var holdsRoot: Bool
    /// Whether a launch waits for a paired phone's answer where no prompter is there to ask.
    public var asksPhoneAlone: Bool
    /// 60 to 3,600: the vault locks itself after so many seconds without use.
    public var vaultIdleSeconds: Int
    /// From which wrong passcode in a row on a photo is taken: 1 to 10, or 0 for never.
    public var photographsFromFailure: Int
    /// "auto", or FORMAT:INPUT as ffmpeg names it, for example "v4l2:/dev/video2".
    public var camera: String
    /// 7 to 365: how long alerts and intruder photos are kept.
    public var alertDays: Int
    /// 60 to 3,600: everything of a user is locked after so many seconds without input in that user's sessions.
    public var inactivitySeconds: Int
    /// 5 to 300: how long what was copied from AppLocker stays on the clipboard.
    public var clipboardSeconds: Int
    /// Whether content is hidden and the vault locked while the screen is recorded.
    public var locksOnCapture: Bool
    public init(
        promptTimeoutSeconds: Int, phoneTimeoutSeconds: Int = 120, defaultGrantSeconds: Int, holdsRoot: Bool,
        vaultIdleSeconds: Int = 600, photographsFromFailure: Int = 2, camera: String = "auto",
        inactivitySeconds: Int = 600, clipboardSeconds: Int = 30, locksOnCapture: Bool = false,
        asksPhoneAlone: Bool = true, alertDays: Int = 30
    ) {
        self.alertDays = alertDays
        self.phoneTimeoutSeconds = phoneTimeoutSeconds
        self.asksPhoneAlone = asksPhoneAlone
        self.inactivitySeconds = inactivitySeconds
        self.clipboardSeconds = clipboardSeconds
        self.locksOnCapture = locksOnCapture
        self.promptTimeoutSeconds = promptTimeoutSeconds
        self.defaultGrantSeconds = defaultGrantSeconds
        self.holdsRoot = holdsRoot
        self.vaultIdleSeconds = vaultIdleSeconds
        self.photographsFromFailure = photographsFromFailure
        self.camera = camera
    }
}

/// Absent fields stay unchanged.
public struct ChangeSettingsRequest: Codable, Sendable {
    public var promptTimeoutSeconds: Int?
    public var phoneTimeoutSeconds: Int?
    public var defaultGrantSeconds: Int?
    public var holdsRoot: Bool?
    public var vaultIdleSeconds: Int?
    public var photographsFromFailure: Int?
    public var camera: String?
    public var alertDays: Int?
    public var inactivitySeconds: Int?
    public var clipboardSeconds: Int?
    public var locksOnCapture: Bool?
    public var asksPhoneAlone: Bool?
    public init(
        promptTimeoutSeconds: Int? = nil, phoneTimeoutSeconds: Int? = nil, defaultGrantSeconds: Int? = nil,
        holdsRoot: Bool? = nil, vaultIdleSeconds: Int? = nil, photographsFromFailure: Int? = nil,
        camera: String? = nil, inactivitySeconds: Int? = nil, clipboardSeconds: Int? = nil,
        locksOnCapture: Bool? = nil, asksPhoneAlone: Bool? = nil, alertDays: Int? = nil
    ) {
        self.alertDays = alertDays
        self.phoneTimeoutSeconds = phoneTimeoutSeconds
        self.asksPhoneAlone = asksPhoneAlone
        self.inactivitySeconds = inactivitySeconds
        self.clipboardSeconds = clipboardSeconds
        self.locksOnCapture = locksOnCapture
        self.promptTimeoutSeconds = promptTimeoutSeconds
        self.defaultGrantSeconds = defaultGrantSeconds
        self.holdsRoot = holdsRoot
        self.vaultIdleSeconds = vaultIdleSeconds
        self.photographsFromFailure = photographsFromFailure
        self.camera = camera
    }
}

/// One line of the activity log.
public struct EventReport: Codable, Equatable, Sendable {
    public var number: Int64
    /// Seconds since 1970, by the computer's clock when it happened.
    public var time: Double
    /// A stable word: "launch_asked", "launch_allowed", "launch_denied", "passcode_wrong", "locked", "unlocked", ...
    public var kind: String
    public var app: String?
    public var user: UInt32?
    public var process: Int32?
    public var path: String?
    /// The raw value of Policy's `Reason`, for example "lockedOut" or "nobodyToAsk".
    public var reason: String?
    /// One sentence.
    public var sentence: String
    public init(
        number: Int64, time: Double, kind: String, app: String?, user: UInt32?, process: Int32?, path: String?,
        reason: String?, sentence: String
    ) {
        self.number = number
        self.time = time
        self.kind = kind
        self.app = app
        self.user = user
        self.process = process
        self.path = path
        self.reason = reason
        self.sentence = sentence
    }
}

/// `GET /v1/log`.
public struct LogQuery: ControlQuery {
    public static var fields: [QueryField<Self>] {
        [
            .flag("all", \.all), .number("after", \.after, 0...Int.max), .number("before", \.before, 0...Int.max),
            .number("limit", \.limit, 1...maximumLimit), .text("app", \.app),
        ]
    }

    public static let maximumLimit = 1_000

    /// Also events of other users; refused without the right to see them.
    public var all = false
    /// Only events with a higher number.
    public var after: Int64 = 0
    /// Only events with a lower number.
    public var before = Int64.max
    /// At most so many, the newest.
    public var limit = 50
    public var app: String?
    public init() {}
    public init(after: Int64 = 0, before: Int64 = .max, limit: Int, app: String? = nil, all: Bool = false) {
        (self.after, self.before, self.limit, self.app, self.all) = (after, before, limit, app, all)
    }
}

/// Newest last.
public struct EventList: Codable, Equatable, Sendable {
    public var events: [EventReport]
    public init(events: [EventReport]) { self.events = events }
}

public struct AppStatistics: Codable, Equatable, Sendable {
    public var app: String
    public var name: String
    public var asked: Int
    public var allowed: Int
    public var denied: Int
    public var wrongPasscodes: Int
    /// How often it was unlocked: for a time, or for one launch by a correct answer.
    public var unlocks: Int
    /// When the last of the denied launches was, in seconds since 1970.
    public var lastDenied: Double?
    public init(
        app: String, name: String, asked: Int, allowed: Int, denied: Int, wrongPasscodes: Int, unlocks: Int,
        lastDenied: Double? = nil
    ) {
        self.unlocks = unlocks
        self.lastDenied = lastDenied
        self.app = app
        self.name = name
        self.asked = asked
        self.allowed = allowed
        self.denied = denied
        self.wrongPasscodes = wrongPasscodes
    }
}

/// Local days of the computer, today included. After a change of the clock within the period it begins an hour before
/// or after midnight.
public enum StatisticsPeriod: String, CaseIterable, Sendable {
    case today, week, month
    /// Everything that the log keeps.
    case all

    /// Nil: there is no limit.
    public var days: Int? {
        switch self {
        case .today: 1
        case .week: 7
        case .month: 30
        case .all: nil
        }
    }
}

/// `GET /v1/statistics`.
public struct StatisticsQuery: ControlQuery {
    public static var fields: [QueryField<Self>] {
        [.flag("all", \.all), .number("days", \.days, 1...3_650), .choice("period", \.period)]
    }

    /// As in `LogQuery`.
    public var all = false
    public var days = 30
    /// Instead of `days`.
    public var period: StatisticsPeriod?
    public init() {}
    public init(days: Int) { self.days = days }
    public init(period: StatisticsPeriod) { self.period = period }
}

/// The counts of one local day of the computer.
public struct DayStatistics: Codable, Equatable, Sendable {
    /// "2024-05-17".
    public var day: String
    public var asked: Int
    public var allowed: Int
    public var denied: Int
    public var wrongPasscodes: Int
    public var unlocks: Int
    public init(day: String, asked: Int, allowed: Int, denied: Int, wrongPasscodes: Int, unlocks: Int) {
        self.unlocks = unlocks
        self.day = day
        self.asked = asked
        self.allowed = allowed
        self.denied = denied
        self.wrongPasscodes = wrongPasscodes
    }
}

public struct StatisticsReport: Codable, Equatable, Sendable {
    /// When the counts begin, in seconds since 1970; nil: with the first event that the log keeps.
    public var since: Double?
    public var apps: [AppStatistics]
    /// Days with such events, the oldest first. The first is not whole if the counts begin within it.
    public var byDay: [DayStatistics]
    public init(since: Double?, apps: [AppStatistics], byDay: [DayStatistics]) {
        self.since = since
        self.apps = apps
        self.byDay = byDay
    }
}
