import ControlAPI
import Policy

/// Desktop agents: each receives the state of its user when that changes, and notices of events.
actor AgentService {
    private struct Agent {
        var peer: ControlPeer
        var events: AsyncStream<SessionEvent>.Continuation
        /// The state that was last sent.
        var state: SessionState?
    }

    /// The most events that wait for an agent; a slower one misses further events.
    private static let maximumQueued = 256

    private let presence: PresenceService
    private let status: StatusReader
    private let apps: AppService
    private let passcodes: PasscodeService
    private let vault: VaultService
    private let changes: StateChanges
    private let log: ActivityLog
    private let events: AsyncStream<DaemonEvent>
    /// By connection.
    private var agents: [UInt64: Agent] = [:]

    init(
        presence: PresenceService, status: StatusReader, apps: AppService, passcodes: PasscodeService,
        vault: VaultService, changes: StateChanges, log: ActivityLog, events: DaemonEvents
    ) {
        self.events = events.subscribe()
        self.presence = presence
        self.status = status
        self.apps = apps
        self.passcodes = passcodes
        self.vault = vault
        self.changes = changes
        self.log = log
    }

    func join(_ peer: ControlPeer, connection: UInt64) async -> AsyncStream<SessionEvent> {
        let (stream, events) = AsyncStream<SessionEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumQueued))
        events.yield(.ready)
        agents[connection] = Agent(peer: peer, events: events)
        await log.setFollowed(true)
        await presence.agentJoined(peer, connection: connection)
        let sent = await apps.sentClosingWarnings()
        for warning in sent where Self.concerns(warning.closing.user, peer.user) {
            events.yield(.closing(Self.notice(of: warning.closing, name: warning.name, left: warning.left)))
        }
        // A withdrawal since then may have overtaken its warning.
        let still = Set(await apps.sentClosingWarnings().map(\.closing))
        for (closing, _, _) in sent where !still.contains(closing) && Self.concerns(closing.user, peer.user) {
            events.yield(.closingWithdrawn(app: closing.app.rawValue))
        }
        return stream
    }

    func leave(connection: UInt64) async {
        agents.removeValue(forKey: connection)?.events.finish()
        await log.setFollowed(!agents.isEmpty)
        await presence.agentLeft(connection: connection)
    }

    /// Sends each agent its state where that has changed, for as long as the daemon runs.
    func followChanges() async {
        for await _ in changes.follow() {
            var states: [UInt32: SessionState] = [:]
            for user in Set(agents.values.map(\.peer.user)) { states[user] = await status.sessionState(of: user) }
            for (connection, agent) in agents {
                guard let state = states[agent.peer.user], state != agent.state else { continue }
                agents[connection]?.state = state
                agent.events.yield(.state(state))
            }
        }
    }

    /// Sends agents notices of what is written to the activity log.
    func followLog() async {
        for await events in await log.follow() {
            for event in events {
                guard let notice = await notice(of: event) else { continue }
                send(.notice(notice), of: event.user)
            }
        }
    }

    /// Warns the agents of users whose apps are closed soon.
    func followEvents() async {
        for await event in events {
            switch event {
            case .closingSoon(let closing, let name, let left):
                send(.closing(Self.notice(of: closing, name: name, left: left)), of: closing.user)
            case .closingWithdrawn(let closing):
                send(.closingWithdrawn(app: closing.app.rawValue), of: closing.user)
            default: continue
            }
        }
    }

    private func send(_ event: SessionEvent, of user: UInt32?) {
        for agent in agents.values where Self.concerns(user, agent.peer.user) { agent.events.yield(event) }
    }

    private static func notice(of closing: Closing, name: String, left: Duration) -> ClosingNotice {
        ClosingNotice(app: closing.app.rawValue, appName: name, secondsLeft: left.wholeSecondsRoundedUp)
    }

    /// Events of the superuser, or of no user, concern everybody.
    private static func concerns(_ user: UInt32?, _ reader: UInt32) -> Bool {
        user == nil || user == 0 || user == reader
    }

    private func notice(of event: EventReport) async -> Notice? {
        guard let kind = ActivityEvent.Kind(rawValue: event.kind) else { return nil }
        var hasPhoto = false
        let what: Notice.Kind
        switch kind {
        case .launchDenied:
            // The user who cancelled the prompt needs no notice.
            guard event.reason != Reason.cancelled.rawValue else { return nil }
            what = .blocked
        case .readDenied: what = .blocked
        case .passcodeWrong:
            // If a photo is taken, the notice follows with its outcome.
            let first = await vault.settings.photographsFromFailure
            let failures = await passcodes.lockoutState(of: event.user ?? 0).failures
            guard first == 0 || failures < first else { return nil }
            what = .wrongPasscode
        case .intruderPhotographed, .intruderMissed:
            hasPhoto = kind == .intruderPhotographed
            what = .wrongPasscode
        case .unlocked, .vaultOpened: what = .unlocked
        case .locked, .grantEnded, .vaultLocked, .relocked: what = .relocked
        case .gateAway, .marksMissing, .eventsLost, .monitoringOff: what = .degraded
        default: return nil
        }
        var name: String?
        if let app = event.app.flatMap({ AppID(rawValue: $0) }) { name = await apps.name(of: app) }
        return Notice(
            kind: what, app: event.app, appName: name, sentence: event.sentence, hasPhoto: hasPhoto,
            number: event.number)
    }
}
