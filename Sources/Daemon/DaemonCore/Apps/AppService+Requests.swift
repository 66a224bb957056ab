public import ControlAPI
import Policy

// Requests to the list of apps.
extension AppService {
    /// Adds an app to the list.
    ///
    /// - Parameters:
    ///   - action: what happens to its instances that run now.
    ///   - viewer: the user in whose catalog the app is looked up; nil: `user`.
    /// - Throws: `ControlError` with `noSuchApp`, `ambiguousApp`, `essential` or `failed`.
    func add(
        _ reference: String, running action: InstanceAction = .keep, user: UInt32, asSeenBy viewer: UInt32? = nil
    ) async throws -> AppsChanged {
        try await add(
            [try await resolver.resolve(reference, user: viewer ?? user)], running: action, user: user)
    }

    /// - Throws: `ControlError` with `badRequest`.
    func add(_ request: AddAppRequest, user: UInt32) async throws -> AppsChanged {
        try await add(request.app, running: try request.running.map(Self.action) ?? .keep, user: user)
    }

    /// Adds all apps, or none if the change can't be written.
    private func add(
        _ apps: [ResolvedApp], running action: InstanceAction = .keep, user: UInt32
    ) async throws -> AppsChanged {
        var (new, notes): ([ResolvedApp], [String]) = ([], [])
        for app in apps where !new.contains(where: { $0.id == app.id }) {
            if stored.policy.apps[app.id] == nil {
                new.append(app)
            } else {
                notes.append("\(app.name) is on the list already.")
            }
        }
        if !new.isEmpty {
            try await change { [new] in
                for app in new {
                    $0.resolved[app.id] = app
                    $0.policy.add(LockedApp(id: app.id, name: app.name))
                }
            }
            await log.append(.appAdded, user: user, of: new.map { ($0.id, "\($0.name) was added to the list.") })
            let left = try await handleInstances(of: new.map(\.id), action)
            notes += left.map { "\(name(of: $0)) is not locked at present, so what runs of it was left as it is." }
        }
        notes += new.filter { !$0.sharedWith.isEmpty }.map {
            "\($0.sharedWith.joined(separator: ", ")) use the same program and are locked too."
        }
        return AppsChanged(apps: Set(apps.map(\.id)).sorted().map { report($0) }, notes: notes)
    }

    public func remove(_ reference: String, user: UInt32) async throws -> AppsChanged {
        let id = try listed(reference)
        let last = report(id)
        try await change {
            try $0.policy.remove(id)
            $0.resolved[id] = nil
            $0.former[id] = nil
        }
        await log.append(.appRemoved, app: id, user: user, "\(last.name) was removed from the list.")
        return AppsChanged(apps: [], notes: ["\(last.name) is no longer locked."])
    }

    /// Ends grants. Without the owner's session a user can end only their own: the end of a grant may close an app that
    /// somebody is working in.
    ///
    /// - Throws: `ControlError` with `sessionNeeded` where an app is not on the list or unlocked for another user, and
    ///   there is no session.
    public func lock(_ request: LockRequest, user: UInt32, mayAdd: Bool) async throws -> AppsChanged {
        let owner = mayAdd || user == 0 ? nil : user
        var ids = request.all ? Set(stored.policy.apps.keys) : []
        var missing: [String] = []
        for reference in request.apps {
            do {
                ids.insert(try listed(reference))
            } catch let error as ControlError where error.code == .noSuchApp {
                missing.append(reference)
            }
        }
        var notes: [String] = []
        if let foreign = ids.sorted().first(where: { isUnlocked($0, forOthersThan: owner) }), !request.all {
            throw ControlError(
                .sessionNeeded,
                "\(name(of: foreign)) was unlocked for another user; locking it needs the owner's passcode.")
        }
        if !missing.isEmpty {
            // Looked up first, so that a misspelt name is reported as such instead of asking for a passcode.
            let apps = try await resolver.resolve(missing, user: user).map { try $0.get() }
            guard mayAdd else {
                throw ControlError(
                    .sessionNeeded, "\(apps[0].name) is not on the list yet; adding it needs the owner's passcode.")
            }
            notes += try await add(apps, user: user).notes
            ids.formUnion(apps.map(\.id))
        }
        let (all, now, before) = (request.all, time.now(), stored.policy)
        try await tighten { policy in
            // "Lock all" also ends a pause of monitoring.
            if all { policy.turnMonitoringOn(for: owner) }
            return try policy.lock(ids, of: owner)
        }
        let foreign = ids.sorted().filter { isUnlocked($0, forOthersThan: owner) }
        if !foreign.isEmpty {
            notes.append(
                "Unlocked for another user and still open: \(foreign.map { name(of: $0) }.joined(separator: ", ")). "
                    + "Lock them by name, with the owner's passcode.")
        }
        if all, stored.policy.isMonitoringOff(at: now) {
            notes.append(
                "Another user turned monitoring off, so nothing is locked; run `applocker monitoring on`.")
        }
        // Without a session, a request that changes nothing is not logged, because anybody can repeat it.
        if owner == nil || stored.policy != before {
            let names = ids.subtracting(foreign).sorted().map { name(of: $0) }
            await log.append(.locked, app: ids.count == 1 ? ids.first : nil, user: user, Self.areLocked(names))
        }
        return AppsChanged(apps: ids.sorted().map { report($0) }, notes: notes)
    }

    /// - Parameter user: nil if everybody's grants may be ended.
    private func isUnlocked(_ id: AppID, forOthersThan user: UInt32?) -> Bool {
        guard let user, let grant = stored.policy.validGrant(for: id, at: time.now()) else { return false }
        return grant.user != user
    }

    /// Unlocks apps. The caller has checked the passcode.
    ///
    /// - Parameters:
    ///   - generation: from before the passcode was checked.
    ///   - reason: of the launch whose answer unlocks them.
    /// - Throws: `ControlError` with `busy` where everything was locked since.
    func unlock(
        _ ids: Set<AppID>, scope: GrantScope, user: UInt32, since generation: LockGeneration? = nil,
        reason: Reason? = nil
    ) async throws -> AppsChanged {
        let now = time.now()
        try await change { stored in
            if let generation { try lockGenerations.check(generation) }
            try stored.policy.unlock(ids, scope: scope, at: now, user: user)
        }
        for id in ids.sorted() {
            // Other scopes remove the marks, and what is frozen continues with that.
            if scope == .thisLaunch { gate.order(.thaw, app: id) }
            await log.append(.unlocked, app: id, user: user, reason: reason, scope.sentence(of: name(of: id)))
        }
        return AppsChanged(apps: ids.sorted().map { report($0) })
    }

    /// Uses up a grant for one launch.
    /// - Returns: false where another launch used it first.
    func admitOnce(_ facts: LaunchFacts) async throws -> Bool {
        let now = time.now()
        return try await change { $0.policy.admit(facts, at: now).verdict == .allow }
    }

    public func changeApp(_ reference: String, _ request: ChangeAppRequest, user: UInt32) async throws -> AppsChanged {
        let id = try listed(reference)
        let (schedule, action) = try Self.rules(request)
        let ownPasscode = request.passcode.map { !$0.isEmpty }
        try await change {
            try $0.policy.change(id) { app in
                if let schedule { app.schedule = schedule }
                if let action { app.onGrantEnd = action }
                if let ownPasscode { app.hasOwnPasscode = ownPasscode }
            }
        }
        await log.append(.appChanged, app: id, user: user, "The rules of \(name(of: id)) were changed.")
        return AppsChanged(apps: [report(id)])
    }

    /// - Throws: `ControlError` with `badRequest` if the request is invalid.
    static func rules(_ request: ChangeAppRequest) throws -> (schedule: Schedule??, action: InstanceAction?) {
        (try request.schedule.map { try ScheduleText.parse($0) }, try request.onGrantEnd.map(action))
    }

    private static func action(_ text: String) throws -> InstanceAction {
        guard let action = InstanceAction(rawValue: text) else {
            throw ControlError(.badRequest, "\"\(text)\" is not one of keep, freeze and close.")
        }
        return action
    }

    public func setCategory(_ name: String, _ request: SetCategoryRequest, user: UInt32) async throws -> CategoryReport
    {
        let apps = try request.apps.map { try Set($0.map { try listed($0) }) }
        let schedule = try request.schedule.map { try ScheduleText.parse($0) }
        try await change { stored in
            var category = try stored.policy.categories[name] ?? Category(name: name)
            if let apps { category.apps = apps }
            if let schedule { category.schedule = schedule }
            stored.policy.setCategory(category)
        }
        await log.append(.categoryChanged, user: user, "The category \(name) was changed.")
        return categories().first { $0.name == name } ?? CategoryReport(name: name, apps: [])
    }

    /// Sets the categories of an app. Categories that do not exist yet are created.
    ///
    /// - Throws: `ControlError` with `noSuchApp`, `ambiguousApp`, `badRequest` or `failed`.
    func setCategories(_ names: [String], of reference: String, user: UInt32) async throws -> AppReport {
        let id = try listed(reference)
        guard names.count <= Self.maximumCategories else {
            throw ControlError(
                .badRequest, "An app can be in \(Self.maximumCategories) categories at most, not in \(names.count).")
        }
        try await change { stored in
            for name in Set(names).union(stored.policy.categories.keys) {
                var category = try stored.policy.categories[name] ?? Category(name: name)
                let isIn = names.contains(name)
                guard category.apps.contains(id) != isIn else { continue }
                if isIn { category.apps.insert(id) } else { category.apps.remove(id) }
                stored.policy.setCategory(category)
            }
            guard stored.policy.categories.count <= Self.maximumCategoriesInAll else {
                throw ControlError(
                    .badRequest,
                    "There can be \(Self.maximumCategoriesInAll) categories at most; remove one with `applocker category`."
                )
            }
        }
        await log.append(.categoryChanged, app: id, user: user, "The categories of \(name(of: id)) were changed.")
        return report(id)
    }

    private static let maximumCategories = 32
    private static let maximumCategoriesInAll = 256

    public func removeCategory(_ name: String, user: UInt32) async throws {
        try await change { try $0.policy.removeCategory(named: name) }
        await log.append(.categoryChanged, user: user, "The category \(name) was removed.")
    }

    public func setMonitoring(_ request: MonitoringRequest, user: UInt32) async throws {
        if request.isOn {
            _ = try await tighten { policy in
                policy.turnMonitoringOn()
                return []
            }
            await log.append(.monitoringOn, user: user, "Monitoring was turned on.")
            return
        }
        if let seconds = request.forSeconds, !MonitoringRequest.allowedSeconds.contains(seconds) {
            throw ControlError(.badRequest, "Monitoring can be off for 60 to 86400 seconds, not \(seconds).")
        }
        let now = time.now()
        try await change {
            try $0.policy.turnMonitoringOff(for: request.forSeconds.map { .seconds($0) }, at: now, by: user)
        }
        await log.append(
            .monitoringOff, user: user,
            request.forSeconds.map { "Monitoring was turned off for \($0) seconds: nothing is locked." }
                ?? "Monitoring was turned off until it is turned on: nothing is locked.")
    }

    public func changeSettings(_ request: ChangeSettingsRequest, user: UInt32) async throws -> SettingsReport {
        try await change { stored in
            try stored.policy.changeSettings { settings in
                if let seconds = request.promptTimeoutSeconds { settings.promptTimeout = .seconds(seconds) }
                if let seconds = request.phoneTimeoutSeconds { settings.phoneTimeout = .seconds(seconds) }
                if let seconds = request.defaultGrantSeconds { settings.defaultGrant = .seconds(seconds) }
                if let holdsRoot = request.holdsRoot { settings.holdsRoot = holdsRoot }
                if let asks = request.asksPhoneAlone { settings.asksPhoneAlone = asks }
            }
        }
        configureGate()
        await log.append(.settingsChanged, user: user, "The settings were changed.")
        return settings()
    }

    private static func areLocked(_ names: [String]) -> String {
        switch names.count {
        case 0: "The list of locked apps is empty."
        case 1: "\(names[0]) is locked."
        default: "\(names.joined(separator: ", ")) are locked."
        }
    }
}
