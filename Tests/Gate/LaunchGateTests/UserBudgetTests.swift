import Testing

@testable import LaunchGate

@Suite struct UserBudgetTests {
    /// How many of five are given at that time.
    private func given(_ budget: inout UserBudget, to user: UInt32 = 1, at time: UInt64) -> Int {
        var given = 0
        for _ in 0..<5 where budget.take(user, at: time) { given += 1 }
        return given
    }

    @Test func `a user has some at once and then one each while`() {
        var budget = UserBudget(burst: 3, interval: 10)
        let counts = [100, 109, 110, 1_000].map { given(&budget, at: $0) }
        #expect(counts == [3, 0, 1, 3])
    }

    @Test func `another user has a budget of their own`() {
        var budget = UserBudget(burst: 1, interval: 10)
        let counts = [given(&budget, to: 1, at: 100), given(&budget, to: 2, at: 100)]
        #expect(counts == [1, 1])
    }
}
