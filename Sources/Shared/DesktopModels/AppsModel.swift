public import ControlAPI
import Localization
public import Observation

/// An app as the list shows it: on the list of locked apps, or installed.
public struct AppItem: Equatable, Sendable, Identifiable {
    public var id: String
    public var name: String
    public var icon: String?
    /// Its rules; nil: it is not on the list.
    public var listed: AppReport?
    /// "Locked, except by its schedule", "Unlocked until 14:05"; empty for an app that is not on the list.
    public var stateText: String
    /// Whether it runs now. Only of an app that is not on the list.
    public var isRunning = false

    /// Whether it starts without a prompt although it is on the list.
    public var isOpen: Bool { listed.map { $0.state != .locked } ?? false }
}

/// A category of locked apps.
public struct CategoryItem: Equatable, Sendable, Identifiable {
    /// Its name.
    public var id: String
    /// "2 apps · block mon-fri 22:00-07:00".
    public var text: String
    /// As the control socket has it; nil without one.
    public var schedule: String?
}

/// The apps: those on the list, and those that can be added.
@MainActor @Observable
public final class AppsModel {
    /// On the list, by name, as far as they match the search.
    public private(set) var listed: [AppItem] = []
    /// Those of the other installed apps that run, by name, as far as they match the search.
    public private(set) var running: [AppItem] = []
    /// The rest of the installed apps, by name, as far as they match the search.
    public private(set) var others: [AppItem] = []
    public private(set) var grants = GrantChoice.all(defaultSeconds: 300)
    public private(set) var categories: [CategoryReport] = []
    /// Whether the installed apps are being read for the first time.
    public private(set) var isLoading = false
    /// Words that a name or id has to contain, all of them.
    public var search = "" { didSet { filter() } }
    /// Whether all lists are empty because of the search.
    public var findsNothing: Bool {
        !search.isEmpty && listed.isEmpty && shownCategories.isEmpty && running.isEmpty && others.isEmpty
    }
    /// The categories that match the search.
    public var shownCategories: [CategoryItem] {
        categories.filter { hasAllWords(search, in: $0.name) }.map {
            CategoryItem(id: $0.name, text: text(of: $0), schedule: $0.schedule)
        }
    }
    /// All apps on the list, by name.
    public private(set) var locked: [AppItem] = []

    /// Returns the ids of those of the apps that run.
    public typealias RunningCheck = @Sendable ([InstalledReport]) async -> Set<String>

    private let context: DesktopContext
    @ObservationIgnored private let checkRunning: RunningCheck
    @ObservationIgnored private var all: [AppItem] = []
    @ObservationIgnored private var installed: [InstalledReport] = []

    public init(_ context: DesktopContext, checkRunning: @escaping RunningCheck) {
        self.context = context
        self.checkRunning = checkRunning
    }

    /// Reads everything: the installed apps, the list, categories.
    public func load() async {
        isLoading = installed.isEmpty
        defer { isLoading = false }
        await context.attempt {
            installed = try await context.control.call(\.listInstalled).apps.filter { $0.id != AppSuggestions.own }
            let settings = try await context.control.call(\.settings)
            grants = GrantChoice.all(defaultSeconds: settings.defaultGrantSeconds)
            try await readList()
        }
    }

    /// Reads what changes by itself: states, and what runs. Errors are shown by the overview.
    public func refresh() async { try? await readList() }

    private func readList() async throws {
        let apps = try await context.control.call(\.listApps).apps
        let categories = try await context.control.call(\.listCategories).categories
        if self.categories != categories { self.categories = categories }
        let ids = Set(apps.map(\.id))
        let free = installed.filter { !ids.contains($0.id) }
        let running = await checkRunning(free)
        let items =
            apps.map { app in
                AppItem(
                    id: app.id, name: context.appName(app.id, app.name), icon: app.icon, listed: app,
                    stateText: stateText(app))
            }
            + free.map { app in
                AppItem(
                    id: app.id, name: context.appName(app.id, app.name), icon: app.icon, listed: nil, stateText: "",
                    isRunning: running.contains(app.id))
            }
        all = items.sorted { ($0.name.lowercased(), $0.id) < ($1.name.lowercased(), $1.id) }
        let locked = all.filter { $0.listed != nil }
        if self.locked != locked { self.locked = locked }
        filter()
    }

    /// The app of this id; nil if it was removed.
    public func item(_ id: String) -> AppItem? { all.first { $0.id == id } }

    private func filter() {
        let found = all.filter { hasAllWords(search, in: "\($0.name) \($0.id)") }
        let (listed, free) = (found.filter { $0.listed != nil }, found.filter { $0.listed == nil })
        let (running, others) = (free.filter(\.isRunning), free.filter { !$0.isRunning })
        if self.listed != listed { self.listed = listed }
        if self.running != running { self.running = running }
        if self.others != others { self.others = others }
    }

    private func text(of category: CategoryReport) -> String {
        let count = category.apps.count
        let apps = localized(count, one: "\(count) app", other: "\(count) apps")
        return [apps, category.schedule.map(localizedSchedule)].compactMap(\.self).joined(separator: " · ")
    }

    private func stateText(_ app: AppReport) -> String {
        var parts: [String]
        switch app.state {
        case .locked:
            let schedule = app.schedule.map(localizedSchedule)
            parts = [schedule.map { schedule in localized("Locked now · \(schedule)") } ?? localized("Locked")]
        case .unlocked:
            let end = app.unlockedForSeconds.map { context.time.text(context.time.wallClock() + Double($0)) }
            parts = [
                end.map { time in localized("Unlocked until \(time)") } ?? localized("Unlocked until it is locked")
            ]
        case .outsideSchedule: parts = [localized("Unlocked by its schedule")]
        case .monitoringOff: parts = [localized("Not locked: monitoring is off")]
        }
        if app.hasOwnPasscode { parts.append(localized("own passcode")) }
        parts += app.categories
        return parts.joined(separator: " · ")
    }
}

// What the user does with them.
extension AppsModel {
    /// Adds an app to the list. Where instances are frozen or closed, it asks for the passcode also while a session is
    /// open: any program of the user can press the window's buttons.
    ///
    /// - Parameters:
    ///   - app: an id, or the absolute path of an executable.
    ///   - running: what happens to its instances that run now, as `AddAppRequest` has it.
    public func add(_ app: String, running: String? = nil) async {
        let name = item(app)?.name ?? app
        await context.attempt {
            let title = localized("Lock \(name)")
            let request: @MainActor (_ token: String) async throws -> AppsChanged = { [context] token in
                try await context.control.call(\.addApp, token: token, body: AddAppRequest(app: app, running: running))
            }
            let changed =
                try await running == nil
                ? context.session.perform(title, request) : context.session.performAsking(title, request)
            let locked = changed.apps.first.map { context.appName($0.id, $0.name) } ?? name
            context.announce(localizedNote(changed.notes) ?? localized("\(locked) is locked."))
        }
        await refresh()
    }

    /// Adds what was dropped on the window.
    ///
    /// - Parameter paths: of desktop entries and executables, absolute.
    public func add(dropped paths: [String]) async {
        for path in paths {
            let file = path.split(separator: "/").last.map(String.init) ?? path
            await add(file.hasSuffix(".desktop") ? String(file.dropLast(8)) : path)
        }
    }

    public func remove(_ app: String) async {
        let name = item(app)?.name ?? app
        await context.attempt {
            try await context.session.performAsking(localized("Stop locking \(name)")) { token in
                try await context.control.call(\.removeApp, parameter: app, token: token)
            }
            context.announce(localized("\(name) is no longer locked."))
        }
        await refresh()
    }

    public func lock(_ app: String) async {
        await context.lock(app, name: item(app)?.name ?? app)
        await refresh()
    }

    public func unlock(_ app: String, _ grant: GrantRequest) async {
        guard let item = item(app) else { return }
        await context.attempt {
            let own = item.listed?.hasOwnPasscode == true
            let question = PasscodeQuestion(
                title: localized("Unlock \(item.name)"),
                explanation: localized(own ? "Enter its own passcode, or the owner's." : "Enter the passcode."),
                verb: localized("Unlock"))
            try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.unlock, body: UnlockRequest(apps: [app], grant: grant, passcode: passcode))
            }
        }
        await refresh()
    }

    public func change(_ app: String, _ change: ChangeAppRequest) async {
        let name = item(app)?.name ?? app
        await context.attempt {
            let changed = try await context.session.performAsking(localized("Change \(name)")) { token in
                try await context.control.call(\.changeApp, parameter: app, token: token, body: change)
            }
            context.announce(localizedNote(changed.notes) ?? localized("\(name) is changed."))
        }
        await refresh()
    }

    /// Puts an app into a category, which is created if it does not exist, or removes it from there.
    public func setCategory(_ category: String, of app: String, contains: Bool) async {
        let members = categories.first { $0.name == category }?.apps ?? []
        guard members.contains(app) != contains else { return }
        await change(category, SetCategoryRequest(apps: contains ? members + [app] : members.filter { $0 != app }))
    }

    /// - Parameter text: as the control socket has it; "" removes the schedule.
    public func setSchedule(_ text: String, ofCategory category: String) async {
        await change(category, SetCategoryRequest(schedule: text))
    }

    private func change(_ category: String, _ change: SetCategoryRequest) async {
        await context.attempt {
            try await context.session.performAsking(localized("Change \(category)")) { token in
                _ = try await context.control.call(
                    \.setCategory, parameter: category, token: token, body: change)
            }
            context.announce(localized("\(category) is changed."))
        }
        await refresh()
    }

    /// Its apps stay on the list.
    public func removeCategory(_ category: String) async {
        await context.attempt {
            try await context.session.performAsking(localized("Remove the category \(category)")) { token in
                _ = try await context.control.call(\.removeCategory, parameter: category, token: token)
            }
            context.announce(localized("The category \(category) is removed."))
        }
        await refresh()
    }
}
