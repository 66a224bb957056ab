import ControlAPI
import Foundation
import Policy
import TestSupport
import Testing

@testable import DaemonCore

/// The warning before an app is closed at the end of its grant, and more time for it.
@Suite struct ClosingTests {
    private func worldThatCloses(_ apps: [AppID] = [firefox]) async throws -> World {
        let world = try await World()
        for app in apps {
            _ = try await world.apps.changeApp(app.rawValue, ChangeAppRequest(onGrantEnd: "close"), user: 1)
        }
        return world
    }

    private func unlock(_ world: World, _ app: AppID = firefox, seconds: Int = 600, by peer: ControlPeer = alice)
        async throws
    {
        _ = try await world.apps.unlock([app], scope: .duration(.seconds(seconds)), user: peer.user)
    }

    /// Moves the clock once the daemon sleeps until then.
    private func pass(_ world: World, _ duration: Duration) async {
        await eventually("the daemon waits for \(duration): \(world.time.waits)") {
            world.time.waits.contains(duration)
        }
        world.time.advance(by: duration)
    }

    private func extend(
        _ world: World, _ app: AppID = firefox, passcode: String = "right", by peer: ControlPeer = alice,
        grant: GrantRequest = GrantRequest(.duration, seconds: 300)
    ) async throws {
        _ = try await world.call(
            .unlock, by: peer,
            body: UnlockRequest(apps: [app.rawValue], grant: grant, extends: true, passcode: passcode))
    }

    @Test(arguments: [(600, 60), (300, 60), (60, 12), (30, 6)])
    func theUserIsWarnedBeforeTheAppIsClosed(seconds: Int, notice: Int) async throws {
        let world = try await worldThatCloses()
        var (agent, stranger) = (
            AgentReader(try await world.control.agentJoined(alice, connection: 1)),
            AgentReader(try await world.control.agentJoined(bob, connection: 2))
        )
        try await unlock(world, seconds: seconds)
        await pass(world, .seconds(seconds - notice))
        #expect(
            await agent.closing() == ClosingNotice(app: "firefox", appName: "Firefox", secondsLeft: notice))
        #expect(!world.gate.actions.contains("close firefox"))
        // Grants of the superuser concern everybody: this is the first that another user is sent.
        _ = try await world.apps.lock(LockRequest(apps: ["firefox"]), user: 0, mayAdd: false)
        try await unlock(world, seconds: 100, by: ControlPeer(user: 0, process: 500))
        await pass(world, .seconds(80))
        #expect(await stranger.closing()?.secondsLeft == 20)
    }

    @Test func anAppThatIsNotClosedCausesNoWarning() async throws {
        let world = try await worldThatCloses([calculator])
        var agent = AgentReader(try await world.control.agentJoined(alice, connection: 1))
        _ = try await world.apps.changeApp("firefox", ChangeAppRequest(onGrantEnd: "freeze"), user: 1)
        try await unlock(world, seconds: 100)
        await pass(world, .seconds(100))
        _ = try await world.apps.unlock([calculator], scope: .thisLaunch, user: alice.user)
        await pass(world, .seconds(300))
        _ = try await world.apps.unlock([calculator], scope: .untilLocked, user: alice.user)
        try await unlock(world, calculator, seconds: 200)
        await pass(world, .seconds(160))
        #expect(await agent.closing()?.secondsLeft == 40, "the first warning is that of the last grant")
    }

    @Test func moreTimeIsAddedToWhatIsLeftAndTheUserIsWarnedAgain() async throws {
        let world = try await worldThatCloses()
        var agent = AgentReader(try await world.control.agentJoined(alice, connection: 1))
        try await unlock(world)
        await pass(world, .seconds(540))
        #expect(await agent.closing()?.secondsLeft == 60)
        world.time.advance(by: .seconds(20))
        try await extend(world)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 340)
        #expect(try await world.events(.unlocked).last?.sentence == "Firefox stays unlocked for another 5m.")
        await pass(world, .seconds(280))
        #expect(await agent.closing()?.secondsLeft == 60)
        #expect(!world.gate.actions.contains("close firefox"))
        await pass(world, .seconds(60))
        await eventually("it is closed") { world.gate.actions.contains("close firefox") }
    }

    enum Change: CaseIterable { case moreTimeByAnotherUser, unlocked, locked, removed, notClosed }

    @Test(arguments: Change.allCases) func aWarningThatNoLongerAppliesIsWithdrawn(change: Change) async throws {
        let world = try await worldThatCloses()
        var agent = AgentReader(try await world.control.agentJoined(alice, connection: 1))
        try await unlock(world)
        await pass(world, .seconds(540))
        #expect(await agent.closing()?.secondsLeft == 60)
        switch change {
        case .moreTimeByAnotherUser: try await extend(world, by: bob)
        case .unlocked: try await unlock(world, by: bob)
        case .locked: _ = try await world.apps.lock(LockRequest(apps: ["firefox"]), user: alice.user, mayAdd: false)
        case .removed: _ = try await world.apps.remove("firefox", user: bob.user)
        case .notClosed:
            _ = try await world.apps.changeApp("firefox", ChangeAppRequest(onGrantEnd: "keep"), user: bob.user)
        }
        #expect(await agent.withdrawn() == "firefox")
    }

    @Test func anAgentThatConnectsAfterTheWarningIsWarned() async throws {
        let world = try await worldThatCloses()
        var first = AgentReader(try await world.control.agentJoined(alice, connection: 1))
        try await unlock(world)
        await pass(world, .seconds(540))
        #expect(await first.closing()?.secondsLeft == 60)
        world.time.advance(by: .seconds(20))
        var (second, stranger) = (
            AgentReader(try await world.control.agentJoined(alice, connection: 2)),
            AgentReader(try await world.control.agentJoined(bob, connection: 3))
        )
        #expect(
            await second.closing() == ClosingNotice(app: "firefox", appName: "Firefox", secondsLeft: 40))
        try await unlock(world, seconds: 100, by: ControlPeer(user: 0, process: 500))
        await pass(world, .seconds(80))
        #expect(await stranger.closing()?.secondsLeft == 20, "the first that concerns this user")
    }

    @Test func timeThatAnotherUserAddsLeavesTheGrantToItsUser() async throws {
        let world = try await worldThatCloses()
        try await unlock(world)
        try await extend(world, by: bob)
        let grant = try #require(await world.apps.policy.grants[firefox])
        #expect(grant.user == alice.user)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 900)
        #expect(try await world.events(.unlocked).last?.user == bob.user)
    }

    @Test func ofAllAppsEachNeedsATimedUnlock() async throws {
        let world = try await worldThatCloses()
        try await unlock(world)
        let request = UnlockRequest(
            all: true, grant: GrantRequest(.duration, seconds: 300), extends: true, passcode: "right")
        #expect(await refusal { _ = try await world.call(.unlock, by: alice, body: request) } == .badRequest)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 600, "none was extended")
        try await unlock(world, calculator, seconds: 60)
        _ = try await world.call(.unlock, by: alice, body: request)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 900)
        #expect(await world.apps.report(calculator).unlockedForSeconds == 360)
    }

    @Test func withoutThePasscodeNoTimeIsAdded() async throws {
        let world = try await worldThatCloses()
        try await unlock(world)
        #expect(await refusal { try await extend(world, passcode: "wrong") } == .wrongPasscode)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 600)
    }

    @Test func onlyATimedUnlockIsLengthened() async throws {
        let world = try await worldThatCloses()
        // Refused before the passcode: no attempt is counted.
        #expect(await refusal { try await extend(world, passcode: "wrong") } == .badRequest)
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: alice.user)
        #expect(await refusal { try await extend(world) } == .badRequest)
        #expect(await world.apps.report(firefox).unlockedForSeconds == nil, "it was not shortened")
        try await unlock(world)
        #expect(await refusal { try await extend(world, grant: GrantRequest(.untilLocked)) } == .badRequest)
        #expect(await refusal { try await extend(world, grant: GrantRequest(.duration, seconds: 29)) } == .badRequest)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 600)
    }

    @Test func aLockWhileThePasscodeIsComparedPreventsMoreTime() async throws {
        let world = try await worldThatCloses()
        try await unlock(world)
        let generation = world.control.lockGenerations.generation(for: alice.user)
        world.control.lockGenerations.advance(alice.user)
        #expect(
            await refusal {
                _ = try await world.apps.extend([firefox], by: .seconds(300), user: alice.user, since: generation)
            } == .busy)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 600)
    }
}

extension AgentReader {
    mutating func closing() async -> ClosingNotice? {
        await first { if case .closing(let notice) = $0 { notice } else { nil } }
    }

    /// The app of the next warning that is withdrawn.
    mutating func withdrawn() async -> String? {
        await first { if case .closingWithdrawn(let app) = $0 { app } else { nil } }
    }
}
