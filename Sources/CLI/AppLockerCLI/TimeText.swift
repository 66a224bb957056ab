import ArgumentParser
import ControlAPI
import Foundation
import Policy

/// Durations and times as people read and write them.
enum TimeText {
    /// Seconds as "45 s", "4 min 10 s", "1 h 5 min": at most two units, for people.
    static func spoken(seconds: Int) -> String {
        let seconds = max(0, seconds)
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let shown = parts.drop { $0.0 == 0 }.prefix(2).filter { $0.0 > 0 }
        return shown.isEmpty ? "0 s" : shown.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// Seconds since 1970 as local time, "2026-01-31 14:05:09".
    static func local(_ time: Double) -> String {
        guard time.isFinite, abs(time) < 1e11 else { return "?" }
        var seconds = time_t(time)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A time in the past on the command line: "2026-11-20", "2026-11-20 14:30", both in local time, or how long ago it
/// was: "3h", "90m", "2d".
struct PastTimeArgument: ExpressibleByArgument, Equatable {
    /// Seconds since 1970.
    let time: Double

    init?(argument: String) { self.init(argument, now: Date().timeIntervalSince1970) }

    init?(_ text: String, now: Double) {
        guard let time = Self.ago(text, now: now) ?? Self.local(text), time <= now else { return nil }
        self.time = time
    }

    private static func ago(_ text: String, now: Double) -> Double? {
        var text = text.lowercased()
        if text.hasSuffix(" ago") { text.removeLast(4) }
        if text.hasSuffix("d"), let days = UInt16(text.dropLast()) { return now - Double(days) * 86_400 }
        return DurationArgument(argument: text).map { now - Double($0.seconds) }
    }

    private static func local(_ text: String) -> Double? {
        let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
        guard 1...2 ~= parts.count, let day = LocalDay(parts[0]) else { return nil }
        var clock: [Int32] = []
        if parts.count == 2 {
            let numbers = parts[1].split(separator: ":", omittingEmptySubsequences: false)
            clock = numbers.compactMap { $0.utf8.count == 2 ? UInt8($0).map(Int32.init) : nil }
            guard clock.count == numbers.count, 2...3 ~= clock.count, clock[0] < 24, clock[1...].allSatisfy({ $0 < 60 })
            else { return nil }
        }
        clock += [0, 0, 0]
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (
            Int32(day.year - 1_900), Int32(day.month - 1), Int32(day.day)
        )
        (fields.tm_hour, fields.tm_min, fields.tm_sec) = (clock[0], clock[1], clock[2])
        // -1: the library determines whether summer time applies.
        fields.tm_isdst = -1
        return Double(mktime(&fields))
    }
}

/// A duration on the command line: "30s", "5m", "1h", "1h30m"; whole seconds.
struct DurationArgument: ExpressibleByArgument, Equatable {
    let seconds: Int

    init?(argument: String) {
        guard let duration = try? Duration(text: argument), duration.components.attoseconds == 0,
            duration.components.seconds > 0, let seconds = Int(exactly: duration.components.seconds)
        else { return nil }
        self.seconds = seconds
    }
}
