import NIOPosix
import Testing

@testable import HubServer

/// The numbers that are read for a household's streams, in every order of announcements.
struct StreamTopicTests {
    private func reading() -> StreamTopic.State {
        var state = StreamTopic.State()
        state.through = 0
        let loop = StreamLoop(
            MultiThreadedEventLoopGroup.singleton.next(), metrics: HubMetrics(), heartbeat: .seconds(15))
        state.loops[ObjectIdentifier(loop)] = (loop, 1)
        return state
    }

    @Test func numbersAnnouncedDuringAReadAreReadNext() throws {
        var state = reading()
        let mustRead = state.announce(5)
        let first = state.nextReading()
        // Committed after the page was read, announced before the page was published; a household has one reader.
        let mustReadToo = state.announce(6)
        #expect(mustRead && !mustReadToo)
        state.finish(try #require(first), next: 5, more: false)
        let second = state.nextReading()
        #expect(second?.after == 5)
        state.finish(try #require(second), next: 6, more: false)
        let third = state.nextReading()
        #expect(third?.after == nil)
        let mustReadAgain = state.announce(7)
        #expect(mustReadAgain)
    }

    @Test func aRemovedNumberIsNotWaitedFor() throws {
        var state = reading()
        _ = state.announce(9)
        let first = state.nextReading()
        state.finish(try #require(first), next: 4, more: true)
        let second = state.nextReading()
        #expect(second?.after == 4)
        state.finish(try #require(second), next: 7, more: false)
        let third = state.nextReading()
        #expect(third?.after == nil)
    }
}
