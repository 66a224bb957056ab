import DesktopModels
import Foundation
import Glibc

extension DesktopTime {
    /// This computer's clocks.
    static var system: DesktopTime {
        let start = ContinuousClock.now
        return DesktopTime(
            wallClock: { Date().timeIntervalSince1970 }, uptime: { start.duration(to: .now) },
            utcOffset: { seconds in
                var time = time_t(seconds)
                var parts = tm()
                localtime_r(&time, &parts)
                return Int(parts.tm_gmtoff) / 60
            }, sleep: { try await Task.sleep(for: $0) })
    }
}

/// The name of a user of this computer, as the password database has it.
func userName(_ user: UInt32) -> String? {
    guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return nil }
    return String(cString: name)
}
