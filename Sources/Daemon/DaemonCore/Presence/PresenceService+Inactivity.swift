import ControlAPI
import Policy
import Sync

// Inactivity, as reported by a desktop agent or, without one, by the system's idle hint.
extension PresenceService {
    /// Receives a desktop agent's report: how it measures inactivity, and how long the user has been idle.
    ///
    /// - Throws: `ControlError` with `badRequest`.
    func report(_ report: IdleReport, by peer: ControlPeer) async throws {
        guard report.idleSeconds >= 0 else {
            throw ControlError(.badRequest, "idleSeconds can't be less than 0.")
        }
        for (connection, agent) in agents where agent.peer == peer { agents[connection]?.source = report.source }
        changes.mark()
        guard report.idleSeconds >= settings.inactivitySeconds, await isArmed(peer.user) else { return }
        await lockForInactivity(peer.user)
    }

    /// Whether something is open that this user's inactivity would lock.
    func isArmed(_ user: UInt32) async -> Bool { await lastOpening(of: user) != nil }

    /// When this user last opened or used something that is still open, since boot; nil where nothing is.
    private func lastOpening(of user: UInt32) async -> Duration? {
        var last: Duration?
        for relockable in relockables {
            guard let time = await relockable.lastUse(by: user) else { continue }
            last = max(last ?? time, time)
        }
        return last
    }

    /// How a user's inactivity is measured. For a user without a session (the superuser on the command line) it is the
    /// weakest source of all users.
    func source(for user: UInt32) -> IdleReport.Source {
        let users = Set(agents.values.map(\.peer.user)).union(known.values.map(\.user))
        if users.contains(user) { return ownSource(of: user) }
        let sources = users.map { ownSource(of: $0) }
        return sources.contains(.none) ? .none : sources.first ?? .none
    }

    private func ownSource(of user: UInt32) -> IdleReport.Source {
        let reported = agents.values.filter { $0.peer.user == user }.compactMap(\.source).first { $0 != .none }
        if let reported { return reported }
        let sessions = known.values.filter { $0.user == user }
        return !sessions.isEmpty && sessions.allSatisfy(\.isKnown) ? .logind : .none
    }

    // MARK: The system's hint

    /// Keeps the alarms up to date for as long as the daemon runs.
    func followInactivity() async {
        for await _ in changes.follow() { await watchInactivity() }
    }

    /// Sets the alarm of each user whose sessions are all idle and who has something open; clears the others'.
    private func watchInactivity() async {
        for user in Set(known.values.map(\.user)).union(watches.keys) {
            guard let due = await due(user) else {
                watches.removeValue(forKey: user)?.task.cancel()
                continue
            }
            guard watches[user]?.due != due else { continue }
            watches.removeValue(forKey: user)?.task.cancel()
            guard due > time.elapsed() else {
                await lockForInactivity(user)
                continue
            }
            let task = Task { [time] in
                do { try await time.sleep(until: due) } catch { return }
                await alarm(user)
            }
            watches[user] = (due, task)
        }
    }

    private func alarm(_ user: UInt32) async {
        guard !Task.isCancelled else { return }
        watches[user] = nil
        guard let due = await due(user) else { return }
        if due <= time.elapsed() { await lockForInactivity(user) } else { changes.mark() }
    }

    /// When everything of this user is to be locked, since boot; nil while the user is active, nothing is open, or an
    /// agent measures inactivity better.
    private func due(_ user: UInt32) async -> Duration? {
        let agent = agents.values.filter { $0.peer.user == user }.compactMap(\.source)
        guard !agent.contains(where: { $0 == .mutter || $0 == .xscreensaver }) else { return nil }
        let sessions = known.values.filter { $0.user == user }
        let idle = sessions.compactMap(\.idleSince)
        guard !idle.isEmpty, idle.count == sessions.count, sessions.allSatisfy(\.isKnown), let last = idle.max() else {
            return nil
        }
        // Something that is opened remotely while the user is idle stays open for the whole period.
        guard let opened = await lastOpening(of: user) else { return nil }
        return max(last, opened) + .seconds(settings.inactivitySeconds)
    }

    private func lockForInactivity(_ user: UInt32) async {
        await relock(.inactivity(user: user, seconds: settings.inactivitySeconds))
    }
}
