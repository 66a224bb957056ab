import Policy
import TestSupport
import Testing

@Suite struct TransitionTests {
    private func policy(_ schedule: Schedule? = nil) -> LockPolicy {
        var policy = LockPolicy()
        policy.add(LockedApp(id: calculator, name: "Calculator", schedule: schedule))
        policy.add(LockedApp(id: firefox, name: "Firefox"))
        return policy
    }

    @Test func withoutGrantsAndSchedulesThereIsNoTransition() {
        #expect(policy().nextTransition(after: moment(1)) == nil)
        #expect(LockPolicy().nextTransition(after: moment(1)) == nil)
    }

    @Test func theFirstGrantToExpireIsTheNextTransition() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .duration(.seconds(300)), at: moment(10))
        try policy.unlock([firefox], scope: .duration(.seconds(60)), at: moment(20))
        #expect(policy.nextTransition(after: moment(30)) == .seconds(50))
        #expect(policy.nextTransition(after: moment(80)) == .seconds(230))
        #expect(policy.nextTransition(after: moment(310)) == nil)
        #expect(policy.nextTransition(after: moment(30, boot: nextBoot)) == nil)
    }

    @Test func theEndOfAMonitoringPauseIsATransition() throws {
        var policy = policy()
        try policy.turnMonitoringOff(for: .seconds(90), at: moment(10))
        #expect(policy.nextTransition(after: moment(40)) == .seconds(60))
        #expect(policy.nextTransition(after: moment(100)) == nil)
    }

    @Test func schedulesAreTransitionsAndLocalTimeIsCheckedEveryMinute() throws {
        let policy = policy(try Schedule(mode: .blockInside, text: "mon 13:00-14:00"))
        #expect(policy.nextTransition(after: moment(1, civil: civil(.monday, 12, 59, 15))) == .seconds(45))
        #expect(policy.nextTransition(after: moment(1)) == .seconds(60))
        #expect(policy.nextTransition(after: moment(1), longestCivilWait: .seconds(86_400)) == .seconds(3600))
    }

    @Test func aJumpOfLocalTimeIsDetectedWithinAMinute() throws {
        // Unlocked until 07:00, and the clock jumps from 02:00 to 03:00 before that.
        let policy = policy(try Schedule(mode: .blockInside, text: "sun 07:00-08:00"))
        func now(_ seconds: Int) -> Moment {
            let jumped = seconds >= 1800 ? seconds + 3600 : seconds
            return Moment(
                boot: boot, elapsed: .seconds(seconds), civil: civil(secondOfWeek: 6 * 86_400 + 5400 + jumped))
        }
        var seconds = 0
        while !policy.isGuarded(calculator, at: now(seconds)) {
            seconds += Int(try #require(policy.nextTransition(after: now(seconds))).components.seconds)
        }
        let lockedAt = (7 * 60 - 90 - 60) * 60
        #expect(lockedAt..<(lockedAt + 60) ~= seconds)
    }

    @Test func guardedAppsDoNotChangeBeforeTheNextTransition() throws {
        var random = RepeatableRandom(seed: 1234)
        for _ in 0..<300 {
            var policy = policy(Bool.random(using: &random) ? .random(using: &random, stepMinutes: 10) : nil)
            if Bool.random(using: &random) {
                policy.setCategory(
                    try Category(
                        name: "c", apps: [firefox, calculator], schedule: .random(using: &random, stepMinutes: 10)))
            }
            if Bool.random(using: &random) {
                let length = Duration.seconds(Int.random(in: 30...3600, using: &random))
                try policy.unlock([firefox], scope: .duration(length), at: moment(1000))
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                try policy.turnMonitoringOff(for: .seconds(Int.random(in: 1...7200, using: &random)), at: moment(1000))
            }
            let start = Int.random(in: 0..<604_800, using: &random)
            func after(_ seconds: Int) -> Moment {
                moment(Double(1000 + seconds), civil: civil(secondOfWeek: start + seconds))
            }
            func guarded(_ seconds: Int) -> [Bool] {
                [calculator, firefox].map { policy.isGuarded($0, at: after(seconds)) }
            }
            let sleep = policy.nextTransition(after: after(0), longestCivilWait: .seconds(864_000))
            #expect(sleep.map { $0 > .zero } ?? true)
            let end = Int(sleep?.components.seconds ?? 700_000)
            for _ in 0..<40 {
                let during = Int.random(in: 0..<end, using: &random)
                #expect(guarded(during) == guarded(0), "\(policy) from \(start) after \(during) of \(end)")
            }
            #expect(guarded(end - 1) == guarded(0))
        }
    }
}
