import SealedFormats
import Synchronization
import Testing

struct ScryptCostTests {
    /// Each read of this clock returns a time later by the same step.
    final class SteppingClock: Clock {
        struct Instant: InstantProtocol {
            let time: Duration
            func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
            func duration(to other: Instant) -> Duration { other.time - time }
            static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
        }

        private let looks = Mutex(0)
        let step: Duration
        let minimumResolution = Duration.nanoseconds(1)

        init(step: Duration) { self.step = step }

        var now: Instant {
            looks.withLock { looks in
                looks += 1
                return Instant(time: step * looks)
            }
        }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
    }

    @Test(arguments: [(2000, 17), (501, 17), (500, 18), (251, 18), (250, 19), (126, 19), (125, 20), (1, 20)])
    func theCostIsTheLargestThatStaysWithinASecond(_ milliseconds: Int, _ logarithm: Int) {
        let cost = ScryptCost.largest(
            within: .seconds(1), maximumMemory: 1 << 30, minimumTook: .milliseconds(milliseconds))
        #expect(cost.logarithm == logarithm)
    }

    @Test(arguments: [(1 << 30, 20), ((1 << 30) - 1, 19), (512 << 20, 19), (200 << 20, 17), (0, 17)])
    func theCostStaysWithinTheMemoryLimit(_ memory: Int, _ logarithm: Int) {
        let cost = ScryptCost.largest(within: .seconds(1), maximumMemory: memory, minimumTook: .milliseconds(1))
        #expect(cost.logarithm == logarithm)
    }

    @Test func theGivenClockIsUsed() throws {
        #expect(try ScryptCost.calibrated(clock: SteppingClock(step: .milliseconds(300))).logarithm == 18)
        #expect(try ScryptCost.calibrated(clock: SteppingClock(step: .seconds(3))) == .minimum)
    }

    @Test func onTheRealClockAGenerousTargetAllowsMoreThanAStrictOne() throws {
        let clock = ContinuousClock()
        let time = try clock.measure {
            _ = try PasscodeVerifier(passcode: SecretBytes(utf8: "7294"), cost: .minimum, machineSecret: nil)
        }
        // The factors allow for a machine that is busy during one of the runs.
        #expect(try ScryptCost.calibrated(target: time * 100, clock: clock).logarithm == 19)
        #expect(try ScryptCost.calibrated(target: time / 20, clock: clock) == .minimum)
    }

    @Test func costsOutOfRangeAreRefused() {
        #expect([0, 16, 21, 63, -1].allSatisfy { ScryptCost(logarithm: $0) == nil })
        #expect(ScryptCost(logarithm: 17) == .minimum)
        #expect(ScryptCost.minimum.memory == 128 << 20)
        #expect(ScryptCost(logarithm: 20)?.rounds == 1 << 20)
    }
}
