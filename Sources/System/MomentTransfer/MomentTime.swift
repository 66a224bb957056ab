public import ControlAPI
import Foundation
public import Pictures
import SealedFormats

/// A time together with the local time at its place.
public struct MomentTime: Equatable, Sendable {
    /// Seconds since 1970.
    public var date: Double
    /// The offset from UTC in minutes.
    public var offset: Int

    /// Uses this computer's time zone at that time. A file's time may be outside the range of moments: it is clamped.
    public init(date: Double) {
        let date = date.isNaN ? 0 : min(max(date, MomentBody.times.lowerBound), MomentBody.times.upperBound)
        var (seconds, parts) = (time_t(date.rounded(.down)), tm())
        localtime_r(&seconds, &parts)
        self.init(date: date, offset: Int((Double(parts.tm_gmtoff) / 60).rounded()))
    }

    public init(date: Double, offset: Int) {
        self.date = date
        self.offset = offset
    }

    /// From a local time; without an offset, this computer's time zone is used.
    public init(_ local: Exif.LocalTime, offset: Int?) {
        let day = LocalDay(year: local.year, month: local.month, day: local.day)
        let clock = Double((day?.daysSince1970 ?? 0) * 86_400 + local.hour * 3_600 + local.minute * 60 + local.second)
        if let offset {
            self.init(date: clock - Double(offset) * 60, offset: offset)
            return
        }
        var parts = tm()
        parts.tm_year = Int32(local.year - 1_900)
        parts.tm_mon = Int32(local.month - 1)
        (parts.tm_mday, parts.tm_hour) = (Int32(local.day), Int32(local.hour))
        (parts.tm_min, parts.tm_sec) = (Int32(local.minute), Int32(local.second))
        parts.tm_isdst = -1
        let date = mktime(&parts)
        self.init(date: Double(date), offset: Int((Double(parts.tm_gmtoff) / 60).rounded()))
    }

    /// The time in a picture's metadata; nil without one.
    public init?(_ exif: Exif?) {
        guard let exif, let local = exif.local else { return nil }
        self.init(local, offset: exif.offset)
    }

    public var day: LocalDay { LocalDay(date: date, offset: offset) }

    /// "2024-05-17T18:30:05", in local time.
    public var local: String {
        let seconds = Int((date + Double(offset) * 60).rounded(.down))
        let inDay = seconds - day.daysSince1970 * 86_400
        return String(format: "%@T%02d:%02d:%02d", day.text, inDay / 3_600, inDay / 60 % 60, inDay % 60)
    }

    /// With its offset: "2024-05-17T18:30:05+02:00".
    public var localWithZone: String {
        local + String(format: "%@%02d:%02d", offset < 0 ? "-" : "+", abs(offset) / 60, abs(offset) % 60)
    }

    /// For people: "2024-05-17 18:30".
    public var spoken: String { local.prefix(16).replacingOccurrences(of: "T", with: " ") }
}

extension MomentReport {
    public var time: MomentTime { MomentTime(date: date, offset: offset) }
}

extension MomentPlace {
    /// Its name and its point in degrees: "Lisbon · 38.71000, -9.14000".
    public var spoken: String {
        let point = latitude.flatMap { latitude in
            longitude.map { String(format: "%.5f, %.5f", latitude, $0) }
        }
        return [name, point].compactMap { $0 }.joined(separator: " · ")
    }
}
