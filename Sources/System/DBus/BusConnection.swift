import CSystemd
import Foundation
import Glibc
import Synchronization

/// What may be touched on the connection's thread alone.
final class BusContext {
    let bus: OpaquePointer
    /// Calls, matches and owner look-ups that wait for an answer; they fail when the connection ends.
    var pending: [UInt64: @Sendable (BusError) -> Void] = [:]
    var slots: [UInt64: OpaquePointer] = [:]
    private var lastNumber: UInt64 = 0

    init(bus: OpaquePointer) { self.bus = bus }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Ends a call, a match or an export.
    func release(_ number: UInt64) {
        pending[number] = nil
        if let slot = slots.removeValue(forKey: number) { sd_bus_slot_unref(slot) }
    }
}

/// One connection and the thread that alone uses it: sd-bus is not safe for more. The thread sleeps in poll until the
/// bus, a job or the time-out of a call wakes it.
final class BusConnection: Sendable {
    typealias Job = @Sendable (BusContext) -> Void

    private struct Inbox {
        var jobs: [Job] = []
        var isClosing = false
        var hasEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let inbox = Mutex(Inbox())
    private let wake: Int32

    /// Takes the connection over.
    init(bus: OpaquePointer) throws {
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wake >= 0 else {
            let number = errno
            sd_bus_unref(bus)
            throw BusError(errno: number, "The message bus can't be watched", .unreachable)
        }
        nonisolated(unsafe) let bus = bus
        let thread = Thread { [self] in serve(BusContext(bus: bus)) }
        thread.start()
    }

    deinit { Glibc.close(wake) }

    /// - Returns: false when the connection has ended: the job will not run.
    @discardableResult
    func enqueue(_ job: @escaping Job) -> Bool {
        let isOpen = inbox.withLock { inbox in
            guard !inbox.hasEnded, !inbox.isClosing else { return false }
            inbox.jobs.append(job)
            return true
        }
        if isOpen { eventfd_write(wake, 1) }
        return isOpen
    }

    func close() {
        inbox.withLock { $0.isClosing = true }
        eventfd_write(wake, 1)
    }

    var hasEnded: Bool { inbox.withLock { $0.hasEnded } }

    func untilEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.waiters.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: The thread

    private func serve(_ context: BusContext) {
        csystemd_name_thread("message-bus")
        var isUp = true
        while isUp { isUp = step(context) }
        // Jobs that were enqueued before the end still have callers waiting.
        let left = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer { inbox.jobs = [] }
            return inbox.jobs
        }
        for job in left { job(context) }
        for fail in context.pending.values { fail(.closed) }
        context.pending = [:]
        for slot in context.slots.values { sd_bus_slot_unref(slot) }
        context.slots = [:]
        sd_bus_flush_close_unref(context.bus)
        let waiters = inbox.withLock { inbox in
            defer { inbox.waiters = [] }
            return inbox.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// - Returns: false when the connection has ended.
    private func step(_ context: BusContext) -> Bool {
        var count: eventfd_t = 0
        eventfd_read(wake, &count)
        let (jobs, isClosing) = inbox.withLock { inbox in
            defer { inbox.jobs = [] }
            return (inbox.jobs, inbox.isClosing)
        }
        for job in jobs { job(context) }
        var result: Int32 = 1
        while result > 0 { result = sd_bus_process(context.bus, nil) }
        guard result == 0, !isClosing, sd_bus_is_open(context.bus) > 0 else { return false }
        let events = sd_bus_get_events(context.bus)
        var deadline: UInt64 = 0
        guard events >= 0, sd_bus_get_timeout(context.bus, &deadline) >= 0 else { return false }
        var descriptors = [
            pollfd(fd: sd_bus_get_fd(context.bus), events: Int16(events), revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        let polled = poll(&descriptors, 2, Self.milliseconds(until: deadline))
        return polled >= 0 || errno == EINTR || errno == EAGAIN
    }

    /// - Parameter deadline: in microseconds of CLOCK_MONOTONIC; the largest number for none.
    /// - Returns: milliseconds, rounded up; -1 for no end.
    private static func milliseconds(until deadline: UInt64) -> Int32 {
        guard deadline != .max else { return -1 }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let current = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1_000
        guard deadline > current else { return 0 }
        return Int32(min((deadline - current + 999) / 1_000, UInt64(Int32.max)))
    }
}
