import TestSupport
import Testing

/// Random households, networks, kills, removals and lies of the hub, checked against a simple model after each step: nothing that was
/// acknowledged is lost, nobody reads what is written after their removal, and nothing goes back to what it was before.
@Suite struct HouseholdStateMachineTests {
    /// Those that once found a defect, and some others.
    private static let seeds = TestSupport.seeds(
        [
            151_922, 191_586, 210_567, 441_740, 546_618, 602_734, 617_114, 618_693, 770_685, 820_318, 833_863, 886_785,
            921_124, 929_229, 990_265, 1_000_019,
        ]
            + Array(1...3) + [1_000_001], orAskedBy: "HOUSEHOLD_SEEDS", upTo: 2_000_000)
    /// From this seed on the hub is restored from a backup now and then.
    private static let firstWithRestores: UInt64 = 1_000_000

    @Test(arguments: seeds)
    func theHouseholdKeepsItsPromises(_ seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let household = try await HouseholdUnderTest(computers: Int.random(in: 1...2, using: &random))
        for _ in 0..<Int.random(in: 1...2, using: &random) { try await household.pair(at: 0) }
        var taken: [HouseholdStep] = []
        var steps = HouseholdStep.run(of: 200, &random)
        if seed >= Self.firstWithRestores { HouseholdStep.restoreHub(in: &steps, &random) }
        for step in steps {
            taken.append(step)
            do {
                try await household.take(step)
                try await household.check()
            } catch {
                let steps = taken.enumerated().map { "\($0.offset + 1): \($0.element)" }.joined(separator: "\n")
                Issue.record("seed \(seed), step \(taken.count): \(error)\n\(steps)")
                return
            }
        }
    }
}
