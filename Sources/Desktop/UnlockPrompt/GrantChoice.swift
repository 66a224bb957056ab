import ControlAPI

/// One entry of "Keep unlocked for".
struct GrantChoice: Equatable {
    var title: String
    var grant: GrantRequest

    /// 1, 5 and 15 minutes, 1 hour and the default of the settings, shortest first; then this launch only, and until I
    /// lock.
    static func all(defaultSeconds: Int, offersThisLaunch: Bool = true) -> [GrantChoice] {
        let durations = Set([60, 300, 900, 3600, defaultSeconds]).sorted()
        let timed = durations.map { GrantChoice(title: title($0), grant: GrantRequest(.duration, seconds: $0)) }
        let once = GrantChoice(title: "This launch only", grant: GrantRequest(.thisLaunch))
        return timed + (offersThisLaunch ? [once] : [])
            + [GrantChoice(title: "Until locked", grant: GrantRequest(.untilLocked))]
    }

    static func defaultIndex(of choices: [GrantChoice], defaultSeconds: Int) -> Int {
        choices.firstIndex { $0.grant.seconds == defaultSeconds } ?? 0
    }

    private static func title(_ seconds: Int) -> String {
        switch seconds {
        case 60: "1 minute"
        case 3600: "1 hour"
        case let seconds where seconds % 60 == 0: "\(seconds / 60) minutes"
        default: "\(seconds) seconds"
        }
    }
}
