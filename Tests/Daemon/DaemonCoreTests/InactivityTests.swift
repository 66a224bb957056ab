import ControlAPI
import Foundation
import Policy
import TestSupport
import Testing

@testable import DaemonCore

/// Locking by inactivity, and what desktop agents receive.
@Suite struct InactivityTests {
    private func report(
        _ world: World, _ source: IdleReport.Source, _ seconds: Int, by peer: ControlPeer = alice
    ) async throws {
        _ = try await world.call(
            .reportIdle, by: peer, body: IdleReport(source: source, idleSeconds: seconds))
    }

    private func unlock(_ world: World, _ app: AppID = firefox, by peer: ControlPeer = alice) async throws {
        _ = try await world.apps.unlock([app], scope: .untilLocked, user: peer.user)
    }

    private func idle(_ world: World, _ duration: Duration?, isKnown: Bool = true, name: String = "1") {
        world.signals.send(
            .session(name, SessionIdleness(user: alice.user, isKnown: isKnown, idle: duration)))
    }

    /// Returns when the daemon has handled every signal that was sent, including the timers for inactivity: it sets
    /// them before it sends changes to agents. Two changes, because the first may be sent by a round that had begun.
    private func isCaughtUp(_ world: World) async throws {
        let mark = "caught up"
        let nobody = ControlPeer(user: 2_000, process: 2_000_500)
        var reader = AgentReader(try await world.control.agentJoined(nobody, connection: 1_000))
        world.signals.send(.unheld(mark))
        let marked = await reader.state { state in state.degraded.contains { $0.contains(mark) } }
        try #require(marked != nil)
        world.signals.send(.available)
        let unmarked = await reader.state { state in !state.degraded.contains { $0.contains(mark) } }
        try #require(unmarked != nil)
        await world.control.agentLeft(connection: 1_000)
    }

    @Test func idleTimeOfAnAgentLocksAtTheLimitAndNotBefore() async throws {
        let world = try await World()
        try await unlock(world)
        try await unlock(world, calculator, by: bob)
        try await report(world, .mutter, 599)
        #expect(await world.state(of: firefox) == .unlocked)
        try await report(world, .mutter, 600)
        #expect(await world.state(of: firefox) == .locked)
        #expect(world.gate.isGuarded(firefox) == true)
        #expect(await world.state(of: calculator) == .unlocked)
        await eventually { try await world.relocked == 1 }
        #expect(await refusal { try await report(world, .mutter, -1) } == .badRequest)
    }

    @Test func noTimerRunsWhileNothingIsUnlocked() async throws {
        let world = try await World()
        try await report(world, .mutter, 3_600)
        await world.daemon.finish()
        #expect(try await world.relocked == 0)
        #expect(try await !world.status().isArmed)
        try await unlock(world)
        #expect(try await world.status().isArmed)
        #expect(try await !world.status(bob).isArmed)
        _ = try await world.session(bob)
        #expect(try await world.status(bob).isArmed)
    }

    @Test func theLimitIsASettingOfOneMinuteToOneHour() async throws {
        let world = try await World()
        let token = try await world.session()
        for wrong in [59, 3_601, 0, -1] {
            #expect(
                await refusal {
                    try await world.call(
                        .changeSettings, token: token, body: ChangeSettingsRequest(inactivitySeconds: wrong))
                } == .badRequest)
        }
        for wrong in [4, 301] {
            #expect(
                await refusal {
                    try await world.call(
                        .changeSettings, token: token, body: ChangeSettingsRequest(clipboardSeconds: wrong))
                } == .badRequest)
        }
        let report = try await world.call(
            .changeSettings, as: SettingsReport.self, token: token,
            body: ChangeSettingsRequest(inactivitySeconds: 60, clipboardSeconds: 5, locksOnCapture: true))
        #expect(report.inactivitySeconds == 60 && report.clipboardSeconds == 5 && report.locksOnCapture)
        try await unlock(world)
        try await self.report(world, .mutter, 60)
        #expect(await world.state(of: firefox) == .locked)
        let again = try await World(after: world)
        #expect(try await again.status().limitSeconds == 60)
    }

    @Test func logindsIdleHintLocksIfThereIsNoAgent() async throws {
        let world = try await World()
        try await unlock(world)
        idle(world, .seconds(100))
        await eventually { world.time.waits.contains(.seconds(600)) }
        #expect(try await world.status().source == .logind)
        world.time.advance(by: .seconds(599))
        #expect(world.time.waits.contains(.seconds(1)), "the timer still runs")
        #expect(await world.state(of: firefox) == .unlocked)
        world.time.advance(by: .seconds(1))
        await eventually { await world.state(of: firefox) == .locked }
        await eventually { try await world.relocked == 1 }
    }

    @Test func anyInputCancelsTheLock() async throws {
        let world = try await World()
        try await unlock(world)
        idle(world, .zero)
        await eventually { world.time.waits.contains(.seconds(600)) }
        world.time.advance(by: .seconds(500))
        idle(world, nil)
        await eventually { !world.time.waits.contains { $0 <= .seconds(600) } }
        world.time.advance(by: .seconds(1_000))
        try await isCaughtUp(world)
        #expect(await world.state(of: firefox) == .unlocked)
        // Idle time of one of two sessions locks nothing.
        idle(world, nil, name: "2")
        idle(world, .seconds(2_000))
        try await isCaughtUp(world)
        #expect(await world.state(of: firefox) == .unlocked)
    }

    @Test func anUnlockWhileIdleStartsTheFullInactivityTime() async throws {
        let world = try await World()
        idle(world, .seconds(500))
        await eventually { try await world.status().source == .logind }
        try await isCaughtUp(world)
        #expect(!world.time.waits.contains { $0 <= .seconds(600) }, "paused")
        world.time.advance(by: .seconds(5_000))
        try await unlock(world)
        await eventually { world.time.waits.contains(.seconds(600)) }
        #expect(await world.state(of: firefox) == .unlocked)
    }

    @Test func idleTimeComesFromTheAgentThenTheSystemAndItsAbsenceIsReported() async throws {
        let world = try await World()
        _ = try await world.join()
        func isLoud() async throws -> Bool {
            try await world.call(.status, as: StatusReport.self).degraded.contains {
                $0.hasPrefix("Idle time can't be measured")
            }
        }
        #expect(try await world.status().source == .none)
        #expect(try await isLoud())
        idle(world, nil, isKnown: false)
        try await isCaughtUp(world)
        #expect(try await world.status().source == .none)
        idle(world, nil)
        await eventually { try await world.status().source == .logind }
        #expect(try await !isLoud())
        let agent = try await world.control.agentJoined(alice, connection: 9)
        try await report(world, .xscreensaver, 0)
        #expect(try await world.status().source == .xscreensaver)
        #expect(try await world.status(ControlPeer(user: 0, process: 1)).source == .xscreensaver)
        // An agent that reports idle time replaces the timer.
        try await unlock(world)
        idle(world, .seconds(10_000))
        try await isCaughtUp(world)
        #expect(await world.state(of: firefox) == .unlocked)
        #expect(!world.time.waits.contains { $0 <= .seconds(600) })
        world.time.advance(by: .seconds(600))
        try await isCaughtUp(world)
        #expect(await world.state(of: firefox) == .unlocked)
        await world.control.agentLeft(connection: 9)
        await eventually { await world.state(of: firefox) == .locked }
        _ = agent
    }

    // MARK: Agents

    private func agent(_ world: World, _ peer: ControlPeer = alice, connection: UInt64 = 5) async throws -> AgentReader
    {
        var reader = AgentReader(try await world.control.agentJoined(peer, connection: connection))
        #expect(await reader.next() == .ready)
        return reader
    }

    @Test func anAgentReceivesEveryChange() async throws {
        let world = try await World(hasVault: true)
        _ = try await world.join()
        var reader = try await agent(world)
        var state = try #require(await reader.state())
        #expect(state.protection == .degraded && state.unlockedApps == 0 && !state.inactivity.isArmed)
        #expect(state.inactivity.limitSeconds == 600 && state.clipboardSeconds == 30 && !state.locksOnCapture)
        try await report(world, .mutter, 0)
        state = try #require(await reader.state())
        #expect(state.protection == .locked && state.degraded.isEmpty)
        try await unlock(world)
        state = try #require(await reader.state { $0.inactivity.isArmed })
        #expect(state.protection == .unlocked && state.unlockedApps == 1)
        _ = try await world.apps.lock(LockRequest(all: true), user: alice.user, mayAdd: false)
        // A report during a change may have one of the two already; the next one has both.
        state = try #require(await reader.state { !$0.inactivity.isArmed && $0.unlockedApps == 0 })
        #expect(state.protection == .locked)
        _ = try await world.call(.openVault, body: PasscodeRequest(passcode: "right"))
        state = try #require(await reader.state { $0.vaultIsOpen && $0.inactivity.isArmed })
        #expect(state.protection == .unlocked)
        world.gate.disconnect()
        state = try #require(await reader.state { $0.protection == .degraded })
        #expect(state.degraded.count == 1)
        await world.control.agentLeft(connection: 5)
    }

    @Test func noticesAreSentOnlyToTheUserConcerned() async throws {
        let world = try await World()
        var (hers, his) = (try await agent(world), try await agent(world, bob, connection: 6))
        world.gate.launch(world.launch(1, user: alice.user))
        let blocked = try #require(await hers.notice())
        #expect(blocked.kind == .blocked && blocked.app == "firefox" && blocked.appName == "Firefox")
        #expect(blocked.sentence.hasPrefix("Firefox was not allowed to start") && blocked.number > 0)
        #expect(
            await refusal {
                try await world.call(
                    .unlock,
                    body: UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "wrong"))
            } == .wrongPasscode)
        let wrong = try #require(await hers.notice())
        #expect(wrong.kind == .wrongPasscode && !wrong.hasPhoto)
        try await unlock(world, calculator, by: bob)
        // bob's first notice is his own.
        #expect(await his.notice()?.kind == .unlocked)
        world.signals.send(.lidClosed)
        #expect(await hers.notice()?.kind == .relocked)
    }

    @Test func aNoticeContainsTheIntruderPhoto() async throws {
        let world = try await World(hasVault: true)
        world.camera.show([0xFF, 0xD8, 0xFF])
        var reader = try await agent(world)
        for attempt in 1...2 {
            #expect(
                await refusal {
                    try await world.call(
                        .unlock,
                        body: UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "wrong"))
                } == .wrongPasscode)
            let notice = try #require(await reader.notice())
            #expect(notice.kind == .wrongPasscode)
            #expect(notice.hasPhoto == (attempt == 2))
        }
    }
}

/// The events of an agent, in order.
struct AgentReader {
    private var events: AsyncStream<SessionEvent>.AsyncIterator

    init(_ events: AsyncStream<SessionEvent>) { self.events = events.makeAsyncIterator() }

    mutating func next() async -> SessionEvent? { await events.next(isolation: nil) }

    /// The next matching state.
    mutating func state(_ fits: (SessionState) -> Bool = { _ in true }) async -> SessionState? {
        await first { if case .state(let state) = $0, fits(state) { state } else { nil } }
    }

    mutating func notice() async -> Notice? {
        await first { if case .notice(let notice) = $0 { notice } else { nil } }
    }

    /// What `pick` returns for the next event for which it returns anything.
    mutating func first<Picked>(_ pick: (SessionEvent) -> Picked?) async -> Picked? {
        while let event = await next() {
            if let picked = pick(event) { return picked }
        }
        return nil
    }
}
