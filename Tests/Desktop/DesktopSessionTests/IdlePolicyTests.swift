import Testing

@testable import DesktopSession

struct IdlePolicyTests {
    private let start = ContinuousClock.now

    @Test func theWarningIsThirtySecondsBeforeTheLock() {
        let policy = IdlePolicy(limit: .seconds(600))
        #expect(policy.step(idleFor: .zero) == .wait(untilIdleFor: .seconds(570)))
        #expect(policy.step(idleFor: .milliseconds(569_999)) == .wait(untilIdleFor: .seconds(570)))
        #expect(policy.step(idleFor: .seconds(570)) == .warn(left: .seconds(30)))
        #expect(policy.step(idleFor: .seconds(599)) == .warn(left: .seconds(1)))
        #expect(policy.step(idleFor: .seconds(600)) == .lock)
        #expect(policy.step(idleFor: .seconds(86_400)) == .lock)
    }

    @Test func aShortLimitWarnsForItsSecondHalf() {
        #expect(IdlePolicy(limit: .seconds(40)).step(idleFor: .seconds(20)) == .warn(left: .seconds(20)))
        #expect(IdlePolicy(limit: .seconds(60)).step(idleFor: .seconds(29)) == .wait(untilIdleFor: .seconds(30)))
    }

    @Test func idleTimeIsNotCountedWhileNothingIsOpen() {
        var watch = IdleWatch()
        #expect(watch.policy == nil)
        #expect(watch.update(limit: .seconds(600), isArmed: false, at: start) == false)
        #expect(watch.policy == nil)
        #expect(watch.counted(.seconds(5_000), at: start + .seconds(5_000)) == .zero)
    }

    @Test func openingSomethingRestartsTheCount() {
        var watch = IdleWatch()
        #expect(watch.update(limit: .seconds(600), isArmed: true, at: start) == true)
        #expect(watch.counted(.seconds(5_000), at: start + .seconds(10)) == .seconds(10))
        #expect(watch.counted(.seconds(3), at: start + .seconds(10)) == .seconds(3))
        // Repeated by a daemon that was restarted: the count continues.
        #expect(watch.update(limit: .seconds(600), isArmed: true, at: start + .seconds(300)) == false)
        #expect(watch.counted(.seconds(5_000), at: start + .seconds(310)) == .seconds(310))
        #expect(watch.update(limit: .seconds(600), isArmed: false, at: start + .seconds(320)) == true)
        #expect(watch.update(limit: .seconds(600), isArmed: true, at: start + .seconds(330)) == true)
        #expect(watch.counted(.seconds(5_000), at: start + .seconds(331)) == .seconds(1))
    }

    @Test func aChangedLimitCountsFromTheSameStart() {
        var watch = IdleWatch()
        _ = watch.update(limit: .seconds(600), isArmed: true, at: start)
        #expect(watch.update(limit: .seconds(60), isArmed: true, at: start + .seconds(100)) == true)
        #expect(watch.policy?.step(idleFor: watch.counted(.seconds(5_000), at: start + .seconds(100))) == .lock)
        #expect(watch.update(limit: .zero, isArmed: true, at: start + .seconds(100)) == true)
        #expect(watch.policy == nil)
    }
}
