import CLinux
import Glibc

/// The source that became readable.
enum Wakeup: Equatable {
    case permissionEvents
    case startedFiles
    case changedFiles
    case changedMounts
    case newDaemon
    case daemon
    case alarm
    case signal
    /// The process of a held launch ended.
    case held(UInt64)

    fileprivate var token: UInt64 {
        switch self {
        case .permissionEvents: 1 << 56
        case .startedFiles: 2 << 56
        case .changedFiles: 3 << 56
        case .newDaemon: 4 << 56
        case .daemon: 5 << 56
        case .alarm: 6 << 56
        case .signal: 7 << 56
        case .changedMounts: 8 << 56
        case .held(let number): 9 << 56 | number
        }
    }

    fileprivate init?(token: UInt64) {
        let number = token & (1 << 56 - 1)
        switch token >> 56 {
        case 1: self = .permissionEvents
        case 2: self = .startedFiles
        case 3: self = .changedFiles
        case 4: self = .newDaemon
        case 5: self = .daemon
        case 6: self = .alarm
        case 7: self = .signal
        case 8: self = .changedMounts
        case 9: self = .held(number)
        default: return nil
        }
    }
}

/// epoll(7): the only place where the gate blocks.
struct Poller {
    private let epoll: Descriptor

    init() throws(GateError) { epoll = try Descriptor(clinux_epoll_create(), "epoll_create1") }

    /// A descriptor is removed automatically when its last duplicate is closed.
    func add(_ descriptor: Int32, _ wakeup: Wakeup) throws(GateError) {
        let failure = clinux_epoll_add(epoll.number, descriptor, wakeup.token)
        guard failure == 0 else { throw GateError(.kernel, "epoll_ctl failed", cause: failure) }
    }

    /// For /proc/self/mountinfo, which reports changes by EPOLLPRI.
    func addMounts(_ descriptor: Int32) throws(GateError) {
        let failure = clinux_epoll_add_mounts(epoll.number, descriptor, Wakeup.changedMounts.token)
        guard failure == 0 else { throw GateError(.kernel, "epoll_ctl failed", cause: failure) }
    }

    func remove(_ descriptor: Int32) { _ = clinux_epoll_remove(epoll.number, descriptor) }

    /// Waits without a time limit; the alarm of `Timetable` bounds it.
    /// - Parameter isBusy: return immediately, because events are queued.
    func wait(isBusy: Bool = false) throws(GateError) -> [Wakeup] {
        try withUnsafeTemporaryAllocation(of: clinux_ready.self, capacity: 64) { ready -> Result<[Wakeup], GateError> in
            let count = clinux_epoll_wait(epoll.number, ready.baseAddress, 64, isBusy ? 0 : -1)
            if count == -EINTR { return .success([]) }
            guard count >= 0 else { return .failure(GateError(.kernel, "epoll_wait failed", cause: -count)) }
            return .success(ready[..<Int(count)].compactMap { Wakeup(token: $0.token) })
        }
        .get()
    }
}
