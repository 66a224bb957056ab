import ControlAPI
import Policy

// The warning before an app is closed, and more time for it.
extension AppService {
    /// Warns the users whose apps are closed soon, of each end once, and withdraws the warnings that no longer apply: the
    /// app has more time, was locked, or isn't closed any more.
    func warnOfClosings(at now: Moment) {
        let closings = stored.policy.closings(at: now)
        for closing in warnedOf.subtracting(closings) { events.send(.closingWithdrawn(closing)) }
        warnedOf.formIntersection(closings)
        for closing in closings where closing.warnsAt <= now.elapsed && warnedOf.insert(closing).inserted {
            events.send(.closingSoon(closing, name: name(of: closing.app), left: closing.closesAt - now.elapsed))
        }
    }

    /// The warnings that were sent and whose end is still to come, for agents that connect after them.
    func sentClosingWarnings() -> [(closing: Closing, name: String, left: Duration)] {
        let now = time.now()
        return stored.policy.closings(at: now).filter { warnedOf.contains($0) }.map {
            (closing: $0, name: name(of: $0.app), left: $0.closesAt - now.elapsed)
        }
    }

    /// The time until a user is to be warned; nil while no app is going to be closed.
    func nextClosingWarning(after now: Moment) -> Duration? {
        stored.policy.closings(at: now).filter { !warnedOf.contains($0) }.map { $0.warnsAt - now.elapsed }.min()
    }

    /// - Throws: `ControlError` with `badRequest` where an app is not unlocked for a time.
    func requireExtendable(_ ids: Set<AppID>) throws {
        let now = time.now()
        for id in ids.sorted() {
            guard case .duration = stored.policy.validGrant(for: id, at: now)?.scope else { throw notExtendable(id) }
        }
    }

    /// Adds time to the apps' grants. The caller has checked the passcode.
    ///
    /// - Parameters:
    ///   - user: who adds the time. The grants keep their users.
    ///   - generation: from before the passcode was checked.
    /// - Throws: `ControlError` with `badRequest` where an app is not unlocked for a time, and `busy` where everything
    ///   was locked since.
    func extend(_ ids: Set<AppID>, by duration: Duration, user: UInt32, since generation: LockGeneration)
        async throws -> AppsChanged
    {
        let now = time.now()
        try await change { stored in
            try lockGenerations.check(generation)
            for id in ids {
                guard try stored.policy.extend(id, by: duration, at: now) != nil else {
                    throw notExtendable(id)
                }
            }
        }
        for id in ids.sorted() {
            await log.append(
                .unlocked, app: id, user: user, reason: .extended,
                "\(name(of: id)) stays unlocked for another \(duration.text).")
        }
        return AppsChanged(apps: ids.sorted().map { report($0) })
    }

    private func notExtendable(_ id: AppID) -> ControlError {
        ControlError(.badRequest, "\(name(of: id)) is not unlocked for a time; unlock it instead.")
    }
}
