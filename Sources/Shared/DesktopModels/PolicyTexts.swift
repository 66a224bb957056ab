import Localization
import Policy

// The words of Policy's schedules, as a person sees them; its whole sentences are translated as the daemon's are.

extension Weekday {
    /// "mon"
    var localizedShortName: String {
        switch self {
        case .monday: localized("mon")
        case .tuesday: localized("tue")
        case .wednesday: localized("wed")
        case .thursday: localized("thu")
        case .friday: localized("fri")
        case .saturday: localized("sat")
        case .sunday: localized("sun")
        }
    }
}

/// A schedule as the daemon writes it, "block mon-fri 22:00-07:00": for display alone.
func localizedSchedule(_ text: String) -> String {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return text }
    let times = parts[1].replacing(#/[a-z]+/#) { word -> String in
        if word.output == "daily" { return localized("daily") }
        return Weekday.allCases.first { $0.shortName == word.output }?.localizedShortName ?? String(word.output)
    }
    switch parts[0] {
    case "block": return localized("block \(times)")
    case "allow": return localized("allow \(times)")
    default: return text
    }
}
