import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import DesktopSession

/// A source whose person the test plays.
final class ScriptedIdle: IdleSource {
    let kind: IdleReport.Source
    private let lastTouch = Mutex(ContinuousClock.now)
    let questions = Atomic(0)

    init(_ kind: IdleReport.Source = .xscreensaver, idleFor time: Duration = .zero) {
        self.kind = kind
        lastTouch.withLock { $0 = .now - time }
    }

    func touch() { lastTouch.withLock { $0 = .now } }

    func idleTime() async throws -> Duration {
        questions.add(1, ordering: .relaxed)
        return lastTouch.withLock { $0.duration(to: .now) }
    }

    func untilIdle(for time: Duration) async throws {
        try await Task.sleep(until: lastTouch.withLock { $0 } + time, clock: .continuous)
    }

    func untilTouched() async throws {
        let before = lastTouch.withLock { $0 }
        while lastTouch.withLock({ $0 }) == before { try await Task.sleep(for: .milliseconds(5)) }
    }
}

/// A source that is gone.
struct LostIdle: IdleSource {
    let kind = IdleReport.Source.mutter
    func idleTime() async throws -> Duration { throw IdleSourceGone(description: "gone") }
    func untilIdle(for time: Duration) async throws { throw IdleSourceGone(description: "gone") }
    func untilTouched() async throws { throw IdleSourceGone(description: "gone") }
}

/// The real clock, with a limit of one second and a warning 500 ms before.
struct IdleKeeperTests {
    enum Word: Equatable {
        case idle(IdleReport)
        case warned, withdrawn, lost
    }

    final class Ears: Sendable {
        private let words = Mutex<[Word]>([])
        func hear(_ word: Word) { words.withLock { $0.append(word) } }
        var heard: [Word] { words.withLock { $0 } }
    }

    private func keeper(_ ears: Ears, lead: Duration = .milliseconds(500)) async -> IdleKeeper {
        let keeper = IdleKeeper(lead: lead)
        await keeper.tell(
            .init(
                idle: { ears.hear(.idle($0)) }, warn: { _ in ears.hear(.warned) },
                withdrawWarning: { ears.hear(.withdrawn) }, lost: { _, _ in ears.hear(.lost) }))
        return keeper
    }

    private let armed = SessionState.Inactivity(limitSeconds: 1, isArmed: true)
    private let source = Word.idle(IdleReport(source: .xscreensaver, idleSeconds: 0))
    private let limit = Word.idle(IdleReport(source: .xscreensaver, idleSeconds: 1))

    @Test func itWarnsAndThenTellsThatTheLimitIsReached() async throws {
        let ears = Ears()
        let keeper = await keeper(ears)
        let began = ContinuousClock.now
        await keeper.use(ScriptedIdle())
        await keeper.update(armed)
        await eventually { ears.heard.contains(.warned) }
        #expect(began.duration(to: .now) >= .milliseconds(490))
        await eventually { ears.heard.contains(limit) }
        #expect(began.duration(to: .now) >= .milliseconds(990))
        await eventually { ears.heard.last == .withdrawn }
        #expect(ears.heard == [source, .warned, limit, .withdrawn])
        await keeper.update(.init(limitSeconds: 1, isArmed: false))
    }

    @Test func aTouchTakesTheWarningBackAndTheCountBeginsAnew() async throws {
        let ears = Ears()
        let keeper = await keeper(ears, lead: .seconds(1))
        let person = ScriptedIdle()
        await keeper.use(person)
        await keeper.update(.init(limitSeconds: 2, isArmed: true))
        await eventually { ears.heard.contains(.warned) }
        person.touch()
        let touched = ContinuousClock.now
        await eventually { ears.heard.contains(.withdrawn) }
        #expect(ears.heard == [source, .warned, .withdrawn])
        await eventually { ears.heard.last == .warned }
        #expect(touched.duration(to: .now) >= .milliseconds(990))
        #expect(ears.heard == [source, .warned, .withdrawn, .warned])
        await keeper.update(.init(limitSeconds: 2, isArmed: false))
    }

    @Test func nothingIsAskedWhileNothingIsOpen() async throws {
        let ears = Ears()
        let keeper = await keeper(ears)
        let person = ScriptedIdle(idleFor: .seconds(100))
        await keeper.use(person)
        await keeper.update(.init(limitSeconds: 1, isArmed: false))
        let asked = person.questions.load(ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(300))
        #expect(person.questions.load(ordering: .relaxed) == asked && ears.heard == [source])
        // Opened from afar while nobody is there: the count begins now.
        await keeper.update(armed)
        try await Task.sleep(for: .milliseconds(200))
        #expect(ears.heard == [source])
        await eventually { ears.heard.contains(.warned) }
        await keeper.update(.init(limitSeconds: 1, isArmed: false))
        #expect(ears.heard == [source, .warned, .withdrawn], "locked meanwhile: the warning goes")
    }

    @Test func aLostSourceIsSaidAndNoneIsReportedAsNone() async throws {
        let ears = Ears()
        let keeper = await keeper(ears)
        await keeper.use(LostIdle())
        await keeper.update(armed)
        await eventually { ears.heard.contains(.lost) }
        await keeper.use(nil)
        #expect(ears.heard.last == .idle(IdleReport(source: .none, idleSeconds: 0)))
    }
}
