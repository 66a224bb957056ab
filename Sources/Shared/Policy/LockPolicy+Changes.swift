// The list of apps, the categories and the settings.
extension LockPolicy {
    /// Adds the app to the list, or replaces its entry.
    /// - Returns: the entry it replaced.
    @discardableResult
    public mutating func add(_ app: LockedApp) -> LockedApp? { apps.updateValue(app, forKey: app.id) }

    /// Removes the app from the list and from its categories, and its grant.
    /// - Throws: `PolicyError` with code `noSuchApp`.
    @discardableResult
    public mutating func remove(_ id: AppID) throws(PolicyError) -> (app: LockedApp, ended: EndedGrant?) {
        let app = try listed(id)
        let ended = endGrant(of: id, .appRemoved)
        apps[id] = nil
        for name in categories.keys { categories[name]?.apps.remove(id) }
        return (app, ended)
    }

    /// Changes an app's entry.
    /// - Throws: `PolicyError` with code `noSuchApp`.
    public mutating func change(_ id: AppID, _ body: (inout LockedApp) -> Void) throws(PolicyError) {
        var app = try listed(id)
        body(&app)
        apps[id] = app
    }

    /// Makes a category, or replaces the one of the same name.
    /// - Returns: the one it replaced.
    @discardableResult
    public mutating func setCategory(_ category: Category) -> Category? {
        categories.updateValue(category, forKey: category.name)
    }

    /// - Throws: `PolicyError` with code `noSuchCategory`.
    @discardableResult
    public mutating func removeCategory(named name: String) throws(PolicyError) -> Category {
        guard let category = categories.removeValue(forKey: name) else {
            throw PolicyError(.noSuchCategory, "There is no category named \(String(reflecting: name)).")
        }
        return category
    }

    /// - Throws: `PolicyError` with code `invalidSetting`.
    public mutating func changeSettings(_ body: (inout Settings) -> Void) throws(PolicyError) {
        var changed = settings
        body(&changed)
        try changed.validate()
        settings = changed
    }

    func listed(_ id: AppID) throws(PolicyError) -> LockedApp {
        guard let app = apps[id] else {
            throw PolicyError(.noSuchApp, "\(id) is not on the list of locked apps; add it first.")
        }
        return app
    }
}

// Grants.
extension LockPolicy {
    /// Gives every named app a grant from now on, in place of one it may have.
    /// - Parameter user: whose presence it needs; nil for any user's.
    /// - Throws: `PolicyError` with code `noSuchApp` or `invalidDuration`.
    @discardableResult
    public mutating func unlock(
        _ ids: some Sequence<AppID>, scope: GrantScope, at moment: Moment, user: UInt32? = nil
    ) throws(PolicyError) -> [Grant] {
        try scope.validate()
        var given: [Grant] = []
        for id in Set(ids).sorted() {
            _ = try listed(id)
            let lifetime: Duration? =
                switch scope {
                case .duration(let duration): duration
                case .thisLaunch: settings.defaultGrant
                case .untilLocked: nil
                }
            given.append(
                Grant(
                    app: id, scope: scope, boot: moment.boot, startedAt: moment.elapsed,
                    expiresAt: lifetime.map { moment.elapsed + $0 }, user: user))
        }
        for grant in given { grants[grant.app] = grant }
        return given
    }

    /// Ends the grants of the named apps, so that their next start is held.
    /// - Parameter user: whose grants end; nil for all users'.
    /// - Throws: `PolicyError` with code `noSuchApp`.
    @discardableResult
    public mutating func lock(
        _ ids: some Sequence<AppID>, of user: UInt32? = nil
    ) throws(PolicyError) -> [EndedGrant] {
        let ids = Set(ids).sorted()
        for id in ids { _ = try listed(id) }
        return ids.filter { user == nil || grants[$0]?.user == user }.compactMap { endGrant(of: $0, .locked) }
    }

    /// Ends every grant.
    @discardableResult
    public mutating func endGrants(_ reason: GrantEndReason) -> [EndedGrant] {
        grants.keys.sorted().compactMap { endGrant(of: $0, reason) }
    }

    /// Ends the grants that need this user's presence.
    @discardableResult
    public mutating func endGrants(of user: UInt32, _ reason: GrantEndReason) -> [EndedGrant] {
        grants.values.filter { $0.concerns(user) }.map(\.app).sorted().compactMap { endGrant(of: $0, reason) }
    }

    /// Drops the grants that hold no longer: run out, or of another boot.
    @discardableResult
    public mutating func endExpiredGrants(at moment: Moment) -> [EndedGrant] {
        grants.values.filter { !$0.isValid(at: moment) }.map(\.app).sorted().compactMap { endGrant(of: $0, .expired) }
    }

    /// Decides, and uses up a grant for one launch when that is what lets the launch through.
    public mutating func admit(_ facts: LaunchFacts, at moment: Moment) -> Decision {
        let decision = decide(facts, at: moment)
        if decision.reason == .grantedOnce { _ = endGrant(of: facts.app, .launchUsed) }
        return decision
    }

    private mutating func endGrant(of id: AppID, _ reason: GrantEndReason) -> EndedGrant? {
        grants.removeValue(forKey: id).map {
            EndedGrant(grant: $0, reason: reason, action: apps[id]?.onGrantEnd ?? .keep)
        }
    }
}

// Monitoring.
extension LockPolicy {
    /// Stops guarding anything, for a time or until it is turned on. A new boot turns it on again.
    /// - Throws: `PolicyError` with code `invalidDuration` unless the time is more than zero.
    public mutating func turnMonitoringOff(
        for duration: Duration?, at moment: Moment, by user: UInt32? = nil
    ) throws(PolicyError) {
        if let duration, duration <= .zero {
            throw PolicyError(
                .invalidDuration, "Monitoring can be off for 1 second or longer, not for \(duration.text).")
        }
        monitoring = .off(
            since: moment.elapsed, until: duration.map { moment.elapsed + $0 }, boot: moment.boot, user: user)
    }

    /// - Parameter user: whose pause ends; nil for any user's.
    /// - Returns: false if it is another user's pause, which continues.
    @discardableResult
    public mutating func turnMonitoringOn(for user: UInt32? = nil) -> Bool {
        if let user, case .off(_, _, _, let other) = monitoring, other != user { return false }
        monitoring = .on
        return true
    }

    /// Sets `monitoring` to `.on` when its time off is over or was in another boot.
    /// - Returns: whether it did.
    @discardableResult
    public mutating func endMonitoringPause(at moment: Moment) -> Bool {
        guard monitoring != .on, !isMonitoringOff(at: moment) else { return false }
        monitoring = .on
        return true
    }
}
