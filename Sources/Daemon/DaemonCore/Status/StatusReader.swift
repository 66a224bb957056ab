import ControlAPI
import Policy
import Sync

/// The status that every logged-in user may read, combined from all services for the command line, desktop agents and
/// other devices.
struct StatusReader: Sendable {
    let apps: AppService
    let passcodes: PasscodeService
    let launches: LaunchService
    let presence: PresenceService
    let vault: VaultService
    let sync: SyncEngine
    let authorizer: LaunchAuthorizer
    let version: String
    /// The user the daemon runs as.
    let ownUser: UInt32
    let ownProcess: Int32

    func status(of peer: ControlPeer) async -> StatusReport {
        let reports = await apps.reports()
        let open = reports.filter { $0.state != .locked }.count
        let gate = await apps.gateState
        let monitoring = await apps.monitoring()
        var degraded: [String] = []
        let protection: StatusReport.Protection
        switch gate {
        case .held: protection = .held
        case .weak(let reason):
            protection = .weak
            degraded.append("Weak mode: \(reason)")
        case .away:
            protection = .gateAway
            degraded.append(await apps.gateAwaySentence)
        }
        if !monitoring.isOn { degraded.append("Monitoring is off: nothing is locked.") }
        let unguarded = await apps.unguardedApps
        for id in unguarded { degraded.append(await apps.unguardedSentence(id)) }
        for id in await apps.appsWithMissingMarks {
            degraded.append("Some files of \(id) are not guarded; see `applocker log`.")
        }
        if monitoring.isOn, !reports.isEmpty, !authorizer.canAsk(peer.user) {
            degraded.append(
                "No prompter is connected for you: launches of your locked apps are denied. Start `applocker prompt`.")
        }
        if let problem = await presence.signalsProblem {
            degraded.append(problem)
        }
        let inactivity = InactivityReport(
            limitSeconds: await presence.settings.inactivitySeconds, source: await presence.source(for: peer.user),
            isArmed: await presence.isArmed(peer.user))
        if inactivity.source == .none, !reports.isEmpty || inactivity.isArmed {
            degraded.append("Idle time can't be measured, so inactivity won't lock your apps.")
        }
        if await !sync.protocolViolations.isEmpty {
            degraded.append("The hub can't be trusted: it returned invalid data. See `applocker hub status`.")
        }
        var processes = [ProcessReport(name: "applockerd", pid: ownProcess)]
        if let process = await apps.gateProcess {
            processes.append(ProcessReport(name: "applocker-gate", pid: process))
        }
        return StatusReport(
            version: version, isSetUp: await passcodes.isSetUp, protection: protection, degraded: degraded,
            monitoring: monitoring, lockedApps: reports.count - open, unlockedApps: open,
            waitingLaunches: await launches.waitingCount, waitingEndsInSeconds: await launches.secondsUntilTimeout,
            prompterConnected: authorizer.hasPrompter(peer.user), lockout: await passcodes.lockoutState(of: peer.user),
            inactivity: inactivity,
            processes: processes, phoneIsAsked: authorizer.phoneCanAnswer, unguardedApps: unguarded.map(\.rawValue))
    }

    /// The status for other devices of the household, as a user with a connected prompter sees it.
    func statusForOtherDevices() async -> StatusReport {
        var report = await status(of: ControlPeer(user: await viewer(), process: 0))
        // A countdown is no change: each launch has its own record.
        report.waitingEndsInSeconds = nil
        return report
    }

    /// The user whose view other devices get: one with a connected prompter, else one who added apps to the list.
    func viewer() async -> UInt32 {
        if let user = authorizer.snapshot.promptedUsers.min() { return user }
        return await apps.stored.resolved.values.map(\.user).filter { $0 > 0 }.min() ?? ownUser
    }

    /// The state that a user's desktop agents show.
    func sessionState(of user: UInt32) async -> SessionState {
        let status = await status(of: ControlPeer(user: user, process: 0))
        let vaultIsOpen = await vault.lastUse(by: user) != nil
        let settings = await presence.settings
        let isOpen = status.unlockedApps > 0 || vaultIsOpen
        return SessionState(
            protection: !status.degraded.isEmpty ? .degraded : isOpen ? .unlocked : .locked,
            unlockedApps: status.unlockedApps, vaultIsOpen: vaultIsOpen, monitoringIsOn: status.monitoring.isOn,
            degraded: status.degraded,
            inactivity: .init(limitSeconds: status.inactivity.limitSeconds, isArmed: status.inactivity.isArmed),
            clipboardSeconds: settings.clipboardSeconds, locksOnCapture: settings.locksOnCapture)
    }
}
