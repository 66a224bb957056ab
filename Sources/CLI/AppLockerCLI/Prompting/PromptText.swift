import ControlAPI

enum PromptText {
    /// "bash wants to start Firefox (/usr/bin/firefox-esr)." and the details.
    static func heading(_ report: PromptReport, othersWaiting: Int) -> [String] {
        let who = report.parentName.map { $0.terminalSafe } ?? "A program"
        var lines = ["", "\(who) wants to start \(report.name.terminalSafe) (\(report.path.terminalSafe))."]
        if report.startsAgain {
            lines.append("The desktop made this launch; it is repeated after the correct passcode.")
        }
        if report.hasOwnPasscode { lines.append("This app has its own passcode; the owner's unlocks it too.") }
        if othersWaiting > 0 {
            lines.append("\(othersWaiting) more \(othersWaiting == 1 ? "launch waits" : "launches wait").")
        }
        return lines
    }

    static func question(secondsLeft: Int, lockoutSecondsLeft: Int) -> String {
        if lockoutSecondsLeft > 0 {
            return "Locked out for \(TimeText.spoken(seconds: lockoutSecondsLeft)), "
                + "the launch waits \(secondsLeft) s. Passcode (empty denies): "
        }
        return "Passcode (\(secondsLeft) s left, empty denies): "
    }

    static func lengthQuestion(_ report: PromptReport, secondsLeft: Int) -> String {
        let length = TimeText.spoken(seconds: report.defaultGrantSeconds)
        return "For how long? (\(secondsLeft) s left) [Enter] \(length), o this launch only, u until locked: "
    }
}
