/// When an app is locked: several windows a week, and what they mean.
public struct Schedule: Hashable, Sendable, Codable {
    public enum Mode: String, Sendable, Codable, CaseIterable {
        /// Locked inside the windows, free outside.
        case blockInside
        /// Free inside the windows, locked outside.
        case allowOnlyInside
    }

    /// Switched off, a schedule frees nothing: the app is always locked.
    public var isEnabled: Bool
    public var mode: Mode
    /// Without any window nothing is freed, whatever the mode.
    public var windows: [Window]

    public init(isEnabled: Bool = true, mode: Mode, windows: [Window]) {
        self.isEnabled = isEnabled
        self.mode = mode
        self.windows = windows
    }
}

extension Schedule {
    /// A stretch of local time on some days of the week, up to 24 hours long, its end left out.
    public struct Window: Hashable, Sendable, Codable {
        /// The days on which the window starts; one over midnight ends on the day after.
        public let weekdays: Set<Weekday>
        /// Minutes since local midnight, 0 to 1,439.
        public let start: Int
        /// Minutes since local midnight, 0 to 1,439. At or before `start` it means the next day; equal to `start` it
        /// makes the window 24 hours long, so 0 and 0 are the whole day.
        public let end: Int

        static let minutesPerDay = 1440

        /// - Parameter end: 1,440 is taken as 0, midnight at the end of the day.
        /// - Throws: `PolicyError` with code `invalidSchedule` for a minute outside the day or no weekday at all.
        public init(weekdays: Set<Weekday>, start: Int, end: Int) throws(PolicyError) {
            guard !weekdays.isEmpty else {
                throw PolicyError(.invalidSchedule, "A schedule window needs at least one day of the week.")
            }
            guard 0..<Self.minutesPerDay ~= start, 0...Self.minutesPerDay ~= end else {
                throw PolicyError(
                    .invalidSchedule, "A schedule window starts from 00:00 to 23:59 and ends from 00:00 to 24:00.")
            }
            self.weekdays = weekdays
            self.start = start
            self.end = end % Self.minutesPerDay
        }

        private enum CodingKeys: CodingKey { case weekdays, start, end }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            try self.init(
                weekdays: Set(container.decode([Weekday].self, forKey: .weekdays)),
                start: container.decode(Int.self, forKey: .start), end: container.decode(Int.self, forKey: .end))
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(weekdays.sorted(), forKey: .weekdays)
            try container.encode(start, forKey: .start)
            try container.encode(end, forKey: .end)
        }

        /// In seconds, 60 to 86,400.
        var length: Int { (end > start ? end - start : end + Self.minutesPerDay - start) * 60 }

        /// Where the window starts, in seconds since Monday's midnight, once for each of its days.
        var starts: [Int] { weekdays.map { ($0.rawValue - 1) * CivilTime.secondsPerDay + start * 60 } }
    }
}

extension Schedule {
    /// Whether an app under this schedule is locked at that local time.
    public func locks(at time: CivilTime) -> Bool { locks(atSecondOfWeek: time.secondOfWeek) }

    /// How long until `locks` changes, if the local clock runs on without a jump; nil when it never does.
    /// At most 7 days. Counted from the start of the given second.
    public func nextChange(after time: CivilTime) -> Duration? {
        guard isEnabled else { return nil }
        let now = time.secondOfWeek
        let lockedNow = locks(at: time)
        let edges = windows.flatMap { window in window.starts.flatMap { [$0, $0 + window.length] } }
        let wait =
            edges
            .map { edge in
                let distance = (edge - now) % CivilTime.secondsPerWeek
                return distance > 0 ? distance : distance + CivilTime.secondsPerWeek
            }
            .filter { locks(atSecondOfWeek: (now + $0) % CivilTime.secondsPerWeek) != lockedNow }
            .min()
        return wait.map { .seconds($0) }
    }

    private func locks(atSecondOfWeek second: Int) -> Bool {
        guard isEnabled, !windows.isEmpty else { return true }
        let (day, secondOfDay) = second.quotientAndRemainder(dividingBy: CivilTime.secondsPerDay)
        let today = Weekday.allCases[day]
        let yesterday = Weekday.allCases[(day + 6) % 7]
        let isInside = windows.contains { window in
            let sinceStart = secondOfDay - window.start * 60
            return window.weekdays.contains(today) && 0..<window.length ~= sinceStart
                || window.weekdays.contains(yesterday) && sinceStart + CivilTime.secondsPerDay < window.length
        }
        return isInside == (mode == .blockInside)
    }
}
