public import ControlAPI
import Foundation
public import Policy

// The list of apps as it is shown to people.
extension AppService {
    public func reports() -> [AppReport] { stored.policy.apps.keys.sorted().map { report($0) } }

    public func report(_ id: AppID) -> AppReport {
        let now = time.now()
        let app = stored.policy.apps[id]
        let resolved = stored.resolved[id]
        return AppReport(
            id: id.rawValue, name: app?.name ?? id.rawValue, icon: resolved?.icon, state: state(of: id, at: now),
            unlockedForSeconds: stored.policy.validGrant(for: id, at: now)?.remaining(at: now)?.wholeSecondsRoundedUp,
            schedule: app?.schedule.map(ScheduleText.print),
            categories: stored.policy.categories.values.filter { $0.apps.contains(id) }.map(\.name).sorted(),
            hasOwnPasscode: app?.hasOwnPasscode ?? false, onGrantEnd: (app?.onGrantEnd ?? .keep).rawValue,
            executables: resolved?.executables ?? [], privateDirectories: resolved?.privateDirectories ?? [],
            sharedWith: resolved?.sharedWith ?? [])
    }

    private func state(of id: AppID, at now: Moment) -> AppReport.State {
        let policy = stored.policy
        if policy.isMonitoringOff(at: now) { return .monitoringOff }
        if !policy.isLockedBySchedule(id, at: now.civil) { return .outsideSchedule }
        return policy.isGuarded(id, at: now) ? .locked : .unlocked
    }

    public func installed(user: UInt32) async -> InstalledList {
        let (apps, problems) = await resolver.installed(user: user)
        let now = time.now()
        var reports = apps.map { app in
            let isListed = stored.policy.apps[app.id] != nil
            return InstalledReport(
                id: app.id.rawValue, name: app.name, icon: app.icon, kind: app.kind, isListed: isListed,
                state: isListed ? state(of: app.id, at: now) : nil, executables: app.executables)
        }
        let found = Set(apps.map(\.id))
        for id in stored.policy.apps.keys.sorted() where !found.contains(id) {
            reports.append(
                InstalledReport(
                    id: id.rawValue, name: name(of: id), icon: stored.resolved[id]?.icon,
                    kind: stored.resolved[id]?.kind ?? "executable", isListed: true, state: state(of: id, at: now),
                    executables: stored.resolved[id]?.executables ?? []))
        }
        return InstalledList(apps: reports, problems: problems)
    }

    public func categories() -> [CategoryReport] {
        stored.policy.categories.values.sorted { $0.name < $1.name }.map { category in
            CategoryReport(
                name: category.name,
                // An earlier version left removed apps in their categories.
                apps: category.apps.filter { stored.policy.apps[$0] != nil }.map(\.rawValue).sorted(),
                schedule: category.schedule.map(ScheduleText.print))
        }
    }

    public func settings() -> SettingsReport {
        let settings = stored.policy.settings
        return SettingsReport(
            promptTimeoutSeconds: settings.promptTimeout.wholeSecondsRoundedUp,
            phoneTimeoutSeconds: settings.phoneTimeout.wholeSecondsRoundedUp,
            defaultGrantSeconds: settings.defaultGrant.wholeSecondsRoundedUp, holdsRoot: settings.holdsRoot,
            asksPhoneAlone: settings.asksPhoneAlone)
    }

    /// The scope of a requested grant.
    ///
    /// - Throws: `ControlError` with `badRequest`.
    func scope(_ grant: GrantRequest) throws -> GrantScope {
        let scope: GrantScope =
            switch grant.kind {
            case .thisLaunch: .thisLaunch
            case .untilLocked: .untilLocked
            case .duration:
                if let seconds = grant.seconds {
                    .duration(.seconds(seconds))
                } else {
                    .duration(.seconds(settings().defaultGrantSeconds))
                }
            }
        try ControlError.converting { try scope.validate() }
        return scope
    }

    public func monitoring() -> MonitoringState {
        let now = time.now()
        guard stored.policy.isMonitoringOff(at: now), case .off(_, let until, _, _) = stored.policy.monitoring else {
            return MonitoringState(isOn: true)
        }
        return MonitoringState(isOn: false, endsInSeconds: until.map { ($0 - now.elapsed).wholeSecondsRoundedUp })
    }

    /// Finds an app on the list by id, by name, or by one of its executables.
    ///
    /// - Throws: `ControlError` with `noSuchApp` or `ambiguousApp`.
    public func listed(_ reference: String) throws -> AppID {
        let wanted = reference.hasSuffix(".desktop") ? String(reference.dropLast(".desktop".count)) : reference
        if let id = AppID(rawValue: wanted), stored.policy.apps[id] != nil { return id }
        let matches = stored.policy.apps.values.filter { app in
            app.name.lowercased() == wanted.lowercased()
                || stored.resolved[app.id]?.executables.contains(reference) == true
        }
        switch matches.count {
        case 1: return matches[0].id
        case 0:
            throw ControlError(
                .noSuchApp, "\"\(reference)\" is not on the list. `applocker apps` shows what can be locked.")
        default:
            throw ControlError(
                .ambiguousApp,
                "\"\(reference)\" matches \(matches.map(\.id.rawValue).sorted().joined(separator: ", ")); name one of these."
            )
        }
    }
}

/// Schedules as people write them: "block mon-fri 22:00-07:00", "allow weekends 10:00-18:00", "template school-night",
/// and "" for none.
enum ScheduleText {
    /// - Throws: `ControlError` with `badRequest`.
    static func parse(_ text: String) throws -> Schedule? {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard let first = words.first else { return nil }
        let rest = words.count > 1 ? words[1] : ""
        switch first {
        case "block": return try ControlError.converting { try Schedule(mode: .blockInside, text: rest) }
        case "allow": return try ControlError.converting { try Schedule(mode: .allowOnlyInside, text: rest) }
        case "template":
            guard let template = Schedule.template(named: rest) else {
                let names = Schedule.templates.map(\.name).joined(separator: ", ")
                throw ControlError(.badRequest, "There is no schedule template \"\(rest)\"; there are \(names).")
            }
            return template.schedule
        default:
            throw ControlError(
                .badRequest,
                "A schedule begins with \"block\", \"allow\" or \"template\", as in \"block mon-fri 22:00-07:00\".")
        }
    }

    static func print(_ schedule: Schedule) -> String {
        "\(schedule.mode == .blockInside ? "block" : "allow") \(schedule.text)"
    }
}
