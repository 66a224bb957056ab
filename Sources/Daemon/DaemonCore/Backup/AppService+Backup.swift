import ControlAPI
import Policy
import Sync

// The list of apps as a backup contains it.
extension AppService {
    func backupSettings(privacy: PrivacySettings) -> BackupSettings {
        let settings = settings()
        return BackupSettings(
            apps: stored.policy.apps.values.sorted { $0.id < $1.id }.map { app in
                BackupSettings.App(
                    id: app.id.rawValue, name: app.name, executables: stored.resolved[app.id]?.executables ?? [],
                    schedule: app.schedule.map(ScheduleText.print), onGrantEnd: app.onGrantEnd.rawValue)
            },
            categories: categories().map { .init(name: $0.name, apps: $0.apps, schedule: $0.schedule) },
            promptTimeoutSeconds: settings.promptTimeoutSeconds, phoneTimeoutSeconds: settings.phoneTimeoutSeconds,
            defaultGrantSeconds: settings.defaultGrantSeconds, holdsRoot: settings.holdsRoot,
            asksPhoneAlone: settings.asksPhoneAlone, privacy: privacy)
    }

    /// Imports a backup's list, in one transaction with the rest of the import.
    ///
    /// - Parameter change: the rest of the import; nil only reports what would change.
    /// - Returns: the apps that are removed from the list.
    @discardableResult
    func importSettings(
        _ backup: BackupSettings, _ mode: ImportRequest.Mode, user: UInt32, with change: StateChange?,
        report: inout ImportReport
    ) async throws -> [AppID] {
        var found: [(app: BackupSettings.App, resolved: ResolvedApp)] = []
        for app in backup.apps {
            if let resolved = await resolve(app, user: user) {
                found.append((app, resolved))
            } else {
                report.notes.append("\(app.name) (\(app.id)) is not installed here and was skipped.")
            }
        }
        // Maps the backup's app ids to those of this computer.
        let ids = Dictionary(found.map { ($0.app.id, $0.resolved.id) }, uniquingKeysWith: { first, _ in first })
        var result = report
        var removed: [AppID] = []
        try await self.change(with: change) { stored in
            let before = stored.policy.apps
            if mode == .replace {
                for id in before.keys where !found.contains(where: { $0.resolved.id == id }) {
                    try stored.policy.remove(id)
                    stored.resolved[id] = nil
                    stored.former[id] = nil
                    removed.append(id)
                    result.appsRemoved.append(before[id]?.name ?? id.rawValue)
                }
            }
            for (app, resolved) in found {
                var locked = LockedApp(id: resolved.id, name: resolved.name)
                locked.schedule = try app.schedule.flatMap { try ScheduleText.parse($0) }
                locked.onGrantEnd = InstanceAction(rawValue: app.onGrantEnd) ?? .keep
                if let present = before[resolved.id] {
                    locked.hasOwnPasscode = present.hasOwnPasscode
                    guard mode == .replace, locked != present else { continue }
                    try stored.policy.change(resolved.id) { $0 = locked }
                    result.appsChanged.append(resolved.name)
                } else {
                    stored.policy.add(locked)
                    stored.resolved[resolved.id] = resolved
                    result.appsAdded.append(resolved.name)
                }
            }
            try Self.importCategories(backup, mode, ids: ids, into: &stored.policy)
            if mode == .replace {
                try stored.policy.changeSettings { settings in
                    if let seconds = backup.promptTimeoutSeconds { settings.promptTimeout = .seconds(seconds) }
                    if let seconds = backup.phoneTimeoutSeconds { settings.phoneTimeout = .seconds(seconds) }
                    if let seconds = backup.defaultGrantSeconds { settings.defaultGrant = .seconds(seconds) }
                    if let holdsRoot = backup.holdsRoot { settings.holdsRoot = holdsRoot }
                    if let asks = backup.asksPhoneAlone { settings.asksPhoneAlone = asks }
                }
            }
        }
        result.appsAdded.sort()
        result.appsChanged.sort()
        result.appsRemoved.sort()
        report = result
        if change != nil { configureGate() }
        return removed
    }

    private static func importCategories(
        _ backup: BackupSettings, _ mode: ImportRequest.Mode, ids: [String: AppID], into policy: inout LockPolicy
    ) throws {
        if mode == .replace {
            for name in policy.categories.keys where !backup.categories.contains(where: { $0.name == name }) {
                try policy.removeCategory(named: name)
            }
        }
        for group in backup.categories {
            let apps = Set(group.apps.compactMap { ids[$0] ?? AppID(rawValue: $0) }.filter { policy.apps[$0] != nil })
            var category = try policy.categories[group.name] ?? Category(name: group.name)
            let isNew = policy.categories[group.name] == nil
            category.apps = mode == .replace ? apps : category.apps.union(apps)
            if isNew || mode == .replace {
                category.schedule = try group.schedule.flatMap { try ScheduleText.parse($0) }
            }
            policy.setCategory(category)
        }
    }

    /// Looks an app up by id, by executable, and by name, because its id may differ on another computer.
    private func resolve(_ app: BackupSettings.App, user: UInt32) async -> ResolvedApp? {
        if let id = AppID(rawValue: app.id), let known = stored.resolved[id] { return known }
        for reference in [app.id] + app.executables + [app.name] {
            if let resolved = try? await resolver.resolve(reference, user: user) { return resolved }
        }
        return nil
    }
}
