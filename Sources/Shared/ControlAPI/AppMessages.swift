/// An app on the list.
public struct AppReport: Codable, Equatable, Sendable {
    public enum State: String, CaseIterable, Codable, Sendable {
        case locked
        /// Open by a grant.
        case unlocked
        /// Open because its schedule allows it now.
        case outsideSchedule = "outside_schedule"
        /// Open because monitoring is off.
        case monitoringOff = "monitoring_off"
    }

    public var id: String
    public var name: String
    public var icon: String?
    public var state: State
    /// Seconds until a timed grant ends.
    public var unlockedForSeconds: Int?
    /// In the grammar of `docs/control-socket.md`, for example "block mon-fri 22:00-07:00".
    public var schedule: String?
    public var categories: [String]
    public var hasOwnPasscode: Bool
    /// "keep", "freeze" or "close": what happens to a running instance when its grant ends.
    public var onGrantEnd: String
    /// The executables that are marked.
    public var executables: [String]
    public var privateDirectories: [String]
    /// Names of other installed apps that share an executable with this one, and so are locked with it.
    public var sharedWith: [String]

    public init(
        id: String, name: String, icon: String?, state: State, unlockedForSeconds: Int?, schedule: String?,
        categories: [String], hasOwnPasscode: Bool, onGrantEnd: String, executables: [String],
        privateDirectories: [String], sharedWith: [String]
    ) {
        self.id = id
        self.name = name
        self.icon = icon
        self.state = state
        self.unlockedForSeconds = unlockedForSeconds
        self.schedule = schedule
        self.categories = categories
        self.hasOwnPasscode = hasOwnPasscode
        self.onGrantEnd = onGrantEnd
        self.executables = executables
        self.privateDirectories = privateDirectories
        self.sharedWith = sharedWith
    }
}

/// An app that is installed, on the list or not.
public struct InstalledReport: Codable, Equatable, Sendable {
    public var id: String
    public var name: String
    public var icon: String?
    /// "desktop", "flatpak", "snap", "appimage" or "executable".
    public var kind: String
    public var isListed: Bool
    public var state: AppReport.State?
    /// Absolute paths of its programs.
    public var executables: [String]

    public init(
        id: String, name: String, icon: String?, kind: String, isListed: Bool, state: AppReport.State?,
        executables: [String] = []
    ) {
        self.id = id
        self.name = name
        self.icon = icon
        self.kind = kind
        self.isListed = isListed
        self.state = state
        self.executables = executables
    }
}

/// Names an app: an app id, a name, or an executable's absolute path.
public struct AddAppRequest: Codable, Sendable {
    public var app: String
    /// "keep", "freeze" or "close": what happens to its instances that run now, of every user; absent: "keep".
    public var running: String?
    public init(app: String, running: String? = nil) {
        self.app = app
        self.running = running
    }
}

/// Absent fields stay unchanged.
public struct ChangeAppRequest: Codable, Sendable {
    /// The schedule's text; "" removes it.
    public var schedule: String?
    /// A new passcode for this app; "" removes it.
    public var passcode: String?
    public var onGrantEnd: String?
    public init(schedule: String? = nil, passcode: String? = nil, onGrantEnd: String? = nil) {
        self.schedule = schedule
        self.passcode = passcode
        self.onGrantEnd = onGrantEnd
    }
}

/// Ends grants. Apps that are not on the list yet are added, which needs a management session.
public struct LockRequest: Codable, Sendable {
    public var apps: [String]
    public var all: Bool
    public init(apps: [String] = [], all: Bool = false) {
        self.apps = apps
        self.all = all
    }

    /// Absent fields name no app.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        apps = try container.decodeIfPresent([String].self, forKey: .apps) ?? []
        all = try container.decodeIfPresent(Bool.self, forKey: .all) ?? false
    }
}

/// How long an unlock lasts.
public struct GrantRequest: Codable, Equatable, Sendable {
    public enum Kind: String, CaseIterable, Codable, Sendable {
        case duration
        /// The process tree that this launch starts, and nothing else.
        case thisLaunch = "this_launch"
        case untilLocked = "until_locked"
    }

    public var kind: Kind
    /// 30 to 3,600; only with `duration`, where absence means the default of the settings.
    public var seconds: Int?
    public init(_ kind: Kind, seconds: Int? = nil) {
        self.kind = kind
        self.seconds = seconds
    }
}

/// Opens apps. The passcode is the owner's, or the app's own where it has one.
public struct UnlockRequest: Codable, Sendable {
    public var apps: [String]
    public var all: Bool
    public var grant: GrantRequest
    /// Whether the grant's duration is added to what is left of the apps' grants. An app without one is refused then.
    public var extends: Bool
    public var passcode: String
    public init(
        apps: [String] = [], all: Bool = false, grant: GrantRequest, extends: Bool = false, passcode: String
    ) {
        self.extends = extends
        self.apps = apps
        self.all = all
        self.grant = grant
        self.passcode = passcode
    }

    /// Absent fields name no app, and extend nothing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        apps = try container.decodeIfPresent([String].self, forKey: .apps) ?? []
        all = try container.decodeIfPresent(Bool.self, forKey: .all) ?? false
        grant = try container.decode(GrantRequest.self, forKey: .grant)
        extends = try container.decodeIfPresent(Bool.self, forKey: .extends) ?? false
        passcode = try container.decode(String.self, forKey: .passcode)
    }
}

/// The changed apps in their new state, with remarks as sentences.
public struct AppsChanged: Codable, Equatable, Sendable {
    public var apps: [AppReport]
    public var notes: [String]
    public init(apps: [AppReport], notes: [String] = []) {
        self.apps = apps
        self.notes = notes
    }
}

public struct AppList: Codable, Equatable, Sendable {
    public var apps: [AppReport]
    public init(apps: [AppReport]) { self.apps = apps }
}

public struct InstalledList: Codable, Equatable, Sendable {
    public var apps: [InstalledReport]
    /// Desktop entries that could not be read, a sentence each.
    public var problems: [String]
    public init(apps: [InstalledReport], problems: [String] = []) {
        self.apps = apps
        self.problems = problems
    }
}

public struct CategoryReport: Codable, Equatable, Sendable {
    public var name: String
    public var apps: [String]
    public var schedule: String?
    public init(name: String, apps: [String], schedule: String? = nil) {
        self.name = name
        self.apps = apps
        self.schedule = schedule
    }
}

/// Creates or changes a category; absent fields stay unchanged.
public struct SetCategoryRequest: Codable, Sendable {
    /// All apps of the category, by id or name; they must be on the list.
    public var apps: [String]?
    /// The schedule's text; "" removes it.
    public var schedule: String?
    public init(apps: [String]? = nil, schedule: String? = nil) {
        self.apps = apps
        self.schedule = schedule
    }
}

public struct CategoryList: Codable, Equatable, Sendable {
    public var categories: [CategoryReport]
    public init(categories: [CategoryReport]) { self.categories = categories }
}
