import Testing

@Suite struct MemoryScanTests {
    /// One key in 256 begins with a zero, and most of a process' memory is zeros: the scan must skip them fast.
    @Test(.timeLimit(.minutes(1))) func searchingForAKeyThatBeginsWithAZeroIsFast() {
        let zeros = [UInt8](repeating: 0, count: 128 << 20)
        let disguised = [0xFF] + (0..<31).map { _ in UInt8.random(in: 0...255) }
        #expect(!MemoryScan.holds(disguised))
        let key = disguised.map { ~$0 }
        #expect(MemoryScan.holds(disguised))
        withExtendedLifetime((zeros, key)) {}
    }
}
