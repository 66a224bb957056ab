import Testing

@testable import DesktopSession

struct NoticeFilterTests {
    private let start = ContinuousClock.now

    @Test func anAppHasOneNotificationInThreeSecondsAndTheLastOneIsShown() {
        var filter = NoticeFilter<String>()
        #expect(filter.admits("first", for: "firefox", at: start) == true)
        #expect(filter.admits("second", for: "firefox", at: start + .seconds(1)) == false)
        #expect(filter.admits("third", for: "firefox", at: start + .milliseconds(2_999)) == false)
        #expect(filter.nextRelease == start + .seconds(3))
        #expect(filter.release(at: start + .milliseconds(2_999)) == [])
        #expect(filter.release(at: start + .seconds(3)) == ["third"])
        #expect(filter.nextRelease == nil)
        #expect(
            filter.admits("fourth", for: "firefox", at: start + .seconds(5)) == false,
            "the third one began another pause")
        #expect(filter.release(at: start + .seconds(6)) == ["fourth"])
    }

    @Test func whatIsDroppedIsNotShownLater() {
        var filter = NoticeFilter<String>()
        #expect(filter.admits("first", for: "firefox", at: start) == true)
        #expect(filter.admits("second", for: "firefox", at: start + .seconds(1)) == false)
        filter.drop("firefox")
        #expect(filter.nextRelease == nil)
        #expect(filter.release(at: start + .seconds(3)) == [])
    }

    @Test func appsDoNotDelayEachOther() {
        var filter = NoticeFilter<String>()
        #expect(filter.admits("a", for: "firefox", at: start) == true)
        #expect(filter.admits("b", for: "gimp", at: start) == true)
        #expect(filter.admits("c", for: "gimp", at: start + .seconds(1)) == false)
        #expect(filter.admits("d", for: "firefox", at: start + .seconds(3)) == true)
        #expect(filter.release(at: start + .seconds(3)) == ["c"])
    }

    @Test func aFloodLeavesNothingQueued() {
        var filter = NoticeFilter<Int>()
        var shown = 0
        for number in 0..<3_000 {
            let now = start + .milliseconds(number * 10)
            shown += filter.release(at: now).count
            if filter.admits(number, for: "app", at: now) { shown += 1 }
        }
        #expect((9...11).contains(shown), "30 s at one in 3 s: \(shown)")
        _ = filter.release(at: start + .seconds(40))
        #expect(filter.release(at: start + .seconds(50)) == [] && filter.nextRelease == nil)
    }
}
