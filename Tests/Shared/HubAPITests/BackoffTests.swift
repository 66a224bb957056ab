import HubAPI
import Testing

@Suite struct BackoffTests {
    @Test func theDelayGrowsToALimitAndIsReset() {
        var longest = Backoff(first: .seconds(1), longest: .seconds(60), random: { 0.999_999 })
        var shortest = Backoff(first: .seconds(1), longest: .seconds(60), random: { 0 })
        for expected in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            #expect(shortest.next() == .milliseconds(expected * 500))
            let wait = longest.next()
            #expect(wait > .milliseconds(expected * 999) && wait <= .seconds(expected))
        }
        longest.succeeded()
        #expect(longest.next() <= .seconds(1))
        for _ in 0..<100 { #expect(longest.next() <= .seconds(60)) }
    }

    @Test func withoutJitterEachDelayIsExact() {
        var backoff = Backoff(first: .milliseconds(50), longest: .seconds(2), jitter: 1...1)
        for expected in [50, 100, 200, 400, 800, 1600, 2000, 2000] {
            #expect(backoff.next() == .milliseconds(expected))
        }
    }

    @Test func jitterMayLengthenTheDelay() {
        var backoff = Backoff(first: .seconds(2), longest: .seconds(600), jitter: 1...1.25, random: { 0.5 })
        #expect(backoff.next() == .milliseconds(2250))
        #expect(backoff.next() == .milliseconds(4500))
    }

    @Test func aRequestedDelayReplacesTheStepWithinTheLimits() {
        var backoff = Backoff(first: .seconds(2), longest: .seconds(600), jitter: 1...1)
        #expect(backoff.next(requested: .seconds(30)) == .seconds(30))
        #expect(backoff.next(requested: .zero) == .seconds(2))
        #expect(backoff.next(requested: .seconds(86_400)) == .seconds(600))
        #expect(backoff.next() == .seconds(16))
    }
}
