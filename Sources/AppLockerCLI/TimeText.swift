import ArgumentParser
import Foundation
import Policy

/// Lengths and points of time as people read and write them.
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

/// A length of time on the command line: "30s", "5m", "1h", "1h30m"; whole seconds.
struct DurationArgument: ExpressibleByArgument, Equatable {
    let seconds: Int

    init?(argument: String) {
        guard let duration = try? Duration(text: argument), duration.components.attoseconds == 0,
            duration.components.seconds > 0, let seconds = Int(exactly: duration.components.seconds)
        else { return nil }
        self.seconds = seconds
    }
}
