import ControlAPI
import Foundation
import Testing

@testable import AppLockerCLI

@Suite("Launches that wait in a terminal prompter")
struct WaitingLaunchesTests {
    private func isReadable(_ descriptor: Int32) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, 0) == 1
    }

    @Test("The oldest is first, and a settled one is skipped")
    func order() async {
        let launches = WaitingLaunches()
        for id in ["1", "2", "3"] { await launches.add(.example(id: id)) }
        await launches.settle("2", .allowed)
        #expect(await launches.next()?.report.prompt == "1")
        #expect(await launches.count == 1)
        #expect(await launches.next()?.report.prompt == "3")
    }

    @Test("Settling the current launch ends its prompt with the outcome")
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

    @Test("The end of AppLocker ends the prompt and removes every waiting launch")
    func end() async throws {
        let launches = WaitingLaunches()
        await launches.add(.example(id: "1"))
        await launches.add(.example(id: "2"))
        let launch = try #require(await launches.next())
        await launches.end()
        #expect(launch.outcome == .gone)
        #expect(await launches.next() == nil)
    }

    @Test("Waiting for a launch ends with the next one")
    func wake() async {
        let launches = WaitingLaunches()
        async let next = launches.next()
        await launches.add(.example(id: "1"))
        #expect(await next?.report.prompt == "1")
    }

    @Test("The prompt counts down the launch and the lockout")
    func questions() {
        #expect(PromptText.question(secondsLeft: 12, lockoutSecondsLeft: 0) == "Passcode (12 s left, empty denies): ")
        #expect(PromptText.question(secondsLeft: 12, lockoutSecondsLeft: 61).hasPrefix("Locked out for 1 min 1 s,"))
        #expect(Lockout(seconds: 0).secondsLeft == 0)
        #expect((59...60).contains(Lockout(seconds: 60).secondsLeft))
        #expect((29...30).contains(WaitingLaunch(.example(expires: 30)).secondsLeft))
    }
}
