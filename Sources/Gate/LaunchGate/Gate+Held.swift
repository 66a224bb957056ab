import GateProtocol

extension Gate {
    /// Holds a launch until the daemon answers, its process ends or its deadline passes.
    func hold(_ launch: PendingLaunch, watching handle: ProcessHandle, as token: LaunchToken) {
        held.insert(launch, as: token)
        do {
            try poller.add(handle.descriptor.number, .held(token))
        } catch {
            end(token, .processGone)
        }
    }

    /// The daemon's answer. Ignored if the launch has already ended.
    func answer(_ token: LaunchToken, allow: Bool) {
        guard let launch = held.remove(token) else { return }
        switch launch.hold {
        case .event(let event) where allow: self.allow(event, launch.file, of: launch.app)
        case .stopped(let processes) where allow:
            if let first = processes.first { admit(first, to: launch.app) }
            launch.finish(allow: true)
        default:
            launch.finish(allow: false)
            noteDenied(launch)
        }
        leaveStopped(launch)
    }

    func denyOverdue() {
        let now = Timetable.now
        for (token, launch) in held.launches where launch.deadline <= now { end(token, .timedOut) }
    }

    func denyAllHeld() {
        for token in held.launches.keys {
            guard let launch = held.remove(token) else { continue }
            launch.finish(allow: false)
            noteDenied(launch)
        }
    }

    func end(_ token: LaunchToken, _ reason: LaunchEnd) {
        guard let launch = held.remove(token) else { return }
        launch.finish(allow: false)
        noteDenied(launch)
        send(.ended(token, reason))
    }

    private func noteDenied(_ launch: PendingLaunch) {
        guard let start = ProcessFacts.status(launch.process)?.start else { return }
        _ = denied.note(.init(process: launch.process, start: start, file: launch.file))
    }

    /// In the weak mode all processes that were stopped for the launch receive its answer.
    private func leaveStopped(_ launch: PendingLaunch) {
        guard case .stopped(let processes) = launch.hold else { return }
        for process in processes where process.process != launch.process { admit(process, to: launch.app) }
    }
}
