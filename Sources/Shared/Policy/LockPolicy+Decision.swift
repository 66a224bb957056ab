extension LockPolicy {
    /// What to answer to a launch. An answer `.grantedOnce` uses a grant up: `admit` does both.
    public func decide(_ facts: LaunchFacts, at moment: Moment) -> Decision {
        guard apps[facts.app] != nil else { return Decision(verdict: .allow, reason: .notLocked) }
        if isMonitoringOff(at: moment) { return Decision(verdict: .allow, reason: .monitoringOff) }
        if !isLockedBySchedule(facts.app, at: moment.civil) {
            return Decision(verdict: .allow, reason: .outsideSchedule)
        }
        if let grant = validGrant(for: facts.app, at: moment) {
            return Decision(verdict: .allow, reason: grant.scope == .thisLaunch ? .grantedOnce : .granted)
        }
        if facts.isRoot && !settings.holdsRoot { return Decision(verdict: .allow, reason: .rootExempt) }
        if !facts.phoneReceivesPrompts, case .lockedOut = facts.lockout.status(at: moment) {
            return Decision(verdict: .deny, reason: .lockedOut)
        }
        if facts.waitingForUser >= settings.maximumWaitingPerUser {
            return Decision(verdict: .deny, reason: .tooManyWaiting)
        }
        if !facts.hasPrompter { return Decision(verdict: .deny, reason: .nobodyToAsk) }
        return Decision(verdict: .ask, reason: .locked)
    }

    /// Whether the kernel's marks must be in place for the app, so that a start of it is held.
    public func isGuarded(_ app: AppID, at moment: Moment) -> Bool {
        guard apps[app] != nil, !isMonitoringOff(at: moment), isLockedBySchedule(app, at: moment.civil) else {
            return false
        }
        guard let grant = validGrant(for: app, at: moment) else { return true }
        return grant.scope == .thisLaunch
    }

    /// How long the daemon may sleep: the time until the first grant lapses, schedule changes or monitoring returns.
    /// Nil when nothing will change by itself.
    ///
    /// - Parameter longestCivilWait: local time can jump without a word (daylight saving alone can bring an edge an hour
    ///   nearer), so where a schedule counts the wait is never longer than this.
    public func nextTransition(after moment: Moment, longestCivilWait: Duration = .seconds(60)) -> Duration? {
        var waits: [Duration] = []
        if case .off(_, let until?, _, _) = monitoring, isMonitoringOff(at: moment) {
            waits.append(until - moment.elapsed)
        }
        for app in apps.keys {
            if let expiresAt = validGrant(for: app, at: moment)?.expiresAt { waits.append(expiresAt - moment.elapsed) }
            for schedule in schedules(of: app) {
                guard let change = schedule?.nextChange(after: moment.civil) else { continue }
                waits.append(min(change, longestCivilWait))
            }
        }
        return waits.min()
    }

    /// The app's grant, if it has one that still holds.
    public func validGrant(for app: AppID, at moment: Moment) -> Grant? {
        grants[app].flatMap { $0.isValid(at: moment) ? $0 : nil }
    }

    public func isMonitoringOff(at moment: Moment) -> Bool {
        guard case .off(let since, let until, let boot, _) = monitoring else { return false }
        return moment.boot == boot && moment.elapsed >= since && (until.map { moment.elapsed < $0 } ?? true)
    }

    /// Whether the app's schedule, or else any of its categories', locks it at that local time. Without any: always.
    public func isLockedBySchedule(_ app: AppID, at time: CivilTime) -> Bool {
        schedules(of: app).contains { $0?.locks(at: time) ?? true }
    }

    /// The schedules of which any one locks the app; nil stands for "always". Never empty.
    private func schedules(of app: AppID) -> [Schedule?] {
        if let own = apps[app]?.schedule { return [own] }
        let ofCategories = categories.values.filter { $0.apps.contains(app) }.map(\.schedule)
        return ofCategories.isEmpty ? [nil] : ofCategories
    }
}
