import DBus
import DaemonCore
import Glibc

/// One connection to logind, from its first word to the end of the bus.
actor LogindListener {
    static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let seat = "org.freedesktop.login1.Seat"
    private static let manager = "org.freedesktop.login1.Manager"

    private let bus: DBusConnection
    private let delay: SleepDelay
    private let signals: AsyncStream<SessionSignal>.Continuation
    /// By object path.
    private var sessions: [String: LogindSession] = [:]
    /// The session at the front of each seat, both by object path.
    private var active: [String: String] = [:]
    /// From PrepareForSleep(true) to PrepareForSleep(false). Everything was locked at its beginning.
    private var isAsleep = false
    /// Whether logind was there.
    private(set) var wasServed = false
    private var lockReports = LockReports()
    /// Users whose lock is reported later.
    private var delayedLocks: Set<UInt32> = []

    init(bus: DBusConnection, delay: SleepDelay, signals: AsyncStream<SessionSignal>.Continuation) {
        self.bus = bus
        self.delay = delay
        self.signals = signals
    }

    /// Listens until the bus is gone.
    ///
    /// - Throws: `BusError`.
    func serve() async throws {
        let owners = try await bus.owners(of: Self.name)
        var isThere = try await bus.owner(of: Self.name) != nil
        if !isThere {
            // The bus starts what it can start.
            isThere = (try? await bus.call(Self.name, Self.path, "org.freedesktop.DBus.Peer", "Ping")) != nil
        }
        var changes = owners.makeAsyncIterator()
        while !Task.isCancelled {
            if isThere {
                do {
                    try await follow()
                } catch {
                    // If logind has left the bus, its end explains the missing reply.
                    guard bus.isOpen, try await bus.owner(of: Self.name) == nil else { throw error }
                }
                sessions = [:]
                active = [:]
                isAsleep = false
                delay.drop()
            }
            guard bus.isOpen else { throw BusError(.closed, "The system bus closed the connection.") }
            signals.yield(.unavailable("systemd-logind is not running"))
            // Nothing is requested until a service owns the name.
            var owner: String?
            repeat {
                guard let change = await changes.next(isolation: self) else {
                    throw BusError(.closed, "The system bus closed the connection.")
                }
                owner = change
            } while owner == nil
            isThere = true
        }
    }

    /// Follows logind until it leaves.
    private func follow() async throws {
        // One match rule for all of its signals keeps their order.
        let stream: AsyncStream<BusSignal>
        let waiting = WaitingSignals()
        do {
            stream = try await bus.signals(from: Self.name, accept: waiting.add)
        } catch let error as BusError where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" {
            return
        }
        signals.yield(.available)
        await hold()
        try await lookAround()
        wasServed = true
        for await signal in stream {
            guard !waiting.hasOverflowed else {
                // Any of them may have been locked.
                for user in Set(sessions.values.map(\.user)) { signals.yield(.sessionLocked(user: user)) }
                throw BusError(.invalid, "more signals than AppLocker can read")
            }
            waiting.remove(signal)
            // A session that can't be read any more has ended, which a later signal reports.
            do { try await received(signal) } catch let error as BusError where error.code != .closed {}
        }
    }

    /// What is so already.
    private func lookAround() async throws {
        let manager = try await bus.properties(Self.name, Self.path, Self.manager)
        let list = try await bus.call(Self.name, Self.path, Self.manager, "ListSessions").first?.elements ?? []
        for entry in list {
            guard let path = entry.elements?.last?.text else { continue }
            try? await look(at: path)
        }
        await look(atSeats: Set(sessions.values.compactMap(\.seat)))
        if manager["PreparingForSleep"]?.bool == true {
            isAsleep = true
            signals.yield(.goingToSleep(delay.begin()))
        }
        if manager["PreparingForShutdown"]?.bool == true { signals.yield(.shuttingDown(delay.begin())) }
    }

    /// Has the next sleep and the next shutdown wait, each by an inhibitor of its own: systemd 252 grants both in one request
    /// only to those who may also inhibit the lid switch, which a system user may not.
    private func hold() async {
        var locks: [BusDescriptor] = []
        var refusal: String?
        for what in ["sleep", "shutdown"] {
            do {
                let answer = try await bus.call(
                    Self.name, Self.path, Self.manager, "Inhibit",
                    [
                        .string(what), .string("AppLocker"), .string("Lock apps and erase keys before \(what)"),
                        .string("delay"),
                    ])
                guard let lock = answer.first?.descriptor else {
                    throw BusError(.invalid, "logind granted no inhibitor.")
                }
                locks.append(lock)
            } catch {
                refusal = refusal ?? "systemd-logind refused to delay \(what) (\(error))"
            }
        }
        delay.hold(locks)
        if let refusal { signals.yield(.unheld(refusal)) }
    }

    // MARK: Signals

    private func received(_ signal: BusSignal) async throws {
        switch (signal.interface, signal.member) {
        case (Self.manager, "PrepareForSleep"): await prepare(signal, isSleep: true)
        case (Self.manager, "PrepareForShutdown"): await prepare(signal, isSleep: false)
        case (Self.manager, "SessionNew"):
            if let path = signal.arguments.last?.text { try await look(at: path) }
        case (Self.manager, "SessionRemoved"):
            if let path = signal.arguments.last?.text { removed(path) }
        case (LogindSession.interface, "Lock"):
            guard let session = sessions[signal.path] else { return }
            sessions[signal.path]?.isLocked = true
            reportLocked(session.user)
        case (LogindSession.interface, "Unlock"): sessions[signal.path]?.isLocked = false
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"): try await changed(signal)
        default: break
        }
    }

    private func prepare(_ signal: BusSignal, isSleep: Bool) async {
        guard let begins = signal.arguments.first?.bool else { return }
        if isSleep { isAsleep = begins }
        if begins {
            let number = delay.begin()
            signals.yield(isSleep ? .goingToSleep(number) : .shuttingDown(number))
        } else {
            await hold()
            if isSleep {
                // Another user's session may have become active during the sleep.
                await look(atSeats: Set(active.keys))
                signals.yield(.woke)
            }
        }
    }

    private func changed(_ signal: BusSignal) async throws {
        switch signal.arguments.first?.text {
        case LogindSession.interface where sessions[signal.path] != nil:
            // The signal counts, even if the state has changed by the time it is read.
            if let isLocked = try await value("LockedHint", of: LogindSession.interface, in: signal)?.bool {
                lockChanged(signal.path, isLocked)
            }
            try await look(at: signal.path)
        case Self.seat:
            guard let front = try await value("ActiveSession", of: Self.seat, in: signal) else { return }
            await frontChanged(signal.path, front)
        default: break
        }
    }

    /// A property that the signal contains or invalidates; nil for any other property.
    private func value(_ name: String, of interface: String, in signal: BusSignal) async throws -> BusValue? {
        guard signal.arguments.count == 3 else { return nil }
        if let value = signal.arguments[1].options?[name] { return value }
        guard signal.arguments[2].elements?.contains(.string(name)) == true else { return nil }
        return try await bus.property(Self.name, signal.path, interface, name)
    }

    // MARK: Sessions and seats

    private func reportLocked(_ user: UInt32) {
        if lockReports.isDue(user) {
            signals.yield(.sessionLocked(user: user))
        } else if delayedLocks.insert(user).inserted {
            Task {
                try? await Task.sleep(for: .seconds(1))
                delayedLocks.remove(user)
                signals.yield(.sessionLocked(user: user))
            }
        }
    }

    private func lockChanged(_ path: String, _ isLocked: Bool) {
        guard let session = sessions[path] else { return }
        sessions[path]?.isLocked = isLocked
        if isLocked, !session.isLocked { reportLocked(session.user) }
    }

    private func look(at path: String) async throws {
        let properties = try await bus.properties(Self.name, path, LogindSession.interface)
        guard let session = LogindSession(properties, lastKnown: sessions[path]) else { return }
        let wasLocked = sessions[path]?.isLocked ?? false
        sessions[path] = session
        if session.isLocked, !wasLocked { reportLocked(session.user) }
        if session.isGraphical { signals.yield(.session(path, session.idleness(at: Self.monotonicMicroseconds()))) }
    }

    private func removed(_ path: String) {
        guard let session = sessions.removeValue(forKey: path) else { return }
        // Somebody who closes a remote shell still sits at the desktop.
        let stays = sessions.values.contains { $0.user == session.user && $0.seat != nil }
        let others = sessions.values.contains { $0.user == session.user }
        signals.yield(.sessionEnded(path, leaving: stays || (others && session.seat == nil) ? nil : session.user))
    }

    /// At the front of a seat may be a console that no session has; after a sleep, the kernel's own.
    private func look(atSeats seats: Set<String>) async {
        for seat in seats {
            guard let front = try? await bus.property(Self.name, seat, Self.seat, "ActiveSession") else { continue }
            if front.elements?.last?.text != "/" { await frontChanged(seat, front) }
        }
    }

    private func frontChanged(_ seat: String, _ front: BusValue) async {
        // The kernel switches to a console of its own while it suspends. That is not another user.
        guard !isAsleep, let path = front.elements?.last?.text else { return }
        let last = active.updateValue(path, forKey: seat)
        guard let last, last != path, let left = sessions[last] else { return }
        if sessions[path] == nil { try? await look(at: path) }
        if sessions[path]?.user != left.user { signals.yield(.switchedAway(user: left.user)) }
    }

    private static func monotonicMicroseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1_000
    }
}
