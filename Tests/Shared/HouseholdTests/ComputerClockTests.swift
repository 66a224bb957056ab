import Testing

@testable import Household

@Suite struct ComputerClockTests {
    @Test func theLargestDifferenceIsNearestToTheTruth() {
        var clock = ComputerClock()
        #expect(clock.now(1_000) == 1_000)
        // Ten minutes ahead; its records take from 40 ms to 3 s to arrive.
        for delay: UInt64 in [3_000, 40, 900] { clock.received(1_600_000, at: 1_000_000 + delay) }
        #expect(clock.now(2_000_000) == 2_600_000 - 40)
    }

    @Test func aRefusalReplacesTheEstimate() {
        var clock = ComputerClock()
        clock.received(1_600_000, at: 1_000_000)
        clock.correct(400_000, at: 1_000_000)
        #expect(clock.now(1_000_000) == 400_000)
    }
}
