import ControlAPI
import Localization

/// Time as the models see it. Tests inject their own.
public struct DesktopTime: Sendable {
    /// Seconds since 1970, by the computer's clock.
    public var wallClock: @Sendable () -> Double
    /// Since some moment; continues while the computer sleeps, and never goes back.
    public var uptime: @Sendable () -> Duration
    /// The local time's offset from UTC at a time (seconds since 1970), in minutes.
    public var utcOffset: @Sendable (Double) -> Int
    /// Returns after this duration, or throws `CancellationError`.
    public var sleep: @Sendable (Duration) async throws -> Void

    public init(
        wallClock: @escaping @Sendable () -> Double, uptime: @escaping @Sendable () -> Duration,
        utcOffset: @escaping @Sendable (Double) -> Int, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.wallClock = wallClock
        self.uptime = uptime
        self.utcOffset = utcOffset
        self.sleep = sleep
    }

    /// Returns once the work has ended, and at the latest after this time; the work continues then.
    public func wait(atMost limit: Duration, for work: @escaping @MainActor () async -> Void) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task { @MainActor in
            await work()
            end.yield()
        }
        let timer = Task { [sleep] in
            try? await sleep(limit)
            end.yield()
        }
        for await _ in ends { break }
        timer.cancel()
    }

    /// The local day of a time (seconds since 1970); nil for a time that no calendar has.
    func day(_ time: Double) -> LocalDay? {
        guard time.isFinite, abs(time) < 1e11 else { return nil }
        return LocalDay(date: time, offset: utcOffset(time))
    }

    /// The local day now; nil if the clock has a time that no calendar has.
    var today: LocalDay? { day(wallClock()) }

    /// A time (seconds since 1970) as local time: "14:05"; with its day if that is not today: "2026-01-31 14:05".
    public func text(_ time: Double) -> String {
        guard let day = day(time) else { return "?" }
        let clock = Self.clock(time, offset: utcOffset(time))
        return day == today ? clock : "\(day.text) \(clock)"
    }

    /// "14:05".
    ///
    /// - Parameter offset: from UTC, in minutes.
    static func clock(_ time: Double, offset: Int) -> String {
        let minutes = Int((time / 60).rounded(.down)) + offset
        let minute = ((minutes % 1_440) + 1_440) % 1_440
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    private static func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Durations for people.
public enum SpokenDuration {
    /// "45 seconds", "5 minutes", "1 hour 30 minutes": at most two units.
    public static func text(seconds: Int) -> String {
        let seconds = max(0, seconds)
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        let rest = seconds % 60
        let parts: [(number: Int, text: String)] = [
            (days, localized(days, one: "\(days) day", other: "\(days) days")),
            (hours, localized(hours, one: "\(hours) hour", other: "\(hours) hours")),
            (minutes, localized(minutes, one: "\(minutes) minute", other: "\(minutes) minutes")),
            (rest, localized(rest, one: "\(rest) second", other: "\(rest) seconds")),
        ]
        let shown = parts.drop { $0.number == 0 }.prefix(2).filter { $0.number > 0 }
        return shown.isEmpty ? parts[3].text : shown.map { $0.text }.joined(separator: " ")
    }

    /// "4:09", for a countdown.
    public static func clock(seconds: Int) -> String {
        let seconds = max(0, seconds)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}

extension LocalDay {
    /// "Today", "Yesterday", "2026-01-31".
    func name(today: LocalDay?) -> String {
        switch today.map({ $0.daysSince1970 - daysSince1970 }) {
        case 0: localized("Today")
        case 1: localized("Yesterday")
        default: text
        }
    }
}
