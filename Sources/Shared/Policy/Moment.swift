/// Which run of the kernel a time belongs to. `TimeSource` supplies it; on Linux it is the kernel's boot_id.
public struct BootID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }
}

/// A day of the week, numbered as in ISO 8601.
public enum Weekday: Int, CaseIterable, Comparable, Hashable, Sendable, Codable {
    case monday = 1
    case tuesday, wednesday, thursday, friday, saturday, sunday

    /// From the C library's `tm_wday`, where Sunday is 0. Returns nil outside 0 to 6.
    public init?(daysSinceSunday: Int) {
        self.init(rawValue: daysSinceSunday == 0 ? 7 : daysSinceSunday)
        if daysSinceSunday > 6 { return nil }
    }

    public static func < (left: Weekday, right: Weekday) -> Bool { left.rawValue < right.rawValue }
}

/// What the clock on the wall shows: a weekday and a local time of day. It can jump (daylight saving, a traveller's time
/// zone, a person setting it), so only schedules use it.
public struct CivilTime: Hashable, Sendable, Codable {
    public let weekday: Weekday
    /// Seconds since local midnight, 0 to 86,399.
    public let secondOfDay: Int

    /// A second outside the day (a leap second shows 23:59:60) is moved to its nearest second.
    public init(weekday: Weekday, secondOfDay: Int) {
        self.weekday = weekday
        self.secondOfDay = min(max(secondOfDay, 0), Self.secondsPerDay - 1)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            weekday: try container.decode(Weekday.self, forKey: .weekday),
            secondOfDay: try container.decode(Int.self, forKey: .secondOfDay))
    }

    static let secondsPerDay = 86_400
    static let secondsPerWeek = 7 * secondsPerDay

    /// Seconds since Monday's midnight, 0 to 604,799.
    var secondOfWeek: Int { (weekday.rawValue - 1) * Self.secondsPerDay + secondOfDay }
}

/// Now, as policy sees it. `boot` and `elapsed` measure grants and lockouts; they can't be set.
public struct Moment: Hashable, Sendable, Codable {
    public let boot: BootID
    /// Time since boot, suspend included (CLOCK_BOOTTIME).
    public let elapsed: Duration
    public let civil: CivilTime

    public init(boot: BootID, elapsed: Duration, civil: CivilTime) {
        self.boot = boot
        self.elapsed = elapsed
        self.civil = civil
    }

    /// Of what is kept of a boot; the longest is some 35,000 years.
    static let plausibleTimes: ClosedRange<Duration> = .zero ... .seconds(1 << 40)
}
