import DBus
import DaemonCore
import Foundation
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import SessionSignals

@Suite(
    .timeLimit(.minutes(4)),
    .requires(.program("dbus-daemon"), .path("/usr/lib/python3/dist-packages/dbusmock/templates/logind.py")))
struct LogindSignalsTests {
    private let alice: UInt32 = 1_000
    private let bob: UInt32 = 1_001
    private let seat = "/org/freedesktop/login1/seat/seat0"

    /// Signals of a running logind, after `available`.
    private func listen(_ mock: MockLogind) async -> (LogindSignals, SignalReader) {
        let signals = LogindSignals(
            address: .address(mock.address), retries: .milliseconds(20) ... .milliseconds(100))
        signals.start()
        var reader = SignalReader(signals.signals)
        while let signal = await reader.next(), signal != .available {}
        return (signals, reader)
    }

    @Test func sleepIsDelayedUntilTheAcknowledgement() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let session = try await mock.addSession("1", user: alice)
        let (signals, stream) = await listen(mock)
        var reader = stream
        await eventually("sleep is delayed") { try await mock.inhibitors().count == 2 }
        // Requested separately: the mock also grants what systemd refuses to a system user.
        #expect(
            try await mock.inhibitors()
                == ["sleep", "shutdown"].map {
                    [$0, "AppLocker", "Lock apps and erase keys before \($0)", "delay"]
                })
        for _ in 0..<3 {
            try await mock.prepareForSleep(true)
            guard case .goingToSleep(let number)? = await reader.nextButSessions() else {
                Issue.record("no signal of sleep")
                return
            }
            signals.acknowledge(number + 1)
            signals.acknowledge(number - 1)
            // The inhibitor is held until then; other signals are still reported.
            try await mock.call(session, "Session", "Lock")
            #expect(await reader.nextButSessions() == .sessionLocked(user: alice))
            #expect(try await mock.inhibitors().count == 2)
            signals.acknowledge(number)
            await eventually("sleep is not delayed") { try await mock.inhibitors().isEmpty }
            try await mock.prepareForSleep(false)
            #expect(await reader.nextButSessions() == .woke)
            #expect(try await mock.inhibitors().count == 2, "held again before the wake is reported")
            // Too late for that sleep, which is over.
            signals.acknowledge(number)
            #expect(try await mock.inhibitors().count == 2)
        }
        signals.stop()
    }

    @Test func shutdownIsDelayedAndCanBeCancelled() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let (signals, stream) = await listen(mock)
        var reader = stream
        await eventually("shutdown is delayed") { try await mock.inhibitors().count == 2 }
        try await mock.emit("PrepareForShutdown", "b", [.bool(true)])
        guard case .shuttingDown(let number)? = await reader.next() else {
            Issue.record("no signal of shutdown")
            return
        }
        signals.acknowledge(number)
        await eventually("shutdown is not delayed") { try await mock.inhibitors().isEmpty }
        try await mock.emit("PrepareForShutdown", "b", [.bool(false)])
        await eventually("shutdown is delayed") { try await mock.inhibitors().count == 2 }
        signals.stop()
    }

    @Test func aLockedScreenIsReportedOnce() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let session = try await mock.addSession("1", user: alice)
        let (signals, stream) = await listen(mock)
        var reader = stream
        #expect(await reader.next() == .session(session, SessionIdleness(user: alice, isKnown: false, idle: nil)))
        try await mock.call(session, "Session", "Lock")
        #expect(await reader.next() == .sessionLocked(user: alice))
        try await mock.update(session, "Session", ["LockedHint": .bool(true)])
        try await mock.update(session, "Session", ["LockedHint": .bool(false)])
        try await mock.update(session, "Session", ["LockedHint": .bool(true)])
        #expect(await reader.nextButSessions() == .sessionLocked(user: alice))
        // A session that is locked when the daemon starts is reported.
        let (others, laterStream) = await listen(mock)
        var later = laterStream
        #expect(await later.nextButSessions() == .sessionLocked(user: alice))
        others.stop()
        signals.stop()
    }

    @Test func onlyAnotherUserAtTheSeatIsReportedAsASwitch() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let first = try await mock.addSession("1", user: alice)
        let (signals, stream) = await listen(mock)
        var reader = stream
        // Signals are read once the active session is known.
        try await mock.call(first, "Session", "Lock")
        #expect(await reader.nextButSessions() == .sessionLocked(user: alice))
        func front(_ id: String, _ path: String) async throws {
            try await mock.set(seat, "Seat", "ActiveSession", .structure([.string(id), .objectPath(path)]))
        }
        // The mock makes a new session the active one.
        let second = try await mock.addSession("2", user: alice)
        try await front("1", first)
        try await front("2", second)
        let third = try await mock.addSession("3", user: bob)
        #expect(await reader.nextButSessions() == .switchedAway(user: alice))
        try await front("1", first)
        #expect(await reader.nextButSessions() == .switchedAway(user: bob))
        try await front("2", second)
        try await front("3", third)
        #expect(await reader.nextButSessions() == .switchedAway(user: alice))
        // A switch to a console where no user is logged in.
        try await front("", "/")
        #expect(await reader.nextButSessions() == .switchedAway(user: bob))
        signals.stop()
    }

    @Test func theKernelsConsoleDuringASuspendIsNoSwitchToAnotherUser() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let first = try await mock.addSession("1", user: alice)
        let second = try await mock.addSession("2", user: bob)
        func front(_ id: String, _ path: String) async throws {
            try await mock.set(seat, "Seat", "ActiveSession", .structure([.string(id), .objectPath(path)]))
        }
        try await front("1", first)
        let (signals, stream) = await listen(mock)
        var reader = stream
        // Signals are read once the active session is known.
        try await mock.call(first, "Session", "Lock")
        #expect(await reader.nextButSessions() == .sessionLocked(user: alice))
        // The session is active again before the computer is awake, or shortly after.
        for isActiveAtWake in [true, false] {
            try await mock.prepareForSleep(true)
            guard case .goingToSleep? = await reader.nextButSessions() else {
                Issue.record("no signal of sleep")
                return
            }
            try await front("", "/")
            if isActiveAtWake { try await front("1", first) }
            try await mock.prepareForSleep(false)
            #expect(await reader.nextButSessions() == .woke)
            if !isActiveAtWake { try await front("1", first) }
        }
        // Another user's session that became active during the sleep is reported.
        try await mock.prepareForSleep(true)
        guard case .goingToSleep? = await reader.nextButSessions() else {
            Issue.record("no signal of sleep")
            return
        }
        try await front("2", second)
        try await mock.prepareForSleep(false)
        #expect(await reader.nextButSessions() == .switchedAway(user: alice))
        #expect(await reader.nextButSessions() == .woke)
        signals.stop()
    }

    @Test func theEndOfALocalSessionIsReportedAndThatOfARemoteShellIsNot() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let desktop = try await mock.addSession("1", user: alice)
        let remote = try await mock.addSession("2", user: alice)
        try await mock.set(remote, "Session", "Seat", .structure([.string(""), .objectPath("/")]))
        let greeter = try await mock.addSession("3", user: 42)
        try await mock.update(greeter, "Session", ["Class": .string("greeter")])
        let (signals, stream) = await listen(mock)
        var reader = stream
        try await mock.removeSession("3")
        try await mock.removeSession("2")
        #expect(await reader.nextButSessions() == .sessionEnded(remote, leaving: nil))
        try await mock.removeSession("1")
        #expect(await reader.nextButSessions() == .sessionEnded(desktop, leaving: alice))
        signals.stop()
    }

    @Test func aClosingLidIsReportedAndAClosedOneIsNot() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let (signals, _) = await listen(mock)
        let reports = Mutex(0)
        let reading = Task {
            for await signal in signals.signals where signal == .lidClosed { reports.withLock { $0 += 1 } }
        }
        var closings = 0
        // UPower starts after the daemon, and once more with a lid that is closed already.
        for wasClosed in [false, true] {
            let upower = try await mock.startUPower(lidIsClosed: wasClosed)
            defer { upower.kill() }
            let before = reports.withLock { $0 }
            // Closings are reported once the listener has read the first state.
            await eventually(every: .milliseconds(50), "a closing lid is reported") {
                if reports.withLock({ $0 }) > before { return true }
                try await mock.setLid(isClosed: false)
                try await mock.setLid(isClosed: true)
                closings += 1
                return false
            }
        }
        signals.stop()
        await reading.value
        #expect(reports.withLock { $0 } <= closings, "a lid that was closed already was reported")
    }

    @Test func theIdleHintIsReportedWithItsAge() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let session = try await mock.addSession("1", user: alice)
        let (signals, stream) = await listen(mock)
        var reader = stream
        _ = await reader.next()
        let began = ContinuousClock.now
        let now = DispatchTime.now().uptimeNanoseconds / 1_000
        try await mock.update(
            session, "Session",
            ["IdleHint": .bool(true), "IdleSinceHintMonotonic": .uint64(now - 1_000_000)])
        guard case .session(session, let idleness)? = await reader.next(), let idle = idleness.idle else {
            Issue.record("no idleness")
            return
        }
        #expect(idleness.user == alice && idleness.isKnown)
        #expect(idle >= .seconds(1) && idle <= .seconds(1) + began.duration(to: .now))
        try await mock.update(session, "Session", ["IdleHint": .bool(false), "IdleSinceHintMonotonic": .uint64(now)])
        #expect(await reader.next() == .session(session, SessionIdleness(user: alice, isKnown: true, idle: nil)))
        signals.stop()
    }

    @Test func restartsOfLogindAndTheBusAreFollowed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bus")
        let signals = LogindSignals(
            address: .address("unix:path=\(path)"), retries: .milliseconds(20) ... .milliseconds(50))
        signals.start()
        var reader = SignalReader(signals.signals)
        #expect(await reader.next() == .unavailable("the D-Bus system bus is not running"))
        for _ in 0..<2 {
            let (daemon, address) = try await MockLogind.startBus(path)
            let mock = try MockLogind(daemon: daemon, address: address)
            while let signal = await reader.next(), signal != .unavailable("systemd-logind is not running") {}
            var logind = try await mock.start()
            #expect(await reader.next() == .available)
            await eventually("sleep is delayed") { try await mock.inhibitors().count == 2 }
            logind.kill()
            #expect(await reader.next() == .unavailable("systemd-logind is not running"))
            logind = try await mock.start()
            #expect(await reader.next() == .available)
            await eventually("sleep is delayed") { try await mock.inhibitors().count == 2 }
            daemon.kill()
            while let signal = await reader.next(), signal != .unavailable("the D-Bus system bus is not running") {}
        }
        signals.stop()
    }
}

/// Signals, in order.
struct SignalReader {
    private var signals: AsyncStream<SessionSignal>.AsyncIterator

    init(_ signals: AsyncStream<SessionSignal>) { self.signals = signals.makeAsyncIterator() }

    mutating func next() async -> SessionSignal? { await signals.next(isolation: nil) }

    mutating func nextButSessions() async -> SessionSignal? {
        while let signal = await next() {
            if case .session = signal { continue }
            return signal
        }
        return nil
    }
}
