public import ControlAPI
import Localization
public import Observation

/// What the window can do about a problem.
public enum Remedy: Equatable, Sendable {
    case setUp, chooseApps, turnMonitoringOn, startPrompter, startAgent, startService
    /// After the user has confirmed its question.
    case fix(HostFix)

    /// The button.
    public var title: String {
        switch self {
        case .setUp: localized("Set Up")
        case .chooseApps: localized("Choose Apps")
        case .turnMonitoringOn: localized("Turn On")
        case .startPrompter, .startAgent, .startService: localized("Start")
        case .fix: localized("Fix…")
        }
    }
}

/// Whether this computer is protected, in one sentence.
public struct ProtectionSummary: Equatable, Sendable {
    public enum Level: Sendable {
        case good, incomplete, off
    }

    public var level: Level
    public var title: String
    public var detail: String
    public var remedy: Remedy?

    public init(level: Level, title: String, detail: String, remedy: Remedy? = nil) {
        self.level = level
        self.title = title
        self.detail = detail
        self.remedy = remedy
    }
}

/// A reason why the protection is weaker than it should be.
public struct ProtectionProblem: Equatable, Sendable {
    public var sentence: String
    /// What the user can do where there is no remedy.
    public var advice = ""
    public var remedy: Remedy?
}

/// An app that starts without a prompt now.
public struct OpenApp: Equatable, Sendable, Identifiable {
    public var id: String
    public var name: String
    public var icon: String?
    /// "Until 14:05", "Until it is locked".
    public var until: String
    /// Whether it is open by a grant, which "Lock" ends.
    public var canLock: Bool
}

/// A launch that waits for this user's answer.
public struct WaitingLaunch: Equatable, Sendable, Identifiable {
    public var id: String
    public var name: String
    public var icon: String?
    /// "Started by bash. Denied in 35 seconds without an answer."
    public var detail: String

    init(_ prompt: PromptReport, name: String) {
        id = prompt.prompt
        self.name = name
        icon = prompt.icon
        let duration = SpokenDuration.text(seconds: prompt.expiresInSeconds)
        let sentences = [
            prompt.parentName.map { program in localized("Started by \(program).") },
            localized("Denied in \(duration) without an answer."),
        ]
        detail = sentences.compactMap { $0 }.joined(separator: " ")
    }
}

/// The state of the protection, and what is open.
@MainActor @Observable
public final class OverviewModel {
    public private(set) var summary = ProtectionSummary(
        level: .incomplete, title: localized("Connecting…"), detail: localized("AppLocker has not answered yet."))
    public private(set) var problems: [ProtectionProblem] = []
    public private(set) var openApps: [OpenApp] = []
    /// Empty while no launch waits.
    public private(set) var waiting = ""
    public private(set) var waitingLaunches: [WaitingLaunch] = []
    /// Nil until the daemon has answered once.
    public private(set) var isSetUp: Bool?
    public private(set) var hasLockedApps = false
    /// Whether the system has the service, and an administrator can be asked.
    @ObservationIgnored public var canStartService: @MainActor () -> Bool = { false }
    /// Starts the system's service, after the administrator's password.
    @ObservationIgnored public var startService: @MainActor () async throws -> Void = {}
    /// Reads what weakens this computer.
    @ObservationIgnored public var readHost: @Sendable () async -> [HostProblem] = { [] }
    /// Makes a change, after the administrator's password.
    @ObservationIgnored public var fixHost: @MainActor (HostFix) async throws -> Void = { _ in }

    /// Files of the computer change rarely.
    private static let hostPeriod = Duration.seconds(30)
    @ObservationIgnored private var host: [HostProblem] = []
    @ObservationIgnored private var hostRead: Duration?
    /// Whether the daemon answered; the findings depend on it.
    @ObservationIgnored private var isReachable = false
    @ObservationIgnored private var isFixing = false
    private let context: DesktopContext
    private let vault: VaultModel

    public init(_ context: DesktopContext, _ vault: VaultModel) { (self.context, self.vault) = (context, vault) }

    /// Reads the state. While the daemon is unreachable, that is what the summary shows.
    public func refresh() async {
        do {
            let status = try await context.control.call(\.status)
            await refreshHost(isReachable: true)
            let apps = try await context.control.call(\.listApps).apps
            let prompts =
                status.waitingLaunches > 0 ? try await context.control.call(\.waitingPrompts).prompts : []
            show(status, apps)
            update(\.waitingLaunches, prompts.map { WaitingLaunch($0, name: context.appName($0.app, $0.name)) })
        } catch is CancellationError {
        } catch {
            await refreshHost(isReachable: false)
            let summary = Self.unreachable(error, canStart: canStartService())
            update(\.summary, summary)
            // The summary has the service that is stopped.
            update(\.problems, host.filter { summary.remedy == nil || $0.remedy != summary.remedy }.map(\.problem))
            update(\.openApps, [])
            update(\.waiting, "")
            update(\.waitingLaunches, [])
        }
    }

    public func start() async {
        await context.attempt { try await startService() }
        hostRead = nil
        await refresh()
    }

    private func refreshHost(isReachable: Bool) async {
        let now = context.time.uptime()
        let isSame = isReachable == self.isReachable
        self.isReachable = isReachable
        if isSame, let hostRead, now - hostRead < Self.hostPeriod { return }
        hostRead = now
        let found = await readHost()
        // Unless it was read again meanwhile.
        guard hostRead == now else { return }
        host = found.filter(\.weakensProtection) + found.filter { !$0.weakensProtection }
    }

    /// Makes a change of this computer that its question was confirmed for, and announces the result. Nothing happens if
    /// the administrator's dialog is cancelled.
    public func fix(_ fix: HostFix) async {
        guard !isFixing else { return context.announce(localized("Another change is still being made.")) }
        isFixing = true
        defer { isFixing = false }
        let done: Void? = await context.attempt { try await fixHost(fix) }
        hostRead = nil
        await refresh()
        guard done != nil else { return }
        let remaining = host.first { $0.remedy == .fix(fix) }
        context.announce(
            remaining.map { problem in localized("The problem remains: \(problem.sentence)") }
                ?? localized("The problem is fixed."))
    }

    /// Ends everything that is unlocked for this user, and the management session, after saving the note that is
    /// edited. A note names what is unlocked for others.
    public func lockAll() async {
        await vault.saveBeforeLock()
        await context.attempt {
            let changed = try await context.control.call(\.lock, body: LockRequest(all: true))
            context.announce(localizedNote(changed.notes) ?? localized("All apps are locked."))
        }
        await context.session.end()
        await vault.refresh()
        await refresh()
    }

    public func unlockAll(_ grant: GrantRequest) async {
        await context.attempt {
            let question = PasscodeQuestion(
                title: localized("Unlock all apps"),
                explanation: localized("All locked apps will start without a prompt."), verb: localized("Unlock"))
            let changed = try await context.prompt.ask(question) { [control = context.control] passcode in
                try await control.call(\.unlock, body: UnlockRequest(all: true, grant: grant, passcode: passcode))
            }
            context.announce(localizedNote(changed.notes) ?? localized("All apps are unlocked."))
        }
        await refresh()
    }

    public func lock(_ app: String) async {
        await context.lock(app, name: openApps.first { $0.id == app }?.name ?? app)
        await refresh()
    }

    /// Denies a waiting launch now.
    public func deny(_ launch: String) async {
        await context.attempt { try await context.control.call(\.cancelPrompt, parameter: launch) }
        await refresh()
    }

    public func turnMonitoringOn() async {
        await context.attempt {
            try await context.session.perform(localized("Turn monitoring on")) { token in
                try await context.control.call(\.setMonitoring, token: token, body: MonitoringRequest(isOn: true))
            }
            context.announce(localized("Monitoring is on."))
        }
        await refresh()
    }

    private func show(_ status: StatusReport, _ apps: [AppReport]) {
        update(\.isSetUp, status.isSetUp)
        update(\.hasLockedApps, !apps.isEmpty)
        update(\.summary, Self.summary(status, isWeakened: host.contains(where: \.weakensProtection)))
        update(\.problems, Self.problems(status) + host.map(\.problem))
        update(\.openApps, apps.compactMap { openApp($0) })
        update(\.waiting, Self.waiting(status))
    }

    /// Observers run only where the value differs.
    private func update<Value: Equatable>(_ path: ReferenceWritableKeyPath<OverviewModel, Value>, _ value: Value) {
        if self[keyPath: path] != value { self[keyPath: path] = value }
    }

    private func openApp(_ app: AppReport) -> OpenApp? {
        let until: String
        switch app.state {
        case .locked: return nil
        case .unlocked:
            let end = app.unlockedForSeconds.map { context.time.text(context.time.wallClock() + Double($0)) }
            until = end.map { time in localized("Until \(time)") } ?? localized("Until it is locked")
        case .outsideSchedule: until = localized("By its schedule")
        case .monitoringOff: until = localized("Monitoring is off")
        }
        return OpenApp(
            id: app.id, name: context.appName(app.id, app.name), icon: app.icon, until: until,
            canLock: app.state == .unlocked)
    }
}

/// How the sentences begin of which the overview has its own form or a remedy. The daemon's
/// Sources/Daemon/DaemonCore/Status/StatusReader.swift writes them.
private enum DaemonSentence {
    static let monitoringIsOff = "Monitoring is off"
    static let noPrompter = "No prompter is connected"
    static let noIdleTime = "Idle time can't"
}

extension OverviewModel {
    static func unreachable(_ error: any Error, canStart: Bool) -> ProtectionSummary {
        let isStopped = (error as? DaemonUnreachable)?.isStopped == true
        return ProtectionSummary(
            level: .off, title: localized(isStopped ? "AppLocker is not running" : "AppLocker does not answer"),
            detail: sentence(error), remedy: isStopped && canStart ? .startService : nil)
    }

    /// - Parameter isWeakened: by the computer itself.
    static func summary(_ status: StatusReport, isWeakened: Bool = false) -> ProtectionSummary {
        let onList = status.lockedApps + status.unlockedApps
        let apps = apps(locked: status.lockedApps, unlocked: status.unlockedApps)
        guard status.isSetUp else {
            return ProtectionSummary(
                level: .off, title: localized("AppLocker is not set up"),
                detail: localized("Choose a passcode and the apps to lock."), remedy: .setUp)
        }
        guard status.monitoring.isOn else {
            let left = status.monitoring.endsInSeconds.map { SpokenDuration.text(seconds: $0) }
            let end = left.map { duration in localized("Monitoring turns on again in \(duration).") }
            return ProtectionSummary(
                level: .off, title: localized("Not protected: monitoring is off"),
                detail: localized("Every app starts without a prompt.") + " "
                    + (end ?? localized("Monitoring stays off until you turn it on.")),
                remedy: .turnMonitoringOn)
        }
        guard onList > 0 else {
            return ProtectionSummary(
                level: .off, title: localized("No app is locked"),
                detail: localized("Choose the apps that need a passcode."), remedy: .chooseApps)
        }
        switch status.protection {
        case .gateAway:
            return ProtectionSummary(
                level: .off, title: localized("Protection is interrupted"),
                detail: localized("The program that holds launches is not running. It is being restarted."))
        case .weak:
            return ProtectionSummary(
                level: .incomplete, title: localized("Weakly protected"),
                detail: localized("A locked app is stopped only after it has started.") + " " + apps)
        case .held where status.degraded.isEmpty && status.unguardedApps.isEmpty && !isWeakened:
            return ProtectionSummary(
                level: .good, title: localized("Protected"),
                detail: apps + " " + localized("Each launch is held until you enter the passcode."))
        case .held:
            return ProtectionSummary(
                level: .incomplete, title: localized("Protected, with exceptions"), detail: apps)
        }
    }

    private static func apps(locked: Int, unlocked: Int) -> String {
        guard unlocked > 0 else {
            return localized(locked, one: "\(locked) app locked.", other: "\(locked) apps locked.")
        }
        return localized(
            locked, one: "\(locked) app locked, \(unlocked) unlocked now.",
            other: "\(locked) apps locked, \(unlocked) unlocked now.")
    }

    static func problems(_ status: StatusReport) -> [ProtectionProblem] {
        // The summary has monitoring, and the prompter follows with its remedy.
        let shown = status.degraded.filter { sentence in
            ![DaemonSentence.monitoringIsOff, DaemonSentence.noPrompter].contains { sentence.hasPrefix($0) }
        }
        var problems = shown.map { sentence in
            ProtectionProblem(
                sentence: localized(written: sentence),
                remedy: sentence.hasPrefix(DaemonSentence.noIdleTime) ? .startAgent : nil)
        }
        if status.isSetUp, !status.prompterConnected {
            let consequence = localized(
                status.phoneIsAsked == true
                    ? "Only a paired phone can answer." : "Launches of locked apps are denied at once.")
            problems.append(
                ProtectionProblem(
                    sentence: localized("The prompt window is not running.") + " " + consequence,
                    remedy: .startPrompter))
        }
        if status.lockout.remainingSeconds > 0 {
            let wait = SpokenDuration.text(seconds: status.lockout.remainingSeconds)
            let failures = status.lockout.failures
            problems.append(
                ProtectionProblem(
                    sentence: localized(
                        failures, one: "\(failures) wrong passcode: no passcode is accepted for \(wait).",
                        other: "\(failures) wrong passcodes in a row: no passcode is accepted for \(wait).")))
        }
        return problems
    }

    static func waiting(_ status: StatusReport) -> String {
        guard status.waitingLaunches > 0 else { return "" }
        let count = status.waitingLaunches
        let launches = localized(
            count, one: "\(count) launch waits for the passcode.", other: "\(count) launches wait for the passcode.")
        let left = status.waitingEndsInSeconds.map { SpokenDuration.text(seconds: $0) }
        let end = left.map { duration in
            localized(
                count, one: "Without an answer it is denied in \(duration).",
                other: "Without an answer the first is denied in \(duration).")
        }
        return [launches, end].compactMap { $0 }.joined(separator: " ")
    }
}
