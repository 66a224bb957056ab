import CLinux
import Glibc

/// Tasks for a later time, and the timer that wakes the gate for them. Times are nanoseconds of CLOCK_BOOTTIME, which
/// includes suspend: a launch does not stay held through a night.
struct Timetable {
    enum Task {
        /// Notify the daemon that files of the app changed.
        case reportChanges(app: Int)
        /// Mark the app's files that could not be marked before.
        case markAgain(app: Int)
        /// Resolve the links of all apps again.
        case followLinks
        /// See whether an allowed launch has become its app.
        case confirm(AllowedLaunch, process: Int32, start: UInt64, attempt: Int)
        /// Send SIGKILL to processes that did not end after SIGTERM.
        case insist(app: Int, [RunningProcess])
        /// Stop frozen processes that a user continued.
        case keepFrozen(app: Int)
        /// Search again for the process that opened a watched file.
        case lookForStarted(attempt: Int, search: Int)
        /// End, if no process needs the gate any more.
        case stop
        case watchdog
    }

    let alarm: Descriptor
    private var entries: [(due: UInt64, task: Task)] = []
    private var ringsAt = UInt64.max

    init() throws(GateError) { alarm = try Descriptor(clinux_alarm_create(), "timerfd_create") }

    static var now: UInt64 { clinux_boottime() }

    mutating func add(_ task: Task, after nanoseconds: UInt64) {
        entries.append((Self.now + nanoseconds, task))
    }

    /// Removes and returns the due tasks.
    mutating func takeDue() -> [Task] {
        guard !entries.isEmpty else { return [] }
        let now = Self.now
        let due = entries.filter { $0.due <= now }
        guard !due.isEmpty else { return [] }
        entries.removeAll { $0.due <= now }
        return due.sorted { $0.due < $1.due }.map(\.task)
    }

    /// Sets the alarm to the earliest entry or `other`, whichever is first. An earlier alarm is not changed: an
    /// unneeded wakeup is cheaper than setting the timer for every launch.
    mutating func setAlarm(other: UInt64?) {
        let next = min(entries.lazy.map(\.due).min() ?? .max, other ?? .max)
        guard next < ringsAt else { return }
        ringsAt = next
        _ = clinux_alarm_set(alarm.number, next)
    }

    /// Must be called when the alarm's descriptor becomes readable.
    mutating func alarmRang() {
        var expirations: UInt64 = 0
        _ = read(alarm.number, &expirations, 8)
        ringsAt = .max
    }
}
