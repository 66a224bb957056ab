import ControlAPI
import Localization

/// One entry of "Keep unlocked for".
struct GrantChoice: Equatable {
    var title: String
    var grant: GrantRequest

    /// 1, 5 and 15 minutes, 1 hour and the default of the settings, shortest first; then this launch only, and until I
    /// lock.
    static func all(defaultSeconds: Int, offersThisLaunch: Bool = true) -> [GrantChoice] {
        let durations = Set([60, 300, 900, 3600, defaultSeconds]).sorted()
        let timed = durations.map { GrantChoice(title: title($0), grant: GrantRequest(.duration, seconds: $0)) }
        let once = GrantChoice(title: localized("This launch only"), grant: GrantRequest(.thisLaunch))
        return timed + (offersThisLaunch ? [once] : [])
            + [GrantChoice(title: localized("Until locked"), grant: GrantRequest(.untilLocked))]
    }

    static func defaultIndex(of choices: [GrantChoice], defaultSeconds: Int) -> Int {
        choices.firstIndex { $0.grant.seconds == defaultSeconds } ?? 0
    }

    private static func title(_ seconds: Int) -> String {
        let (hours, minutes) = (seconds / 3600, seconds / 60)
        return switch seconds {
        case 3600: localized(hours, one: "\(hours) hour", other: "\(hours) hours")
        case let seconds where seconds % 60 == 0:
            localized(minutes, one: "\(minutes) minute", other: "\(minutes) minutes")
        default: localized(seconds, one: "\(seconds) second", other: "\(seconds) seconds")
        }
    }
}
