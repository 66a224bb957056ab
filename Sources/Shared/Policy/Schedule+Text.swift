/// The text form of windows: `[days] HH:MM-HH:MM`, separated by commas, as in
/// "mon-fri 22:00-07:00, sat,sun 10:00-12:00". Days are names, short or long, ranges ("fri-mon" goes over Sunday),
/// "daily", "weekdays" or "weekends". A time without days takes the days before it, the first one every day.
extension Schedule {
    /// - Throws: `PolicyError` with code `invalidSchedule`.
    public init(isEnabled: Bool = true, mode: Mode, text: String) throws(PolicyError) {
        self.init(isEnabled: isEnabled, mode: mode, windows: try Self.windows(text: text))
    }

    /// - Throws: `PolicyError` with code `invalidSchedule`.
    public static func windows(text: String) throws(PolicyError) -> [Window] {
        var windows: [Window] = []
        var days = Set(Weekday.allCases)
        var daysOfNext: Set<Weekday> = []
        for piece in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            let words = piece.split(whereSeparator: \.isWhitespace)
            guard !words.isEmpty else {
                throw invalid("The schedule has an empty part between commas; write it like \(example).")
            }
            let times = words.last.flatMap { $0.contains(":") ? $0 : nil }
            let names = times == nil ? words[...] : words.dropLast()
            for name in names { daysOfNext.formUnion(try weekdays(name)) }
            guard let times else { continue }
            if !daysOfNext.isEmpty { days = daysOfNext }
            daysOfNext = []
            let ends = times.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2 else {
                throw invalid(
                    "\(String(reflecting: String(times))) is not a time range; write it like 22:00-07:00.")
            }
            windows.append(try Window(weekdays: days, start: minute(ends[0]), end: minute(ends[1], upTo: 1440)))
        }
        guard daysOfNext.isEmpty else {
            throw invalid("The schedule's last days have no time; write them like \(example).")
        }
        return windows
    }

    /// The windows as `windows(text:)` reads them.
    public var text: String { windows.map(\.description).joined(separator: ", ") }

    private static let example = "\"mon-fri 22:00-07:00, sat,sun 10:00-12:00\""

    private static func invalid(_ sentence: String) -> PolicyError { PolicyError(.invalidSchedule, sentence) }

    private static func weekdays(_ word: Substring) throws(PolicyError) -> Set<Weekday> {
        switch word {
        case "daily": return Set(Weekday.allCases)
        case "weekdays": return [.monday, .tuesday, .wednesday, .thursday, .friday]
        case "weekends": return [.saturday, .sunday]
        default: break
        }
        let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { name in
            Weekday.allCases.first { $0.shortName == name || $0.longName == name }
        }
        guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1] else {
            throw invalid(
                "\(String(reflecting: String(word))) is not a day; use mon, tue, wed, thu, fri, sat, sun, a range like "
                    + "mon-fri, daily, weekdays or weekends.")
        }
        let length = (last.rawValue - first.rawValue + 7) % 7
        return Set((0...length).compactMap { Weekday(rawValue: (first.rawValue - 1 + $0) % 7 + 1) })
    }

    private static func minute(_ text: Substring, upTo limit: Int = 1439) throws(PolicyError) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2, 1...2 ~= parts[0].utf8.count, parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= limit
        {
            return hour * 60 + minute
        }
        throw invalid(
            "\(String(reflecting: String(text))) is not a time of day; write it like 07:30, from 00:00 to 23:59.")
    }
}

extension Schedule: CustomStringConvertible {
    /// For people: "locked mon-fri 22:00-07:00", "free only sat,sun 10:00-12:00" or "always locked".
    public var description: String {
        guard isEnabled, !windows.isEmpty else { return "always locked" }
        return (mode == .blockInside ? "locked " : "unlocked only ") + text
    }
}

extension Schedule.Window: CustomStringConvertible {
    /// The window as the schedule's text form: "mon-fri 22:00-07:00".
    public var description: String {
        let isWholeDay = start == 0 && end == 0
        return "\(days) \(Self.clock(start))-\(isWholeDay ? "24:00" : Self.clock(end))"
    }

    private var days: String {
        if weekdays.count == 7 { return "daily" }
        var runs: [[Weekday]] = []
        for day in weekdays.sorted() {
            if let last = runs.last?.last, last.rawValue + 1 == day.rawValue {
                runs[runs.count - 1].append(day)
            } else {
                runs.append([day])
            }
        }
        return runs.map { run in
            run.count > 2
                ? "\(run[0].shortName)-\(run[run.count - 1].shortName)" : run.map(\.shortName).joined(separator: ",")
        }.joined(separator: ",")
    }

    private static func clock(_ minute: Int) -> String {
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(twoDigits(minute / 60)):\(twoDigits(minute % 60))"
    }
}

extension Weekday {
    /// "monday"
    public var longName: String { String(describing: self) }

    /// "mon"
    public var shortName: String { String(longName.prefix(3)) }
}
