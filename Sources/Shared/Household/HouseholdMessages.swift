public import ControlAPI
public import Foundation
public import HubAPI

// The bodies of a household's records, sealed under its status key (docs/formats.md). Times are milliseconds since 1970 by
// the clock of the computer that wrote the record.

/// `devices/<device>`.
public struct DeviceName: Codable, Equatable, Sendable {
    /// 1 to 64 bytes.
    public var name: String
    /// Of a member of a shared vault: identifies its household to devices of that household.
    public var owner: HubID?
    /// True: a recovery sheet.
    public var sheet: Bool?
    /// Of a spare member of a shared vault: the member whose device made it.
    public var spareOf: HubID?

    public init(name: String, owner: HubID? = nil, sheet: Bool? = nil, spareOf: HubID? = nil) {
        self.name = name
        self.owner = owner
        self.sheet = sheet
        self.spareOf = spareOf
    }
}

/// `status/<computer>`: its current status.
public struct ComputerStatus: Codable, Equatable, Sendable {
    public var name: String
    public var clock: UInt64
    public var status: StatusReport
    /// Of the activity log: a reader who keeps it detects a truncated log.
    public var auditHead: String?
    /// The newest record of `events` by this computer: if it never arrives, the hub withholds it.
    public var lastEvent: HubID?
    /// The number of the newest roster entry that it has.
    public var rosterNumber: UInt64
    /// The hash of that entry, 32 bytes: two different lists can have the same length.
    public var rosterHead: Data?
    /// Protocol violations of the hub, newest last.
    public var hubProblems: [String]
    /// New notes go into this vault; nil before there is one.
    public var vault: HubID?
    /// A few minutes old at most; nil from versions that don't report it.
    public var integrity: [IntegrityFinding]?
    /// 7 to 365: how long alerts are kept; of several computers the most days count. Nil from versions that don't report
    /// it.
    public var alertDays: Int?

    public init(
        name: String, clock: UInt64, status: StatusReport, auditHead: String?, lastEvent: HubID?, rosterNumber: UInt64,
        rosterHead: Data?, hubProblems: [String], vault: HubID?, integrity: [IntegrityFinding]? = nil,
        alertDays: Int? = nil
    ) {
        self.alertDays = alertDays
        self.integrity = integrity
        self.vault = vault
        self.name = name
        self.clock = clock
        self.status = status
        self.auditHead = auditHead
        self.lastEvent = lastEvent
        self.rosterNumber = rosterNumber
        self.rosterHead = rosterHead
        self.hubProblems = hubProblems
    }
}

/// The result of one check of `applocker doctor`, as other devices show it.
public struct IntegrityFinding: Codable, Equatable, Sendable {
    public enum State: String, CaseIterable, Codable, Sendable {
        case ok
        /// Weaker than possible, or not determined.
        case warning
        /// It undermines what AppLocker promises.
        case problem
    }

    /// Stable, as `applocker doctor --json` has it: "root-access", "secure-boot".
    public var id: String
    /// A short title.
    public var title: String
    public var state: State
    public var sentence: String

    public init(id: String, title: String, state: State, sentence: String) {
        self.id = id
        self.title = title
        self.state = state
        self.sentence = sentence
    }
}

/// `apps/<computer>`: its list.
public struct ComputerApps: Codable, Equatable, Sendable {
    public var clock: UInt64
    public var apps: [RemoteApp]
    /// Installed apps that are not on the list, by name, at most `maximumOthers`; nil from versions that don't report them.
    public var others: [OtherApp]?
    /// By name; nil from versions that don't report them.
    public var categories: [RemoteCategory]?

    public static let maximumOthers = 500

    public init(
        clock: UInt64, apps: [RemoteApp], others: [OtherApp]? = nil, categories: [RemoteCategory]? = nil
    ) {
        self.clock = clock
        self.apps = apps
        self.others = others
        self.categories = categories
    }
}

/// `icons/<computer>`: pictures of the apps on its list. A record of its own, because it changes far less often than
/// their state.
public struct ComputerIcons: Codable, Equatable, Sendable {
    /// By app, at most `maximumBytes` of data in all.
    public var icons: [RemoteIcon]

    public static let maximumBytes = 512 * 1_024

    public init(icons: [RemoteIcon]) { self.icons = icons }
}

/// An app's icon. Anybody who can add an app at the computer can choose it.
public struct RemoteIcon: Codable, Equatable, Sendable {
    /// The app's id.
    public var app: String
    /// "image/png" or "image/svg+xml".
    public var type: String
    /// At most 24 KiB.
    public var data: Data

    public init(app: String, type: String, data: Data) {
        self.app = app
        self.type = type
        self.data = data
    }
}

/// An app that can be added to a computer's list.
public struct OtherApp: Codable, Equatable, Sendable {
    /// Names it in `addApp`.
    public var id: String
    /// At most 80 characters.
    public var name: String
    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// A category of a computer's list.
public struct RemoteCategory: Codable, Equatable, Sendable {
    public var name: String
    public var schedule: String?
    public init(name: String, schedule: String?) {
        self.name = name
        self.schedule = schedule
    }
}

/// An app on a computer's list, as other devices show it.
public struct RemoteApp: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var state: AppReport.State
    /// Milliseconds since 1970 by the computer's clock at which a timed grant ends.
    public var opensUntil: UInt64?
    public var schedule: String?
    public var categories: [String]
    public init(
        id: String, name: String, state: AppReport.State, opensUntil: UInt64?, schedule: String?, categories: [String]
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.opensUntil = opensUntil
        self.schedule = schedule
        self.categories = categories
    }
}

/// `events/<random>`: an event. Never changed.
public struct HouseholdEvent: Codable, Equatable, Sendable {
    /// Stable words; a reader shows others by their sentence.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// A launch that was held, or refused.
        case blocked
        /// A wrong passcode.
        case failed
        /// An intruder photo; `photo` is its record in `intruders`.
        case photographed
        case unlocked, relocked, degraded, started, stopped
        /// An app was added to the list or removed from it.
        case apps
        /// A schedule, another rule of an app, or a category was changed.
        case rules
        /// A backup was exported or imported.
        case backup
        /// A recovery sheet was printed or used.
        case recovery
        /// A device was added or removed, or the owner changed something.
        case changed
        /// A protocol violation of the hub.
        case hubMisbehaved = "hub_misbehaved"
    }

    public var kind: Kind
    public var computer: HubID
    public var computerName: String
    public var time: UInt64
    public var app: String?
    public var appName: String?
    /// The stable code of the reason, as in the activity log.
    public var reason: String?
    public var sentence: String
    public var photo: HubID?
    /// This computer's previous record of `events`: if a reader lacks it, the hub withholds it.
    public var previous: HubID?

    public init(
        kind: Kind, computer: HubID, computerName: String, time: UInt64, app: String?, appName: String?,
        reason: String?, sentence: String, photo: HubID?, previous: HubID?
    ) {
        self.kind = kind
        self.computer = computer
        self.computerName = computerName
        self.time = time
        self.app = app
        self.appName = appName
        self.reason = reason
        self.sentence = sentence
        self.photo = photo
        self.previous = previous
    }
}

/// `requests/<random>`: a launch that waits for an answer; revision 2 has its outcome.
public struct LaunchRequest: Codable, Equatable, Sendable {
    public var computer: HubID
    public var computerName: String
    /// Names it in `approve` and `deny`.
    public var prompt: String
    public var app: String
    public var appName: String
    public var path: String
    public var parentName: String?
    public var userName: String?
    public var clock: UInt64
    /// When it is denied without an answer.
    public var expires: UInt64
    public var defaultGrantSeconds: Int
    /// Absent while it waits.
    public var outcome: PromptOutcome?

    public init(
        computer: HubID, computerName: String, prompt: String, app: String, appName: String, path: String,
        parentName: String?, userName: String?, clock: UInt64, expires: UInt64, defaultGrantSeconds: Int,
        outcome: PromptOutcome? = nil
    ) {
        self.computer = computer
        self.computerName = computerName
        self.prompt = prompt
        self.app = app
        self.appName = appName
        self.path = path
        self.parentName = parentName
        self.userName = userName
        self.clock = clock
        self.expires = expires
        self.defaultGrantSeconds = defaultGrantSeconds
        self.outcome = outcome
    }
}

/// The body of a record of `notes`.
public struct SealedNote: Codable, Equatable, Sendable {
    public var title: String
    public var body: String
    /// Seconds since 1970.
    public var created: Double
    public var modified: Double
    public init(title: String, body: String, created: Double, modified: Double) {
        self.title = title
        self.body = body
        self.created = created
        self.modified = modified
    }
}
