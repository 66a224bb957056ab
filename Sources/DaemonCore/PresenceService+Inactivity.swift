import Policy
import WireProtocol

// Inactivity. A desktop agent tells of it where there is one; the system's own hint stands in for it.
extension PresenceService {
    /// A desktop agent's word on how it tells inactivity, and on how long there was none.
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
        let times = await [apps.lastGrant(of: user), vault.lastUse(by: user), sessions.lastUse(by: user)]
        return times.compactMap { $0 }.max()
    }

    /// What tells a user's inactivity. Of a user without a session (the superuser over the command line) it is what
    /// tells everybody's, the weakest.
    func source(for user: UInt32) -> IdleReport.Source {
        let users = Set(agents.values.map(\.peer.user)).union(known.values.map(\.user))
        if users.contains(user) { return ownSource(of: user) }
        let sources = users.map { ownSource(of: $0) }
        return sources.contains(.none) ? .none : sources.first ?? .none
    }

    private func ownSource(of user: UInt32) -> IdleReport.Source {
        let told = agents.values.filter { $0.peer.user == user }.compactMap(\.source).first { $0 != .none }
        if let told { return told }
        let sessions = known.values.filter { $0.user == user }
        return !sessions.isEmpty && sessions.allSatisfy(\.isKnown) ? .logind : .none
    }

    // MARK: The system's hint

    /// Sets the alarm of each user whose sessions are all idle and who has something open; clears the others'.
    func watchInactivity() async {
        for user in Set(known.values.map(\.user)).union(watches.keys) {
            guard let due = await due(user) else {
                watches.removeValue(forKey: user)?.task.cancel()
                continue
            }
            guard watches[user]?.due != due else { continue }
            watches.removeValue(forKey: user)?.task.cancel()
            let wait = due - time.now().elapsed
            guard wait > .zero else {
                await lockForInactivity(user)
                continue
            }
            let task = Task { [time] in
                do { try await time.sleep(for: wait) } catch { return }
                await alarm(user)
            }
            watches[user] = (due, task)
        }
    }

    private func alarm(_ user: UInt32) async {
        guard !Task.isCancelled else { return }
        watches[user] = nil
        guard let due = await due(user) else { return }
        if due <= time.now().elapsed { await lockForInactivity(user) } else { changes.mark() }
    }

    /// When everything of this user is to be locked, since boot; nil while somebody is there, nothing is open, or an
    /// agent tells better.
    private func due(_ user: UInt32) async -> Duration? {
        let agent = agents.values.filter { $0.peer.user == user }.compactMap(\.source)
        guard !agent.contains(where: { $0 == .mutter || $0 == .xscreensaver }) else { return nil }
        let sessions = known.values.filter { $0.user == user }
        let idle = sessions.compactMap(\.idleSince)
        guard !idle.isEmpty, idle.count == sessions.count, sessions.allSatisfy(\.isKnown), let last = idle.max() else {
            return nil
        }
        // What was opened from elsewhere meanwhile has the whole time to itself.
        guard let opened = await lastOpening(of: user) else { return nil }
        return max(last, opened) + .seconds(settings.inactivitySeconds)
    }

    private func lockForInactivity(_ user: UInt32) async {
        await relock(user, .inactivity, "nobody touched the computer for \(settings.inactivitySeconds) seconds")
    }
}
