public import ControlAPI
import Localization

/// How long an unlock lasts, as a menu offers it.
public struct GrantChoice: Equatable, Sendable {
    public var title: String
    public var grant: GrantRequest

    /// 1, 5 and 15 minutes, 1 hour and the default of the settings, shortest first; then until locked.
    public static func all(defaultSeconds: Int) -> [GrantChoice] {
        let durations = Set([60, 300, 900, 3_600, defaultSeconds]).sorted()
        return durations.map {
            GrantChoice(title: SpokenDuration.text(seconds: $0), grant: GrantRequest(.duration, seconds: $0))
        } + [GrantChoice(title: localized("Until locked"), grant: GrantRequest(.untilLocked))]
    }
}
