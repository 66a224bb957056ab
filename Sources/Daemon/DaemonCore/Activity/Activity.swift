import ControlAPI
public import Policy
public import SealedFormats
import Sync

/// An event that the activity log records.
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
        case vaultOpened = "vault_opened"
        case vaultLocked = "vault_locked"
        case recoveryMade = "recovery_made"
        case recoveryUsed = "recovery_used"
        case backupExported = "backup_exported"
        case backupImported = "backup_imported"
        case intruderPhotographed = "intruder_photographed"
        case intruderMissed = "intruder_missed"
        case relocked
        case started
        case stopped
        case hubConnected = "hub_connected"
        case hubDisconnected = "hub_disconnected"
        case hubMisbehaved = "hub_misbehaved"
        case devicePaired = "device_paired"
        case deviceRevoked = "device_revoked"
        case deviceRenamed = "device_renamed"
        case changesRestored = "changes_restored"
        case remoteCommand = "remote_command"
    }

    public var time: Double
    public var kind: Kind
    public var app: AppID?
    public var user: UInt32?
    public var process: Int32?
    public var path: String?
    public var reason: String?
    public var sentence: String
    /// The record of the photo that was taken. It is not written to the log.
    var photo: ItemID?

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

/// Writes the activity log after the decisions: a launch is answered first and recorded afterwards. One transaction
/// writes many events.
public actor ActivityLog {
    /// The most events that wait for the disk. Further ones are only counted, and the count is written.
    static let maximumPending = 4_096

    private let store: any ActivityStore
    private let time: any TimeSource
    private var repeats = RepeatedEvents()
    /// Writes the numbers of the events that were counted instead of written one by one.
    private var counting: Task<Void, Never>?
    private var pending: [ActivityEvent] = []
    private var lost = 0
    /// Callers that wait for the next batch to be written.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// Writes until nothing is pending.
    private var writer: Task<Void, Never>?
    private var follower: AsyncStream<[EventReport]>.Continuation?
    private var isFollowed = false
    private var observer: AsyncStream<ActivityEvent>.Continuation?

    public init(store: any ActivityStore, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    /// Returns when the event is on disk, or lost because it can't be written. It is never dropped for lack of space: a
    /// user who floods the log must not keep important events out of it.
    public func append(
        _ kind: ActivityEvent.Kind, app: AppID? = nil, user: UInt32? = nil, process: Int32? = nil,
        path: String? = nil, reason: Reason? = nil, photo: ItemID? = nil, _ sentence: String
    ) async {
        var event = ActivityEvent(
            time: time.wallClock(), kind: kind, app: app, user: user, process: process, path: path,
            reason: reason?.rawValue, sentence: sentence)
        event.photo = photo
        await append([event])
    }

    /// Appends one event for each of these apps.
    func append(_ kind: ActivityEvent.Kind, user: UInt32?, of apps: [(id: AppID, sentence: String)]) async {
        await append(
            apps.map {
                ActivityEvent(time: time.wallClock(), kind: kind, app: $0.id, user: user, sentence: $0.sentence)
            })
    }

    private func append(_ events: [ActivityEvent]) async {
        pending += events
        for event in events { observer?.yield(event) }
        startWriter()
        await withCheckedContinuation { waiters.append($0) }
    }

    /// Queues the event and returns. It is for events that anybody can cause in any number, so that no answer waits for
    /// the disk. Of many alike events the first are written, and the number of the others.
    public func enqueue(
        _ kind: ActivityEvent.Kind, app: AppID? = nil, user: UInt32? = nil, process: Int32? = nil,
        path: String? = nil, reason: Reason? = nil, _ sentence: String
    ) {
        let event = ActivityEvent(
            time: time.wallClock(), kind: kind, app: app, user: user, process: process, path: path,
            reason: reason?.rawValue, sentence: sentence)
        guard repeats.isToBeWritten(event, at: time.elapsed()) else { return countLater() }
        admit(event)
    }

    /// Counts an event that another queue had no room for.
    func leaveOut() {
        lost += 1
        startWriter()
    }

    private func admit(_ event: ActivityEvent) {
        if pending.count < Self.maximumPending {
            pending.append(event)
            observer?.yield(event)
        } else {
            lost += 1
        }
        startWriter()
    }

    private func countLater() {
        guard counting == nil else { return }
        counting = Task { [time, end = time.elapsed() + RepeatedEvents.window] in
            _ = try? await time.sleep(until: end)
            writeCounts()
        }
    }

    private func writeCounts() {
        counting = nil
        for event in repeats.takeCounts(at: time.elapsed(), wallClock: time.wallClock()) { admit(event) }
    }

    /// The events that are written from now on, in order, while `setFollowed(true)` is in force. For one reader.
    func follow() -> AsyncStream<[EventReport]> {
        let (stream, continuation) = AsyncStream<[EventReport]>.makeStream(bufferingPolicy: .bufferingNewest(64))
        follower = continuation
        return stream
    }

    /// Events from now on, as they happen and before they are on disk. For one reader. If it falls behind by more than
    /// 4,096 events, the newest are dropped.
    func observe() -> AsyncStream<ActivityEvent> {
        let (stream, continuation) = AsyncStream<ActivityEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumPending))
        observer = continuation
        return stream
    }

    func setFollowed(_ isFollowed: Bool) { self.isFollowed = isFollowed }

    private func startWriter() {
        if writer == nil { writer = Task { await write() } }
    }

    /// Returns when everything recorded so far is written.
    public func flush() async {
        writeCounts()
        await writer?.value
    }

    /// Returns when every event that was queued before this call is on disk, or lost.
    func drain() async { await append([]) }

    private func write() async {
        while !pending.isEmpty || !waiters.isEmpty {
            var batch = pending
            let waitersOfBatch = waiters
            pending.removeAll(keepingCapacity: true)
            waiters = []
            if lost > 0 {
                batch.append(
                    ActivityEvent(
                        time: time.wallClock(), kind: .eventsLost,
                        sentence: "\(lost) events arrived faster than they could be written and were dropped."))
            }
            let counted = lost
            do {
                try await store.append(batch)
                lost -= counted
            } catch {
                lost += batch.count - (counted > 0 ? 1 : 0)
            }
            for waiter in waitersOfBatch { waiter.resume() }
            if isFollowed, let follower, !batch.isEmpty,
                let written = try? await store.events(after: 0, limit: batch.count, app: nil)
            {
                follower.yield(written)
            }
        }
        writer = nil
    }
}
