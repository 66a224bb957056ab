import Testing

@testable import LaunchGate

@Suite struct UserBudgetTests {
    @Test func `a user has some at once and then one each while`() {
        var budget = UserBudget(burst: 3, interval: 10)
        #expect((0..<5).map { _ in budget.take(1, at: 100) } == [true, true, true, false, false])
        #expect((0..<2).map { _ in budget.take(1, at: 109) } == [false, false])
        #expect((0..<2).map { _ in budget.take(1, at: 110) } == [true, false])
        #expect((0..<4).map { _ in budget.take(1, at: 1_000) } == [true, true, true, false])
    }

    @Test func `another user has a budget of their own`() {
        var budget = UserBudget(burst: 1, interval: 10)
        #expect((0..<2).map { _ in budget.take(1, at: 100) } == [true, false])
        #expect(budget.take(2, at: 100))
    }
}
