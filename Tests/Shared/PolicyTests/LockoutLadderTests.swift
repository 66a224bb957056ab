import Foundation
import Policy
import TestSupport
import Testing

@Suite struct LockoutLadderTests {
    /// Fails `count` times, each as soon as possible; returns the ladder and the time of the last failure.
    private func ladder(failures count: Int, from start: Double = 1000) -> (ladder: LockoutLadder, last: Double) {
        var ladder = LockoutLadder()
        var now = start
        for _ in 0..<count {
            if case .lockedOut(let remaining, _) = ladder.status(at: moment(now)) {
                now += Double(remaining.components.seconds)
            }
            ladder.recordFailure(at: moment(now))
        }
        return (ladder, now)
    }

    @Test func failuresStartTheLockoutOfTheirStep() {
        let steps = [5: 60, 8: 120, 10: 300, 15: 900, 20: 3600, 21: 3600, 22: 3600, 23: 3600, 50: 3600]
        for count in Array(1...23) + [50] {
            let (ladder, last) = ladder(failures: count)
            let expected: LockoutLadder.Status =
                steps[count].map { .lockedOut(remaining: .seconds($0), failures: count) } ?? .open(failures: count)
            #expect(ladder.status(at: moment(last)) == expected)
        }
    }

    @Test(arguments: [(5, 60.0), (8, 120), (10, 300), (15, 900), (20, 3600), (21, 3600)])
    func aLockoutEndsAtItsExactTime(_ count: Int, _ length: Double) {
        let (ladder, last) = ladder(failures: count)
        #expect(
            ladder.status(at: moment(last + length - 0.001))
                == .lockedOut(remaining: .milliseconds(1), failures: count))
        #expect(ladder.status(at: moment(last + length)) == .open(failures: count))
    }

    @Test func theStateContainsFailuresAndRemainingTime() {
        var ladder = LockoutLadder()
        #expect(ladder.status(at: moment(0)) == .open(failures: 0))
        #expect(ladder.failuresToNextLockout == 5)
        let first = ladder.recordFailure(at: moment(1))
        #expect(first == .open(failures: 1))
        #expect(ladder.failuresToNextLockout == 4)
        for second in 2...4 { ladder.recordFailure(at: moment(Double(second))) }
        #expect(ladder.failuresToNextLockout == 1)
        let fifth = ladder.recordFailure(at: moment(5))
        #expect(fifth == .lockedOut(remaining: .seconds(60), failures: 5))
        #expect(ladder.failuresToNextLockout == 3)
        #expect(
            (5...24).map { self.ladder(failures: $0).ladder.failuresToNextLockout } == [
                3, 2, 1, 2, 1, 5, 4, 3, 2, 1, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1,
            ])
    }

    @Test func aRightPasscodeResetsEverythingIncludingItsOwnLockout() {
        var (ladder, last) = ladder(failures: 4)
        ladder.recordFailure(at: moment(last + 1))
        #expect(ladder.status(at: moment(last + 1)) == .lockedOut(remaining: .seconds(60), failures: 5))
        ladder.recordSuccess()
        #expect(ladder == LockoutLadder())
        #expect(ladder.status(at: moment(last + 1)) == .open(failures: 0))
    }

    @Test func aPowerCutDuringTheComparisonLeavesTheAttemptCounted() throws {
        var (ladder, last) = ladder(failures: 4)
        ladder.recordFailure(at: moment(last))
        let stored = try JSONEncoder().encode(ladder)
        let restored = try JSONDecoder().decode(LockoutLadder.self, from: stored)
        #expect(restored == ladder)
        #expect(restored.status(at: moment(3, boot: nextBoot)) == .lockedOut(remaining: .seconds(60), failures: 5))
    }

    @Test func anAppsOwnPasscodeUndoesOnlyItsOwnCount() {
        var (ladder, last) = ladder(failures: 4)
        let before = ladder
        ladder.recordFailure(at: moment(last))
        ladder.withdrawFailure()
        #expect(ladder == before)
        ladder.recordFailure(at: moment(last))
        ladder.recordFailure(at: moment(last))
        ladder.withdrawFailure()
        #expect(ladder.status(at: moment(last)) == .lockedOut(remaining: .seconds(60), failures: 5))
        var fresh = LockoutLadder()
        fresh.withdrawFailure()
        #expect(fresh == LockoutLadder())
    }

    @Test func theWallClockHasNoEffect() {
        let (ladder, last) = ladder(failures: 8)
        for civil in [civil(.monday, 0, 0), civil(.sunday, 23, 59, 59)] {
            #expect(
                ladder.status(at: moment(last + 50, civil: civil)) == .lockedOut(remaining: .seconds(70), failures: 8))
        }
    }

    @Test func aRebootStartsTheLockoutAgainInFullOnce() {
        let (old, last) = ladder(failures: 10)
        #expect(old.status(at: moment(last + 299)) == .lockedOut(remaining: .seconds(1), failures: 10))
        #expect(old.status(at: moment(7, boot: nextBoot)) == .lockedOut(remaining: .seconds(300), failures: 10))
        let ladder = old.rebased(at: moment(7, boot: nextBoot))
        #expect(ladder.rebased(at: moment(7, boot: nextBoot)) == ladder)
        #expect(ladder.rebased(at: moment(200, boot: nextBoot)) == ladder)
        #expect(ladder.status(at: moment(107, boot: nextBoot)) == .lockedOut(remaining: .seconds(200), failures: 10))
        #expect(ladder.status(at: moment(307, boot: nextBoot)) == .open(failures: 10))
    }

    @Test func anEndedLockoutDoesNotStartAgainAfterAReboot() {
        let (old, last) = ladder(failures: 5)
        let settled = old.rebased(at: moment(last + 60))
        #expect(
            settled.rebased(at: moment(1, boot: nextBoot)).status(at: moment(1, boot: nextBoot)) == .open(failures: 5))
        var between = old
        between.recordFailure(at: moment(last + 61))
        #expect(between.status(at: moment(1, boot: nextBoot)) == .open(failures: 6))
    }

    @Test func timeSinceBootThatRunsBackwardsDoesNotEndALockout() {
        let (old, _) = ladder(failures: 8)
        #expect(old.status(at: moment(1)) == .lockedOut(remaining: .seconds(120), failures: 8))
        let ladder = old.rebased(at: moment(1))
        #expect(ladder.status(at: moment(120.5)) == .lockedOut(remaining: .milliseconds(500), failures: 8))
        #expect(ladder.status(at: moment(121)) == .open(failures: 8))
    }

    @Test func aFailureAfterARebootKeepsTheRunningLockout() {
        var (ladder, _) = ladder(failures: 5)
        ladder.recordFailure(at: moment(2, boot: nextBoot))
        #expect(ladder.status(at: moment(2, boot: nextBoot)) == .lockedOut(remaining: .seconds(60), failures: 6))
    }

    @Test func noSequenceOfFailuresRebootsAndClocksShortensALockout() {
        var random = RepeatableRandom(seed: 11)
        for _ in 0..<300 {
            var ladder = LockoutLadder()
            var (now, bootNumber) = (0.0, 0)
            var waited = 0.0
            var needed: Double?
            for _ in 0..<60 {
                let here = moment(now, boot: BootID(rawValue: "\(bootNumber)"))
                ladder = ladder.rebased(at: here)
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    bootNumber += 1
                    now = Double(Int.random(in: 0..<50, using: &random))
                    waited = 0
                case 1:
                    now = Double(Int.random(in: 0..<5000, using: &random))
                    waited = -.infinity  // The real time is not known here; only the waits below count.
                    if case .open = ladder.status(at: here) { needed = nil }
                default:
                    let step = Double(Int.random(in: 1..<400, using: &random))
                    now += step
                    waited += step
                }
                let later = moment(now, boot: BootID(rawValue: "\(bootNumber)"))
                if case .open = ladder.status(at: later) {
                    if let needed, waited.isFinite { #expect(waited >= needed) }
                    if case .lockedOut(let remaining, _) = ladder.recordFailure(at: later) {
                        needed = Double(remaining.components.seconds)
                    } else {
                        needed = nil
                    }
                    waited = 0
                }
            }
        }
    }

    @Test(arguments: [
        #"{"failures":-1}"#, #"{"failures":9223372036854775807}"#,
        #"{"failures":5,"lockout":{"failures":6,"boot":"b","startedAt":[0,0]}}"#,
        #"{"failures":7,"lockout":{"failures":7,"boot":"b","startedAt":[0,0]}}"#, "{}",
        #"{"failures":5,"lockout":{"failures":5,"boot":"b","startedAt":[9223372036854775807,0]}}"#,
        #"{"failures":5,"lockout":{"failures":5,"boot":"b","startedAt":[-9223372036854775808,0]}}"#,
    ])
    func anInvalidStoredCountIsRefused(_ json: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(LockoutLadder.self, from: Data(json.utf8)) }
    }
}
