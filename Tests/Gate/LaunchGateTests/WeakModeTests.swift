import Testing

@testable import LaunchGate

@Suite struct WeakModeTests {
    @Test func `a started app is searched for at once, and then after pauses that double, for two seconds`() {
        var times: [UInt64] = [0]
        while let pause = Gate.pause(after: times.count - 1) { times.append(times[times.count - 1] + pause) }
        #expect(times.map { $0 / 1_000_000 } == [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047])
    }
}
