import ControlAPI
import Synchronization
import TestSupport
import Testing

@testable import DesktopSession

/// A source whose person the test plays. Its idle time is what the test says, and does not pass by itself.
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

    /// From now on nobody has touched anything for so long.
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

/// A source that is gone.
struct LostIdle: IdleSource {
    let kind = IdleReport.Source.mutter
    func idleTime() async throws -> Duration { throw IdleSourceUnavailable(description: "gone") }
    func untilIdle(for time: Duration) async throws { throw IdleSourceUnavailable(description: "gone") }
    func untilTouched() async throws { throw IdleSourceUnavailable(description: "gone") }
}

/// With a limit of one second and a warning 500 ms before. The real time is what is tested where a test measures it:
/// inactivity counts from when something was opened.
struct IdleMonitorTests {
    enum Word: Equatable {
        case idle(IdleReport)
        case warned, withdrawn, lost
    }

    final class Ears: Sendable {
        private let words = Mutex<[Word]>([])
        func hear(_ word: Word) { words.withLock { $0.append(word) } }
        var heard: [Word] { words.withLock { $0 } }
    }

    private func monitor(_ ears: Ears) async -> IdleMonitor {
        let monitor = IdleMonitor(lead: .milliseconds(500))
        await monitor.setReporter(
            .init(
                idle: { ears.hear(.idle($0)) }, warn: { _ in ears.hear(.warned) },
                withdrawWarning: { ears.hear(.withdrawn) }, lost: { _ in ears.hear(.lost) }))
        return monitor
    }

    private let armed = SessionState.Inactivity(limitSeconds: 1, isArmed: true)
    private let disarmed = SessionState.Inactivity(limitSeconds: 1, isArmed: false)
    private let source = Word.idle(IdleReport(source: .xscreensaver, idleSeconds: 0))
    private let limit = Word.idle(IdleReport(source: .xscreensaver, idleSeconds: 1))

    @Test func itWarnsAndThenTellsThatTheLimitIsReached() async throws {
        let ears = Ears()
        let monitor = await monitor(ears)
        let person = ScriptedIdle(idleFor: .milliseconds(500))
        let began = ContinuousClock.now
        await monitor.use(person)
        await monitor.update(armed)
        await eventually("it warns: \(ears.heard)") { ears.heard.contains(.warned) }
        #expect(began.duration(to: .now) >= .milliseconds(490))
        person.rest(for: .seconds(1))
        await eventually("the limit: \(ears.heard)") { ears.heard.contains(limit) }
        #expect(began.duration(to: .now) >= .milliseconds(990))
        await eventually("the warning goes: \(ears.heard)") { ears.heard.last == .withdrawn }
        #expect(ears.heard == [source, .warned, limit, .withdrawn])
        await monitor.update(disarmed)
    }

    @Test func aTouchTakesTheWarningBackAndTheCountBeginsAnew() async throws {
        let ears = Ears()
        let monitor = await monitor(ears)
        let person = ScriptedIdle(idleFor: .milliseconds(500))
        await monitor.use(person)
        await monitor.update(armed)
        await eventually("it warns: \(ears.heard)") { ears.heard.contains(.warned) }
        person.touch()
        await eventually("the warning goes: \(ears.heard)") { ears.heard.contains(.withdrawn) }
        await eventually("it waits for as long again") { person.waits == [.milliseconds(500)] }
        #expect(ears.heard == [source, .warned, .withdrawn])
        person.rest(for: .milliseconds(500))
        await eventually("it warns again: \(ears.heard)") { ears.heard.last == .warned }
        #expect(ears.heard == [source, .warned, .withdrawn, .warned])
        await monitor.update(disarmed)
    }

    @Test func nothingIsAskedWhileNothingIsOpen() async throws {
        let ears = Ears()
        let monitor = await monitor(ears)
        let person = ScriptedIdle(idleFor: .milliseconds(500))
        await monitor.use(person)
        await monitor.update(disarmed)
        let asked = person.questions.load(ordering: .relaxed)
        // Beside it one with something open asks and warns.
        let otherEars = Ears()
        let other = await self.monitor(otherEars)
        await other.use(ScriptedIdle(idleFor: .milliseconds(500)))
        await other.update(armed)
        await eventually("the other warns: \(otherEars.heard)") { otherEars.heard.contains(.warned) }
        await other.update(disarmed)
        #expect(person.questions.load(ordering: .relaxed) == asked && ears.heard == [source])
        // Opened from afar while nobody is there: the count begins now.
        let opened = ContinuousClock.now
        await monitor.update(armed)
        await eventually("it warns: \(ears.heard)") { ears.heard.contains(.warned) }
        #expect(opened.duration(to: .now) >= .milliseconds(490))
        await monitor.update(disarmed)
        #expect(ears.heard == [source, .warned, .withdrawn], "locked meanwhile: the warning goes")
    }

    @Test func aLostSourceIsSaidAndNoneIsReportedAsNone() async throws {
        let ears = Ears()
        let monitor = await monitor(ears)
        await monitor.use(LostIdle())
        await monitor.update(armed)
        await eventually("the loss is said: \(ears.heard)") { ears.heard.contains(.lost) }
        await monitor.use(nil)
        #expect(ears.heard.last == .idle(IdleReport(source: .none, idleSeconds: 0)))
    }
}
