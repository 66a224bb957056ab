import ControlAPI
import Synchronization
import TestSupport
import Testing

@testable import DesktopSession

/// A simulated source of idle time: the time changes only when the test sets it.
final class ScriptedIdle: IdleSource {
    private struct State {
        var idle: Duration
        var touches = 0
        var waits: [Duration] = []
    }

    let kind = IdleReport.Source.xscreensaver
    let questions = Atomic(0)
    private let state: Mutex<State>

    init(idleFor time: Duration) { state = Mutex(State(idle: time)) }

    func touch() {
        state.withLock { state in
            state.idle = .zero
            state.touches += 1
        }
    }

    /// From now on there has been no input for this time.
    func rest(for time: Duration) { state.withLock { $0.idle = time } }

    /// What it was asked to wait for, in order.
    var waits: [Duration] { state.withLock { $0.waits } }

    func idleTime() async throws -> Duration {
        questions.add(1, ordering: .relaxed)
        return state.withLock { $0.idle }
    }

    func untilIdle(for time: Duration) async throws {
        state.withLock { $0.waits.append(time) }
        while state.withLock({ $0.idle }) < time { try await Task.sleep(for: .milliseconds(5)) }
    }

    func untilTouched() async throws {
        let before = state.withLock { $0.touches }
        while state.withLock({ $0.touches }) == before { try await Task.sleep(for: .milliseconds(5)) }
    }
}

/// A source that has disconnected.
struct LostIdle: IdleSource {
    let kind = IdleReport.Source.mutter
    func idleTime() async throws -> Duration { throw IdleSourceUnavailable(description: "gone") }
    func untilIdle(for time: Duration) async throws { throw IdleSourceUnavailable(description: "gone") }
    func untilTouched() async throws { throw IdleSourceUnavailable(description: "gone") }
}

/// With a limit of one second and a warning 500 ms before. Real time is what is tested where a test measures it:
/// inactivity counts from when something was opened.
struct IdleMonitorTests {
    enum Event: Equatable {
        case idle(IdleReport)
        case warned, withdrawn, lost
    }

    final class EventLog: Sendable {
        private let list = Mutex<[Event]>([])
        func append(_ event: Event) { list.withLock { $0.append(event) } }
        var events: [Event] { list.withLock { $0 } }
    }

    private func monitor(_ log: EventLog) async -> IdleMonitor {
        let monitor = IdleMonitor(lead: .milliseconds(500))
        await monitor.setReporter(
            .init(
                idle: { log.append(.idle($0)) }, warn: { _ in log.append(.warned) },
                withdrawWarning: { log.append(.withdrawn) }, lost: { _ in log.append(.lost) }))
        return monitor
    }

    private let armed = SessionState.Inactivity(limitSeconds: 1, isArmed: true)
    private let disarmed = SessionState.Inactivity(limitSeconds: 1, isArmed: false)
    private let source = Event.idle(IdleReport(source: .xscreensaver, idleSeconds: 0))
    private let limit = Event.idle(IdleReport(source: .xscreensaver, idleSeconds: 1))

    @Test func itWarnsAndThenReportsThatTheLimitIsReached() async throws {
        let log = EventLog()
        let monitor = await monitor(log)
        let person = ScriptedIdle(idleFor: .milliseconds(500))
        let began = ContinuousClock.now
        await monitor.use(person)
        await monitor.update(armed)
        await eventually("it warns: \(log.events)") { log.events.contains(.warned) }
        #expect(began.duration(to: .now) >= .milliseconds(490))
        person.rest(for: .seconds(1))
        await eventually("the limit: \(log.events)") { log.events.contains(limit) }
        #expect(began.duration(to: .now) >= .milliseconds(990))
        await eventually("the warning is withdrawn: \(log.events)") { log.events.last == .withdrawn }
        #expect(log.events == [source, .warned, limit, .withdrawn])
        await monitor.update(disarmed)
    }

    @Test func inputWithdrawsTheWarningAndRestartsTheCount() async throws {
        let log = EventLog()
        let monitor = await monitor(log)
        let person = ScriptedIdle(idleFor: .milliseconds(500))
        await monitor.use(person)
        await monitor.update(armed)
        await eventually("it warns: \(log.events)") { log.events.contains(.warned) }
        person.touch()
        await eventually("the warning is withdrawn: \(log.events)") { log.events.contains(.withdrawn) }
        await eventually("it waits for as long again") { person.waits == [.milliseconds(500)] }
        #expect(log.events == [source, .warned, .withdrawn])
        person.rest(for: .milliseconds(500))
        await eventually("it warns again: \(log.events)") { log.events.last == .warned }
        #expect(log.events == [source, .warned, .withdrawn, .warned])
        await monitor.update(disarmed)
    }

    @Test func theSourceIsNotAskedWhileNothingIsOpen() async throws {
        let log = EventLog()
        let monitor = await monitor(log)
        let person = ScriptedIdle(idleFor: .milliseconds(500))
        await monitor.use(person)
        await monitor.update(disarmed)
        let asked = person.questions.load(ordering: .relaxed)
        // A second monitor with something open asks and warns.
        let otherLog = EventLog()
        let other = await self.monitor(otherLog)
        await other.use(ScriptedIdle(idleFor: .milliseconds(500)))
        await other.update(armed)
        await eventually("the other warns: \(otherLog.events)") { otherLog.events.contains(.warned) }
        await other.update(disarmed)
        #expect(person.questions.load(ordering: .relaxed) == asked && log.events == [source])
        // Something is opened remotely while the user is idle: the count begins now.
        let opened = ContinuousClock.now
        await monitor.update(armed)
        await eventually("it warns: \(log.events)") { log.events.contains(.warned) }
        #expect(opened.duration(to: .now) >= .milliseconds(490))
        await monitor.update(disarmed)
        #expect(log.events == [source, .warned, .withdrawn], "locked meanwhile: the warning is withdrawn")
    }

    @Test func aLostSourceAndTheAbsenceOfOneAreReported() async throws {
        let log = EventLog()
        let monitor = await monitor(log)
        await monitor.use(LostIdle())
        await monitor.update(armed)
        await eventually("the loss is reported: \(log.events)") { log.events.contains(.lost) }
        await monitor.use(nil)
        #expect(log.events.last == .idle(IdleReport(source: .none, idleSeconds: 0)))
    }
}
