import CLinux
import DaemonCore
import Glibc
import Policy

/// The computer's clocks.
struct SystemTime: TimeSource {
    private let boot: BootID

    /// - Throws: `StartError.noBootID` if the kernel has no boot id: grants and lockouts could not
    ///   be distinguished from those of an earlier boot.
    init() throws {
        guard let text = try? String(contentsOfSmallFile: "/proc/sys/kernel/random/boot_id") else {
            throw StartError.noBootID
        }
        boot = BootID(rawValue: text)
    }

    func now() -> Moment {
        var seconds = time(nil)
        var local = tm()
        // localtime_r need not look at a changed time zone by itself.
        tzset()
        localtime_r(&seconds, &local)
        let civil = CivilTime(
            weekday: Weekday(daysSinceSunday: Int(local.tm_wday)) ?? .monday,
            // A leap second has number 60 and counts as the one before.
            secondOfDay: Int(local.tm_hour) * 3_600 + Int(local.tm_min) * 60 + min(Int(local.tm_sec), 59))
        return Moment(boot: boot, elapsed: elapsed(), civil: civil)
    }

    func elapsed() -> Duration {
        var elapsed = timespec()
        clock_gettime(CLOCK_BOOTTIME, &elapsed)
        return .seconds(elapsed.tv_sec) + .nanoseconds(elapsed.tv_nsec)
    }

    func wallClock() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    func sleep(until end: Duration) async throws { try await Task.sleep(for: end - elapsed(), clock: .continuous) }
}
