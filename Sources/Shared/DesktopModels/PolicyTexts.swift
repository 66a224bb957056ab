import Localization
import Policy

// What Policy has in English, as a person sees it: it imports nothing, and daemon and command line need no more.

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

extension Schedule.Template {
    var localizedSummary: String {
        switch name {
        case "work-hours": localized("Locked on weekdays from 9 to 17.")
        case "school-hours": localized("Locked on weekdays from 8 to 15.")
        case "school-night": localized("Locked from 20 to 7 on evenings before a school day.")
        case "night": localized("Locked every night from 22 to 7.")
        case "weekend": localized("Unlocked on Saturdays and Sundays only.")
        case "evening": localized("Unlocked every day from 18 to 21 only.")
        case "lunch-break": localized("Unlocked on weekdays from 12 to 13 only.")
        default: summary
        }
    }
}

extension PasscodeRules {
    /// - Parameter reason: of `Verdict.weak`.
    static func localizedReason(_ reason: String) -> String {
        switch reason {
        case "It repeats one character.": localized("It repeats one character.")
        case "It repeats a few characters.": localized("It repeats a few characters.")
        case "It is a sequence of neighbouring characters.": localized("It is a sequence of neighbouring characters.")
        case "It is a row of the keyboard.": localized("It is a row of the keyboard.")
        case "It looks like a year.": localized("It looks like a year.")
        case "It is one of the most common passcodes.": localized("It is one of the most common passcodes.")
        default: reason
        }
    }
}
