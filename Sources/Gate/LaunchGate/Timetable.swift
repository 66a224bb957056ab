import CLinux
import Glibc

/// What is to be done at a later time, and the one alarm that wakes the gate for it. Times are nanoseconds on the
/// clock that goes on while the machine sleeps: a launch does not wait through a night.
struct Timetable {
    enum Task {
        /// Tell the daemon that files of the app changed.
        case reportChanges(app: Int)
        /// Mark the app's files, which could not all be marked before.
        case markAgain(app: Int)
        /// Follow the links of all apps again.
        case followLinks
        /// SIGKILL for those that did not end by themselves.
        case insist(app: Int, [RunningProcess])
        /// Stop again those that somebody else let go on.
        case keepFrozen(app: Int)
        /// Look again for the process that opened a watched file.
        case lookForStarted(attempt: Int, search: Int)
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

    /// Takes out what is due.
    mutating func takeDue() -> [Task] {
        guard !entries.isEmpty else { return [] }
        let now = Self.now
        let due = entries.filter { $0.due <= now }
        guard !due.isEmpty else { return [] }
        entries.removeAll { $0.due <= now }
        return due.sorted { $0.due < $1.due }.map(\.task)
    }

    /// Sets the alarm to the earliest entry or `other`, whichever comes first. An alarm that is set already and rings
    /// before that is left: ringing for nothing once is cheaper than setting it for every launch.
    mutating func setAlarm(other: UInt64?) {
        let next = min(entries.lazy.map(\.due).min() ?? .max, other ?? .max)
        guard next < ringsAt else { return }
        ringsAt = next
        _ = clinux_alarm_set(alarm.number, next)
    }

    /// To be called when the alarm rang.
    mutating func alarmRang() {
        var expirations: UInt64 = 0
        _ = read(alarm.number, &expirations, 8)
        ringsAt = .max
    }
}
