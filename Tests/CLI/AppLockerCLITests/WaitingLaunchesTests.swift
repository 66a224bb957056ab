import ControlAPI
import Foundation
import Testing

@testable import AppLockerCLI

@Suite("The launches that a terminal prompter asks about")
struct WaitingLaunchesTests {
    private func isReadable(_ descriptor: Int32) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 0) == 1
    }

    @Test("Oldest first, and one that was settled meanwhile is not asked about")
    func order() async {
        let launches = WaitingLaunches()
        for id in ["1", "2", "3"] { await launches.add(.example(id: id)) }
        await launches.settle("2", .allowed)
        #expect(await launches.next()?.report.prompt == "1")
        #expect(await launches.count == 1)
        #expect(await launches.next()?.report.prompt == "3")
    }

    @Test("Settling the one that is being asked about ends its question and says how it was settled")
    func settleCurrent() async throws {
        let launches = WaitingLaunches()
        await launches.add(.example(id: "1"))
        let launch = try #require(await launches.next())
        #expect(!isReadable(launch.cancelDescriptor))
        #expect(launch.outcome == nil)
        await launches.settle("1", .timedOut)
        #expect(isReadable(launch.cancelDescriptor))
        #expect(launch.outcome == .timedOut)
        await launches.settle("1", .allowed)
        #expect(launch.outcome == .timedOut)
    }

    @Test("The end of AppLocker ends the question and everything that waited")
    func end() async throws {
        let launches = WaitingLaunches()
        await launches.add(.example(id: "1"))
        await launches.add(.example(id: "2"))
        let launch = try #require(await launches.next())
        await launches.end()
        #expect(launch.outcome == .gone)
        #expect(await launches.next() == nil)
    }

    @Test("Who waits for a launch is woken by the next one")
    func wake() async {
        let launches = WaitingLaunches()
        async let next = launches.next()
        await launches.add(.example(id: "1"))
        #expect(await next?.report.prompt == "1")
    }

    @Test("The question counts down the launch and the lockout")
    func questions() {
        #expect(PromptText.question(secondsLeft: 12, lockoutSecondsLeft: 0) == "Passcode (12 s left, empty denies): ")
        #expect(PromptText.question(secondsLeft: 12, lockoutSecondsLeft: 61).hasPrefix("Locked out for 1 min 1 s,"))
        #expect(Lockout(seconds: 0).secondsLeft == 0)
        #expect((59...60).contains(Lockout(seconds: 60).secondsLeft))
        #expect((29...30).contains(WaitingLaunch(.example(expires: 30)).secondsLeft))
    }
}
