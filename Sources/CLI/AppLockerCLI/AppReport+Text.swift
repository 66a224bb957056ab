import ControlAPI

extension AppReport {
    /// The app's state in one or two words.
    var stateText: String {
        switch state {
        case .locked: return "locked"
        case .unlocked:
            return unlockedForSeconds.map { "unlocked, \(TimeText.spoken(seconds: $0)) left" }
                ?? "unlocked until it is locked"
        case .outsideSchedule: return "unlocked by schedule"
        case .monitoringOff: return "unlocked, monitoring is off"
        }
    }

    func lines(_ paint: Paint) -> [String] {
        var lines = [paint.strong("\(name.terminalSafe) (\(id.terminalSafe)): \(stateText)")]
        func add(_ title: String, _ texts: [String]) {
            guard !texts.isEmpty else { return }
            lines.append("  \(title): \(texts.map(\.terminalSafe).joined(separator: ", "))")
        }
        add("schedule", [schedule ?? "always locked"])
        add("categories", categories)
        add("passcode", [hasOwnPasscode ? "its own, or the owner's" : "the owner's"])
        add("when a grant ends", [onGrantEnd])
        add("executables", executables)
        add("private directories", privateDirectories)
        add("also locked, because they share an executable", sharedWith)
        return lines
    }
}

enum AppTable {
    static func lines(_ apps: [AppReport], _ paint: Paint) -> [String] {
        guard !apps.isEmpty else { return ["No app is on the list. Lock one with `applocker lock APP`."] }
        var table = Table(["STATE", "NAME", "APP ID", "SCHEDULE"])
        for app in apps { table.add([app.stateText, app.name, app.id, app.schedule ?? "always"]) }
        return table.lines(paint) { index, row in
            apps[index].state == .locked ? row : paint.warning(row)
        }
    }

    /// The installed apps, with a mark in front of those on the list.
    ///
    /// - Parameter none: what is shown instead of no app; nil: that none was found.
    static func lines(_ installed: InstalledList, _ paint: Paint, none: String? = nil) -> [String] {
        var table = Table(["", "NAME", "APP ID", "KIND"])
        for app in installed.apps { table.add([mark(app), app.name, app.id, app.kind]) }
        var lines = table.lines(paint) { index, row in installed.apps[index].isListed ? paint.strong(row) : row }
        if installed.apps.isEmpty { lines.append(none ?? "No installed app was found.") }
        if installed.apps.contains(where: \.isListed) { lines += ["", "L locked, o on the list and unlocked now"] }
        return lines + installed.problems.map { paint.warning("Skipped: \($0.terminalSafe)") }
    }

    private static func mark(_ app: InstalledReport) -> String {
        guard app.isListed else { return "" }
        return app.state == nil || app.state == .locked ? "L" : "o"
    }
}
