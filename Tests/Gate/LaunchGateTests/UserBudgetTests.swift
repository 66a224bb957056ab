import Testing

@testable import LaunchGate

@Suite struct UserBudgetTests {
    /// How many of five requests are allowed at that time.
    private func allowed(_ budget: inout UserBudget, to user: UInt32 = 1, at time: UInt64) -> Int {
        var allowed = 0
        for _ in 0..<5 where budget.take(user, at: time) { allowed += 1 }
        return allowed
    }

    @Test func `a user has a burst and then one request each interval`() {
        var budget = UserBudget(burst: 3, interval: 10)
        let counts = [100, 109, 110, 1_000].map { allowed(&budget, at: $0) }
        #expect(counts == [3, 0, 1, 3])
    }

    @Test func `each user has a separate budget`() {
        var budget = UserBudget(burst: 1, interval: 10)
        let counts = [allowed(&budget, to: 1, at: 100), allowed(&budget, to: 2, at: 100)]
        #expect(counts == [1, 1])
    }
}
