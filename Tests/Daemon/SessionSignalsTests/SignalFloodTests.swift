import DaemonCore
import SystemTestSupport
import TestSupport
import Testing

@testable import DBus
@testable import SessionSignals

/// A user can make logind send any number of signals of their own sessions.
@Suite(.timeLimit(.minutes(4))) struct SignalFloodTests {
    private func signal(_ path: String, _ member: String) -> BusSignal {
        BusSignal(sender: ":1.1", path: path, interface: "tested", member: member, arguments: [])
    }

    @Test func oneSessionsSignalsLeaveRoomForAllOthers() {
        let waiting = WaitingSignals()
        let flood = signal("/session/1", "PropertiesChanged")
        let added = (0..<10_000).filter { _ in waiting.add(flood) }.count
        #expect(added == WaitingSignals.maximumOfOne)
        #expect(waiting.add(signal("/session/2", "PropertiesChanged")) && waiting.add(signal("/session/1", "Lock")))
        #expect(waiting.add(signal("/org/freedesktop/login1", "PrepareForSleep")))
        #expect(!waiting.hasOverflowed)
        waiting.remove(flood)
        #expect(waiting.add(flood) && !waiting.add(flood))
    }

    @Test func aSignalThatIsLostIsNoticed() {
        let waiting = WaitingSignals()
        let new = signal("/org/freedesktop/login1", "SessionNew")
        for _ in 0..<WaitingSignals.maximumOfAll { #expect(waiting.add(new)) }
        #expect(!waiting.hasOverflowed)
        #expect(!waiting.add(new) && waiting.hasOverflowed)
    }

    @Test func sixteenLocksOfAUserAreDueInTenSeconds() {
        var reports = LockReports()
        let start = ContinuousClock.now
        func due(after duration: Duration, user: UInt32 = 1_000) -> Int {
            (0..<100).filter { _ in reports.isDue(user, at: start + duration) }.count
        }
        #expect(due(after: .zero) == 16 && due(after: .seconds(10)) == 0)
        #expect(due(after: .seconds(10), user: 1_001) == 16, "another user's")
        #expect(due(after: .milliseconds(10_001)) == 16 && due(after: .seconds(20)) == 0)
        #expect(due(after: .milliseconds(20_002)) == 16)
    }

    @Test(
        .requires(.program("dbus-daemon"), .path("/usr/lib/python3/dist-packages/dbusmock/templates/logind.py")))
    func aScreenThatIsLockedAgainAndAgainIsReportedOnceASecond() async throws {
        let mock = try await MockLogind()
        let logind = try await mock.start()
        defer { logind.kill() }
        let session = try await mock.addSession("1", user: 1_000)
        let signals = LogindSignals(address: .address(mock.address), retries: .milliseconds(20) ... .milliseconds(100))
        signals.start()
        defer { signals.stop() }
        var reader = SignalReader(signals.signals)
        while let signal = await reader.next(), signal != .available {}
        let begun = ContinuousClock.now
        for _ in 0..<200 { try await mock.call(session, "Session", "Lock") }
        try await mock.prepareForSleep(true)
        var locks = 0
        while let signal = await reader.nextButSessions() {
            if case .goingToSleep = signal { break }
            #expect(signal == .sessionLocked(user: 1_000))
            locks += 1
        }
        // 16 at once in each 10 s, and one a second.
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        #expect(locks >= 16 && Double(locks) <= 16 * (seconds / 10 + 1) + seconds + 1, "\(locks) in \(seconds) s")
        // The last lock is reported too.
        try await mock.call(session, "Session", "Lock")
        #expect(await reader.nextButSessions() == .sessionLocked(user: 1_000))
    }
}
