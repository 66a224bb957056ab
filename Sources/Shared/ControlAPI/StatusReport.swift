/// AppLocker's state, as any logged-in user may read it.
public struct StatusReport: Codable, Equatable, Sendable {
    public enum Protection: String, CaseIterable, Codable, Sendable {
        /// The kernel holds launches before their first instruction.
        case held
        /// Weak mode: a locked app is noticed after it started, and stopped.
        case weak
        /// The gate is not running: the kernel holds launches of marked files, and the next gate denies them.
        case gateAway = "gate_away"
    }

    public var version: String
    public var isSetUp: Bool
    public var protection: Protection
    /// Warnings, one sentence for each thing that weakens the protection.
    public var degraded: [String]
    public var monitoring: MonitoringState
    public var lockedApps: Int
    /// Apps on the list that are open right now (a grant, or outside their schedule).
    public var unlockedApps: Int
    public var waitingLaunches: Int
    /// Until the first waiting launch is denied; nil if none waits, and for other devices.
    public var waitingEndsInSeconds: Int?
    /// True while a prompter of the caller's user is connected, so that a launch of theirs can cause a prompt.
    public var prompterConnected: Bool
    /// Without a prompter a launch waits for a paired phone's answer; nil from versions that don't report it.
    public var phoneIsAsked: Bool?
    /// Ids of apps on the list that can start without a prompt, because files of theirs could not be guarded.
    public var unguardedApps: [String]
    public var lockout: LockoutState
    /// Of the caller's own sessions.
    public var inactivity: InactivityReport
    public var processes: [ProcessReport]

    public init(
        version: String, isSetUp: Bool, protection: Protection, degraded: [String], monitoring: MonitoringState,
        lockedApps: Int, unlockedApps: Int, waitingLaunches: Int, waitingEndsInSeconds: Int? = nil,
        prompterConnected: Bool, lockout: LockoutState,
        inactivity: InactivityReport = InactivityReport(limitSeconds: 600, source: .none, isArmed: false),
        processes: [ProcessReport], phoneIsAsked: Bool? = nil, unguardedApps: [String] = []
    ) {
        self.unguardedApps = unguardedApps
        self.phoneIsAsked = phoneIsAsked
        self.version = version
        self.isSetUp = isSetUp
        self.protection = protection
        self.degraded = degraded
        self.monitoring = monitoring
        self.lockedApps = lockedApps
        self.unlockedApps = unlockedApps
        self.waitingLaunches = waitingLaunches
        self.waitingEndsInSeconds = waitingEndsInSeconds
        self.prompterConnected = prompterConnected
        self.lockout = lockout
        self.inactivity = inactivity
        self.processes = processes
    }
}

/// What inactivity does.
public struct InactivityReport: Codable, Equatable, Sendable {
    /// After so long without input everything is locked.
    public var limitSeconds: Int
    /// How it is measured; with `none` inactivity locks nothing.
    public var source: IdleReport.Source
    /// Whether something is open that inactivity would lock.
    public var isArmed: Bool
    public init(limitSeconds: Int, source: IdleReport.Source, isArmed: Bool) {
        self.limitSeconds = limitSeconds
        self.source = source
        self.isArmed = isArmed
    }
}

/// One of AppLocker's own processes.
public struct ProcessReport: Codable, Equatable, Sendable {
    /// "applockerd" or "applocker-gate".
    public var name: String
    public var pid: Int32
    public init(name: String, pid: Int32) {
        self.name = name
        self.pid = pid
    }
}

public struct MonitoringState: Codable, Equatable, Sendable {
    public var isOn: Bool
    /// Seconds until monitoring turns itself on again; nil when it is on, or off without a limit.
    public var endsInSeconds: Int?
    public init(isOn: Bool, endsInSeconds: Int? = nil) {
        self.isOn = isOn
        self.endsInSeconds = endsInSeconds
    }
}

public struct LockoutState: Codable, Equatable, Sendable {
    public var failures: Int
    /// Seconds until the next passcode is looked at; 0 when one may be tried now.
    public var remainingSeconds: Int
    public init(failures: Int, remainingSeconds: Int) {
        self.failures = failures
        self.remainingSeconds = remainingSeconds
    }
}
