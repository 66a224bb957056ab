import Glibc
import Testing

@Suite struct MemoryScanTests {
    /// One key in 256 begins with a zero, and most of a process' memory is zeros: the scan must skip them fast.
    @Test func searchingForAKeyThatBeginsWithAZeroIsFast() {
        let zeros = [UInt8](repeating: 0, count: 128 << 20)
        // Both have the same first byte that is not zero, at which the scan stops equally often.
        let other = [0x5A] + (0..<30).map { _ in UInt8.random(in: 0...255) }
        let disguised = [0xFF] + other
        let usual = processorTime { #expect(!MemoryScan.holds(other)) }
        let time = processorTime { #expect(!MemoryScan.holds(disguised)) }
        // Stopping at each zero takes about a thousand times as long.
        #expect(time < usual * 10)
        let key = disguised.map { ~$0 }
        #expect(MemoryScan.holds(disguised))
        withExtendedLifetime((zeros, key)) {}
    }

    /// Of this thread, so that other work of a busy machine is not counted.
    private func processorTime(_ work: () -> Void) -> Duration {
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let start = now()
        work()
        return now() - start
    }
}
