import TestSupport
import Testing

/// Random households, networks, kills, revocations and protocol violations of the hub, checked against a model after
/// each step: nothing acknowledged is lost, no revoked phone reads later records, and nothing returns to an older
/// version.
@Suite struct HouseholdStateMachineTests {
    /// Seeds that found defects, and some others.
    private static let seeds = TestSupport.seeds(
        [151_922, 441_740, 617_114, 820_318, 833_863, 929_229, 990_265, 1_000_019],
        more: [
            191_586, 210_567, 546_618, 602_734, 618_693, 770_685, 886_785, 921_124, 1, 2, 3, 1_000_001,
        ], orAskedBy: "HOUSEHOLD_SEEDS", upTo: 2_000_000)
    /// From this seed on the hub is restored from backups.
    private static let firstWithRestores: UInt64 = 1_000_000

    @Test(arguments: seeds)
    func theHouseholdKeepsItsInvariants(_ seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let household = try await HouseholdUnderTest(computers: Int.random(in: 1...2, using: &random))
        for _ in 0..<Int.random(in: 1...2, using: &random) { try await household.pair(at: 0) }
        var performed: [HouseholdStep] = []
        var steps = HouseholdStep.run(of: 200, &random)
        if seed >= Self.firstWithRestores { HouseholdStep.restoreHub(in: &steps, &random) }
        for step in steps {
            performed.append(step)
            do {
                try await household.perform(step)
                try await household.check()
            } catch {
                let steps = performed.enumerated().map { "\($0.offset + 1): \($0.element)" }.joined(separator: "\n")
                Issue.record("seed \(seed), step \(performed.count): \(error)\n\(steps)")
                return
            }
        }
    }
}
