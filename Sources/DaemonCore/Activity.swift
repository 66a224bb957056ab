public import Policy

/// Something that happened and that the owner may want to know.
public struct ActivityEvent: Sendable {
    /// The raw values are stored and sent: they never change.
    public enum Kind: String, Sendable, CaseIterable {
        case launchAsked = "launch_asked"
        case launchAllowed = "launch_allowed"
        case launchDenied = "launch_denied"
        case readDenied = "read_denied"
        case passcodeWrong = "passcode_wrong"
        case passcodeChanged = "passcode_changed"
        case setUp = "set_up"
        case unlocked, locked
        case grantEnded = "grant_ended"
        case appAdded = "app_added"
        case appRemoved = "app_removed"
        case appChanged = "app_changed"
        case categoryChanged = "category_changed"
        case settingsChanged = "settings_changed"
        case monitoringOff = "monitoring_off"
        case monitoringOn = "monitoring_on"
        case gateConnected = "gate_connected"
        case gateAway = "gate_away"
        case marksMissing = "marks_missing"
        case eventsLost = "events_lost"
    }

    public var time: Double
    public var kind: Kind
    public var app: AppID?
    public var user: UInt32?
    public var process: Int32?
    public var path: String?
    public var reason: String?
    public var sentence: String

    public init(
        time: Double, kind: Kind, app: AppID? = nil, user: UInt32? = nil, process: Int32? = nil, path: String? = nil,
        reason: String? = nil, sentence: String
    ) {
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

/// Writes the activity log behind the decisions: a launch is answered first and recorded afterwards, many events to a
/// transaction.
public actor ActivityLog {
    /// Events that wait for the disk, at most; beyond it they are counted, and the count is written.
    static let maximumPending = 4_096

    private let store: any ActivityStore
    private let time: any TimeSource
    private var pending: [ActivityEvent] = []
    private var lost = 0
    private var isWriting = false

    public init(store: any ActivityStore, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    public func record(
        _ kind: ActivityEvent.Kind, app: AppID? = nil, user: UInt32? = nil, process: Int32? = nil,
        path: String? = nil, reason: Reason? = nil, _ sentence: String
    ) async {
        guard pending.count < Self.maximumPending else {
            lost += 1
            return
        }
        pending.append(
            ActivityEvent(
                time: time.wallClock(), kind: kind, app: app, user: user, process: process, path: path,
                reason: reason?.rawValue, sentence: sentence))
        await write()
    }

    /// One writer at a time; whoever comes meanwhile leaves its event and goes on.
    private func write() async {
        guard !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        while !pending.isEmpty {
            var batch = pending
            pending.removeAll(keepingCapacity: true)
            if lost > 0 {
                batch.append(
                    ActivityEvent(
                        time: time.wallClock(), kind: .eventsLost,
                        sentence: "\(lost) events came faster than they could be written and were left out."))
                lost = 0
            }
            do {
                try await store.append(batch)
            } catch {
                lost += batch.count
                return
            }
        }
    }
}
