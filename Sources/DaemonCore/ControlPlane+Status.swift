import Policy
import WireProtocol

// What anybody who is logged in may know.
extension ControlPlane {
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
            degraded.append("Some files of \(id) are not guarded; look at `applocker log`.")
        }
        if !reports.isEmpty, !judge.canAsk(peer.user) {
            degraded.append("No prompt is open for you: your locked apps are denied without a question.")
        }
        if let problem = await presence.signalsProblem {
            degraded.append(problem)
        }
        let inactivity = InactivityReport(
            limitSeconds: await presence.settings.inactivitySeconds, source: await presence.source(for: peer.user),
            isArmed: await presence.isArmed(peer.user))
        if inactivity.source == .none, !reports.isEmpty || inactivity.isArmed {
            degraded.append("Nothing tells whether you are there: inactivity locks nothing of yours.")
        }
        if await !devices.sync.misbehaviour.isEmpty {
            degraded.append("The hub can't be trusted: it served what no honest hub does. See `applocker hub status`.")
        }
        var processes = [ProcessReport(name: "applockerd", pid: ownProcess)]
        if let process = await apps.gateProcess {
            processes.append(ProcessReport(name: "applocker-gate", pid: process))
        }
        return StatusReport(
            version: version, isSetUp: await passcodes.isSetUp, protection: protection, degraded: degraded,
            monitoring: monitoring, lockedApps: reports.count - open, unlockedApps: open,
            waitingLaunches: await launches.waitingCount, prompterConnected: judge.hasPrompter(peer.user),
            lockout: await passcodes.lockoutState(of: peer.user), inactivity: inactivity,
            processes: processes, phoneIsAsked: judge.canAskPhone, unguardedApps: unguarded.map(\.rawValue))
    }

    /// What other devices of the household are told: as whoever has a prompt open sees it.
    func statusForOtherDevices() async -> StatusReport {
        await status(of: ControlPeer(user: await viewer(), process: 0))
    }

    /// Through whose eyes other devices see this computer: whoever has a prompt open, else who put apps on the list.
    func viewer() async -> UInt32 {
        if let user = judge.update({ $0.prompters.keys.min() }) { return user }
        return await apps.stored.resolved.values.map(\.user).filter { $0 > 0 }.min() ?? ownUser
    }

    /// What a user's desktop agents show.
    func sessionState(of user: UInt32) async -> SessionState {
        let status = await status(of: ControlPeer(user: user, process: 0))
        let vaultIsOpen = await sealed.vault.lastUse(by: user) != nil
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
