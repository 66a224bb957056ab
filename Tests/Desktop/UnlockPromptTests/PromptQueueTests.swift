import ControlAPI
import Testing

@testable import UnlockPrompt

struct PromptQueueTests {
    let start = ContinuousClock.now

    @Test func nothingIsShownWithoutALaunch() {
        #expect(PromptQueue().scene(at: start) == nil)
    }

    @Test func theOldestLaunchIsShownFirstAndTheOthersAreCounted() throws {
        var queue = PromptQueue()
        queue.ask(.sample("1", name: "Firefox"), at: start)
        #expect(queue.scene(at: start)?.othersWaiting == "")
        queue.ask(.sample("2", name: "Chromium"), at: start)
        queue.ask(.sample("3"), at: start)
        let scene = try #require(queue.scene(at: start))
        #expect(scene.heading == "Firefox is locked")
        #expect(scene.othersWaiting == "2 more waiting")
        queue.settle("1")
        let next = try #require(queue.scene(at: start))
        #expect(next.prompt == "2")
        #expect(next.othersWaiting == "1 more waiting")
    }

    @Test func aRepeatedLaunchIsQueuedOnce() {
        var queue = PromptQueue()
        queue.ask(.sample(), at: start)
        queue.ask(.sample(), at: start)
        #expect(queue.launches.count == 1)
    }

    @Test func theTimeUntilItIsDeniedCountsDownToZero() {
        var queue = PromptQueue()
        queue.ask(.sample(expiresInSeconds: 30), at: start)
        #expect(queue.scene(at: start)?.remaining == "Denied in 30 s")
        #expect(queue.scene(at: start + .milliseconds(6_500))?.remaining == "Denied in 24 s")
        #expect(queue.scene(at: start + .seconds(15))?.remainingFraction == 0.5)
        #expect(queue.scene(at: start + .milliseconds(29_999))?.remaining == "Denied in 1 s")
        #expect(queue.scene(at: start + .seconds(30))?.remaining == "Denied")
    }

    @Test func aLaunchThatIsNeverSettledIsDroppedAfterItsTime() {
        var queue = PromptQueue()
        queue.ask(.sample(expiresInSeconds: 30), at: start)
        queue.dropExpired(at: start + .seconds(31))
        #expect(queue.launches.count == 1)
        queue.dropExpired(at: start + .seconds(30) + PromptQueue.grace)
        #expect(queue.launches.isEmpty)
    }

    @Test func aRefusedPasscodeShowsItsReasonAndAllowsAnotherAttempt() throws {
        var queue = PromptQueue()
        queue.ask(.sample(), at: start)
        queue.beginAnswer("1")
        #expect(queue.scene(at: start)?.mode == .checking)
        queue.refuse("1", "Wrong passcode.", lockoutSeconds: nil, at: start)
        let scene = try #require(queue.scene(at: start))
        #expect(scene.mode == .asking)
        #expect(scene.message == "Wrong passcode.")
        #expect(scene.refusals == 1)
        queue.beginAnswer("1")
        #expect(queue.scene(at: start)?.message == "")
    }

    @Test func aLockoutAppliesToEveryWaitingLaunchAndEnds() throws {
        var queue = PromptQueue()
        queue.ask(.sample("1", expiresInSeconds: 300), at: start)
        queue.ask(.sample("2", expiresInSeconds: 300, lockedFor: 0), at: start)
        queue.beginAnswer("1")
        queue.refuse("1", "Too many.", lockoutSeconds: 60, at: start)
        queue.settle("1")
        let scene = try #require(queue.scene(at: start + .seconds(2)))
        #expect(scene.prompt == "2")
        #expect(scene.mode == .lockedOut)
        #expect(scene.message == "Too many wrong passcodes. Try again in 58 s.")
        #expect(queue.scene(at: start + .seconds(60))?.mode == .asking)
    }

    @Test func aLaunchDuringALockoutIsShownLockedOut() {
        var queue = PromptQueue()
        queue.ask(.sample(lockedFor: 20), at: start)
        #expect(queue.scene(at: start)?.mode == .lockedOut)
        #expect(queue.scene(at: start + .seconds(20))?.mode == .asking)
    }

    @Test func aNoticeIsShownWithoutALaunchUntilItIsDismissed() {
        var queue = PromptQueue()
        queue.ask(.sample(), at: start)
        queue.show(.init(name: "Firefox", icon: nil, text: "No such file."))
        #expect(queue.scene(at: start)?.mode == .asking)
        queue.settleAll()
        #expect(queue.scene(at: start)?.mode == .notice)
        #expect(queue.scene(at: start)?.heading == "Firefox did not start")
        queue.dismissNotice()
        #expect(queue.scene(at: start) == nil)
    }
}
