import ControlAPI

extension StatusReport {
    /// The status for people: protection first, then problems, then counts.
    func lines(_ paint: Paint) -> [String] {
        var lines = [headline(paint)]
        lines += alarms.map { paint.alarm("DEGRADED: \($0.terminalSafe)") }
        if !monitoring.isOn {
            lines.append(
                monitoring.endsInSeconds.map { "Monitoring turns on again in \(TimeText.spoken(seconds: $0))." }
                    ?? "Turn monitoring on again with `applocker monitoring on`.")
        }
        if !isSetUp { lines.append(paint.warning("No passcode yet: run `applocker setup`.")) }
        lines.append("")
        lines.append("Apps           \(lockedApps) locked, \(unlockedApps) unlocked now")
        lines.append("Waiting        \(waitingText)")
        lines.append("Your prompter  \(prompterText(paint))")
        lines.append("Lockout        \(lockoutText(paint))")
        lines.append("Processes      \(processText)")
        return lines
    }

    private func headline(_ paint: Paint) -> String {
        let name = "AppLocker \(version.terminalSafe)"
        guard monitoring.isOn else { return paint.alarm("\(name): monitoring is OFF") }
        return switch protection {
        case .held where degraded.isEmpty: paint.good("\(name): protected, launches are held by the kernel")
        case .held: paint.warning("\(name): launches are held by the kernel, with exceptions")
        case .weak: paint.alarm("\(name): WEAK MODE")
        case .gateAway: paint.alarm("\(name): the gate is not running")
        }
    }

    /// The problems, a sentence each: the daemon's, and those that other fields show.
    var alarms: [String] {
        guard degraded.isEmpty else { return degraded }
        var alarms: [String] = []
        switch protection {
        case .held: break
        case .weak: alarms.append("Weak mode: locked apps are detected and stopped only after they start.")
        case .gateAway: alarms.append("The gate is not running; it is being restarted.")
        }
        if !monitoring.isOn { alarms.append("Monitoring is off: every app starts without a prompt.") }
        return alarms
    }

    private var waitingText: String {
        let launches = "\(waitingLaunches) \(waitingLaunches == 1 ? "launch" : "launches")"
        guard let seconds = waitingEndsInSeconds else { return launches }
        let first = waitingLaunches == 1 ? "it" : "the first"
        return "\(launches); without an answer \(first) is denied in \(TimeText.spoken(seconds: seconds))"
    }

    private func prompterText(_ paint: Paint) -> String {
        if prompterConnected { return "connected" }
        if phoneIsAsked == true { return "not connected: prompts go to a paired phone only" }
        guard monitoring.isOn else { return "not connected" }
        return paint.warning(
            "not connected: your launches of locked apps are denied at once (start `applocker prompt`)")
    }

    private func lockoutText(_ paint: Paint) -> String {
        guard lockout.remainingSeconds == 0 else {
            return paint.alarm(
                "locked out for \(TimeText.spoken(seconds: lockout.remainingSeconds)) "
                    + "(\(lockout.failures) wrong in a row)")
        }
        return lockout.failures == 0 ? "none" : "none, \(lockout.failures) wrong in a row"
    }

    private var processText: String {
        processes.isEmpty
            ? "none known" : processes.map { "\($0.name.terminalSafe) \($0.pid)" }.joined(separator: ", ")
    }
}
