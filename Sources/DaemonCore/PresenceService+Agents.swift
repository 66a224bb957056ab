import Policy
import WireProtocol

// Desktop agents: they are told what there is and what happens.
extension PresenceService {
    /// News beyond these wait for nobody.
    private static let maximumQueued = 256

    func join(_ peer: ControlPeer, connection: UInt64) async -> AsyncStream<SessionEvent> {
        let (stream, events) = AsyncStream<SessionEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumQueued))
        events.yield(.ready)
        agents[connection] = Agent(peer: peer, events: events)
        await log.setFollowed(true)
        changes.mark()
        return stream
    }

    func leave(connection: UInt64) async {
        agents.removeValue(forKey: connection)?.events.finish()
        await log.setFollowed(!agents.isEmpty)
        changes.mark()
    }

    /// Sends each agent its state where that has changed, and sets the alarms.
    func followChanges() async {
        for await _ in changes.follow() {
            await watchInactivity()
            var states: [UInt32: SessionState] = [:]
            for user in Set(agents.values.map(\.peer.user)) { states[user] = await stateOf?(user) }
            for (connection, agent) in agents {
                guard let state = states[agent.peer.user], state != agent.state else { continue }
                agents[connection]?.state = state
                agent.events.yield(.state(state))
            }
        }
    }

    /// Tells the agents of what is written to the activity log.
    func followLog() async {
        for await events in await log.follow() {
            for event in events {
                guard let notice = await notice(of: event) else { continue }
                for agent in agents.values where Self.concerns(event.user, agent.peer.user) {
                    agent.events.yield(.notice(notice))
                }
            }
        }
    }

    /// What the superuser or nobody in particular did is everybody's news.
    private static func concerns(_ user: UInt32?, _ reader: UInt32) -> Bool {
        user == nil || user == 0 || user == reader
    }

    private func notice(of event: EventReport) async -> Notice? {
        guard let kind = ActivityEvent.Kind(rawValue: event.kind) else { return nil }
        var hasPhoto = false
        let what: Notice.Kind
        switch kind {
        case .launchDenied:
            // Who cancelled the prompt knows it.
            guard event.reason != Reason.cancelled.rawValue else { return nil }
            what = .blocked
        case .readDenied: what = .blocked
        case .passcodeWrong:
            // Where a photo is being taken, its outcome is the news.
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
