import ControlAPI
import Localization
public import Observation

/// The first run: five steps, of which only the passcode is needed.
@MainActor @Observable
public final class FirstRunModel {
    public enum Step: Int, CaseIterable, Sendable {
        case passcode, apps, absence, phone, recovery, done

        public var canBeSkipped: Bool { self != .passcode && self != .done }
    }

    /// An app in the grid.
    public struct Choice: Equatable, Sendable, Identifiable {
        public var id: String
        public var name: String
        public var icon: String?
        public var isSuggested: Bool
        public var isChosen: Bool
    }

    public private(set) var step = Step.passcode
    /// Why the passcode was not accepted; empty if it was.
    public private(set) var refusal = ""
    public private(set) var isWorking = false
    /// Suggested apps first, by name, as far as they match the search.
    public private(set) var choices: [Choice] = []
    public var search = "" { didSet { filter() } }
    /// How many apps are chosen, also those that the search hides.
    public private(set) var chosenCount = 0
    /// An app to try at the end; nil: none was locked.
    public private(set) var trial: Choice?

    public let settings: SettingsModel
    public let devices: DevicesModel
    public let recovery: RecoveryModel
    private let context: DesktopContext
    @ObservationIgnored private var all: [Choice] = []
    /// Sets the first passcode where only an administrator may; nil where that is impossible.
    @ObservationIgnored public var setUpAsAdministrator: ((String) async throws -> Void)?

    public init(_ context: DesktopContext, settings: SettingsModel, devices: DevicesModel, recovery: RecoveryModel) {
        self.context = context
        self.settings = settings
        self.devices = devices
        self.recovery = recovery
    }

    /// Begins with the first step, also after everything was erased.
    public func begin() {
        (step, refusal, search, trial, all, chosenCount) = (.passcode, "", "", nil, [], 0)
        filter()
        recovery.forget()
    }

    /// Sets the first passcode and opens a management session with it, so that the next steps don't ask for it again.
    public func choose(passcode: String, repeated: String) async {
        guard !isWorking else { return }
        let strength = PasscodeStrength(passcode)
        guard strength.isAccepted else {
            refusal = strength.sentence
            return
        }
        guard passcode == repeated else {
            refusal = localized("The two passcodes differ. Type them again.")
            return
        }
        isWorking = true
        defer { isWorking = false }
        do {
            try await setUp(passcode)
            try await context.session.open(with: passcode)
            refusal = ""
            await show(.apps)
        } catch is CancellationError {
        } catch {
            refusal = sentence(error)
        }
    }

    private func setUp(_ passcode: String) async throws {
        do {
            try await context.control.call(\.setUp, body: SetUpRequest(passcode: passcode))
        } catch let error as ControlError where error.code == .notYours {
            guard let setUpAsAdministrator else { throw error }
            try await setUpAsAdministrator(passcode)
        }
    }

    public func toggle(_ id: String) {
        guard let index = all.firstIndex(where: { $0.id == id }) else { return }
        all[index].isChosen.toggle()
        chosenCount = all.count { $0.isChosen }
        filter()
    }

    /// Does what the step offers, and shows the next one.
    public func next() async {
        guard !isWorking else { return }
        isWorking = true
        defer { isWorking = false }
        if step == .apps, !(await lockChosen()) { return }
        await skip()
    }

    /// Shows the next step without doing anything.
    public func skip() async {
        guard step.canBeSkipped, let next = Step(rawValue: step.rawValue + 1) else { return }
        await devices.pairing.cancel()
        recovery.close()
        await show(next)
    }

    private func show(_ step: Step) async {
        switch step {
        case .apps: await loadApps()
        case .absence: await settings.load()
        case .phone: await devices.load()
        case .passcode, .recovery, .done: break
        }
        self.step = step
    }

    private func loadApps() async {
        await context.attempt {
            let installed = try await context.control.call(\.listInstalled).apps
            all = installed.filter { $0.id != AppSuggestions.own }.map { app in
                Choice(
                    id: app.id, name: context.appName(app.id, app.name), icon: app.icon,
                    isSuggested: AppSuggestions.contains(app.id), isChosen: false)
            }.sorted { ($0.isSuggested ? 0 : 1, $0.name.lowercased()) < ($1.isSuggested ? 0 : 1, $1.name.lowercased()) }
            filter()
        }
    }

    /// - Returns: false if the user cancelled the passcode dialog.
    private func lockChosen() async -> Bool {
        let chosen = all.filter(\.isChosen)
        guard !chosen.isEmpty else { return true }
        let title = localized(chosen.count, one: "Lock \(chosen.count) app", other: "Lock \(chosen.count) apps")
        let refused: [String]? = await context.attempt {
            try await context.session.perform(title) { token in
                var refused: [String] = []
                for app in chosen {
                    do {
                        try await context.control.call(\.addApp, token: token, body: AddAppRequest(app: app.id))
                    } catch let error as ControlError where error.code != .sessionNeeded {
                        refused.append(localized(written: error.message))
                    }
                }
                return refused
            }
        }
        guard let refused else { return false }
        trial = chosen.first
        if let sentence = refused.first { context.announce(sentence) }
        return true
    }

    private func filter() {
        let found = all.filter { hasAllWords(search, in: "\($0.name) \($0.id)") }
        if found != choices { choices = found }
    }
}
