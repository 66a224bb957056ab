import ControlAPI
import Policy
import SealedFormats
import Synchronization
import TestSupport
import Testing

@testable import DaemonCore

/// A log whose writes wait until the test releases them, or fail.
private actor SlowLog: ActivityStore {
    struct Full: Error {}

    private(set) var batches: [[ActivityEvent]] = []
    private var isHeld = true
    private var isFull = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func release(isFull: Bool = false) {
        self.isFull = isFull
        isHeld = false
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    func append(_ events: [ActivityEvent]) async throws {
        if isHeld { await withCheckedContinuation { waiting.append($0) } }
        if isFull { throw Full() }
        batches.append(events)
    }

    var isWriting: Bool { !waiting.isEmpty }

    func events(
        after number: Int64, before: Int64, limit: Int, app: String?, user: UInt32?
    ) async throws -> [EventReport] { [] }
    func statistics(since time: Double, user: UInt32?) async throws -> [AppStatistics] { [] }
    func statisticsByDay(since time: Double, user: UInt32?) async throws -> [DayStatistics] { [] }
    func verifyLog(known: AuditChain.Head?) async throws -> LogVerification { throw Full() }
}

@Suite struct ActivityLogTests {
    private let store = SlowLog()
    private let log: ActivityLog

    init() { log = ActivityLog(store: store, time: TestTime()) }

    @Test func enqueuedEventsAreWrittenTogetherWithoutWaiting() async {
        await log.enqueue(.launchDenied, "first")
        await eventually { await store.isWriting }
        for number in 1...100 { await log.enqueue(.launchDenied, user: UInt32(number), "\(number)") }
        await store.release()
        await log.flush()
        #expect(await store.batches.map(\.count) == [1, 100])
    }

    @Test func appendReturnsOnceTheEventIsWritten() async {
        await store.release()
        await log.append(.unlocked, "it")
        #expect(await store.batches.flatMap { $0 }.map(\.sentence) == ["it"])
    }

    @Test func aFloodIsCountedAndDisplacesNoAppendedEvent() async {
        await log.enqueue(.launchDenied, "first")
        await eventually { await store.isWriting }
        for user in 0..<5_000 { await log.enqueue(.launchDenied, user: UInt32(user), "flood") }
        let isQueued = Mutex(false)
        let observed = await log.observe()
        let observing = Task {
            for await event in observed where event.sentence == "important" { isQueued.withLock { $0 = true } }
        }
        async let recorded: Void = log.append(.unlocked, "important")
        await eventually("it is queued behind the flood") { isQueued.withLock { $0 } }
        observing.cancel()
        await store.release()
        await recorded
        let events = await store.batches.flatMap { $0 }
        #expect(events.contains { $0.sentence == "important" })
        #expect(events.count { $0.sentence == "flood" } == ActivityLog.maximumPending)
        #expect(events.first { $0.kind == .eventsLost }?.sentence.hasPrefix("904 events") == true)
    }

    @Test func eventsThatCouldNotBeWrittenAreCountedInTheNextWrite() async {
        await store.release(isFull: true)
        await log.append(.unlocked, "lost")
        await log.append(.unlocked, "lost too")
        #expect(await store.batches.isEmpty)
        await store.release()
        await log.append(.unlocked, "kept")
        #expect(
            await store.batches.map { $0.map(\.sentence) } == [
                ["kept", "2 events arrived faster than they could be written and were dropped."]
            ])
    }
}
