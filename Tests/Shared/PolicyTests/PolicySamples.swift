import Policy
import TestSupport

let boot = BootID(rawValue: "boot-1")
let nextBoot = BootID(rawValue: "boot-2")
let noonOnMonday = CivilTime(weekday: .monday, secondOfDay: 12 * 3600)
let calculator = app("org.gnome.Calculator")
let firefox = app("firefox")

func app(_ id: String) -> AppID {
    guard let id = AppID(rawValue: id) else { fatalError("\(id) is no app id") }
    return id
}

/// `seconds` after boot.
func moment(_ seconds: Double, boot: BootID = boot, civil: CivilTime = noonOnMonday) -> Moment {
    Moment(boot: boot, elapsed: .milliseconds(Int64(seconds * 1000)), civil: civil)
}

func civil(_ weekday: Weekday, _ hour: Int, _ minute: Int, _ second: Int = 0) -> CivilTime {
    CivilTime(weekday: weekday, secondOfDay: hour * 3600 + minute * 60 + second)
}

/// The local time `seconds` after Monday's midnight, in any week.
func civil(secondOfWeek seconds: Int) -> CivilTime {
    let second = ((seconds % 604_800) + 604_800) % 604_800
    return CivilTime(weekday: Weekday.allCases[second / 86_400], secondOfDay: second % 86_400)
}

extension Schedule {
    static func random(using random: inout RepeatableRandom, stepMinutes: Int = 1) -> Schedule {
        let windows = (0..<Int.random(in: 0...4, using: &random)).map { _ -> Window in
            let days = Weekday.allCases.shuffled(using: &random).prefix(.random(in: 1...7, using: &random))
            let start = Int.random(in: 0..<(1440 / stepMinutes), using: &random) * stepMinutes
            let isWholeDay = Int.random(in: 0..<8, using: &random) == 0
            let end = isWholeDay ? start : Int.random(in: 0..<(1440 / stepMinutes), using: &random) * stepMinutes
            do { return try Window(weekdays: Set(days), start: start, end: end) } catch { fatalError("\(error)") }
        }
        return Schedule(
            isEnabled: Int.random(in: 0..<10, using: &random) > 0,
            mode: Bool.random(using: &random) ? .blockInside : .allowOnlyInside,
            windows: windows)
    }
}
