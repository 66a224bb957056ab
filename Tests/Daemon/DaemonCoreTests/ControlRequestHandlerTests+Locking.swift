import ControlAPI
import Policy
import Testing

@testable import DaemonCore

// Which peers may end grants and pauses.
extension ControlRequestHandlerTests {
    @Test func lockingWithoutASessionEndsOnlyTheCallersGrants() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: alice.user)
        _ = try await world.apps.unlock([calculator], scope: .untilLocked, user: bob.user)
        try await world.apps.change { try $0.policy.change(firefox) { $0.onGrantEnd = .close } }
        world.gate.forgetActions()
        let all = LockRequest(all: true)
        let notes = try await world.call(.lock, as: AppsChanged.self, by: bob, body: all).notes
        #expect(notes.count == 1 && notes[0].contains("Firefox"))
        #expect(await world.state(of: firefox) == .unlocked)
        #expect(await world.state(of: calculator) == .locked)
        #expect(!world.gate.actions.contains("close firefox"))
        let one = LockRequest(apps: ["firefox"])
        #expect(await refusal { try await world.call(.lock, by: bob, body: one) } == .sessionNeeded)
        #expect(await world.state(of: firefox) == .unlocked)
        // Locking a locked app writes neither to the disk nor to the log.
        let (saved, logged) = (await world.documents.saved.count, try await world.events(.locked).count)
        _ = try await world.call(.lock, by: bob, body: all)
        #expect(await world.documents.saved.count == saved)
        #expect(try await world.events(.locked).count == logged)
        _ = try await world.call(.lock, by: bob, token: try await world.session(bob), body: one)
        #expect(await world.state(of: firefox) == .locked)
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: alice.user)
        _ = try await world.call(.lock, by: ControlPeer(user: 0, process: 1), body: all)
        #expect(await world.state(of: firefox) == .locked)
    }

    @Test func lockingEverythingEndsTheCallersSessions() async throws {
        let world = try await World()
        let all = LockRequest(all: true)
        let (token, others) = (try await world.session(), try await world.session(bob))
        _ = try await world.call(.lock, body: LockRequest(apps: ["firefox"]))
        try await world.control.sessions.require(token, of: alice)
        _ = try await world.call(.lock, body: all)
        #expect(await refusal { try await world.call(.removeApp, "firefox", token: token) } == .sessionNeeded)
        #expect(await world.state(of: firefox) == .locked)
        // Another user's session, too, where a session or root locks everybody's apps.
        try await world.control.sessions.require(others, of: bob)
        _ = try await world.call(.lock, token: try await world.session(), body: all)
        #expect(await refusal { try await world.control.sessions.require(others, of: bob) } == .sessionNeeded)
        let later = try await world.session()
        _ = try await world.call(.lock, by: ControlPeer(user: 0, process: 1), body: all)
        #expect(await refusal { try await world.control.sessions.require(later, of: alice) } == .sessionNeeded)
    }

    @Test func aPauseOfMonitoringIsEndedByItsUserOrWithASession() async throws {
        let world = try await World()
        let pause = MonitoringRequest(isOn: false)
        _ = try await world.call(.setMonitoring, token: try await world.session(), body: pause)
        let all = LockRequest(all: true)
        #expect(try await world.call(.lock, as: AppsChanged.self, by: bob, body: all).notes.count == 1)
        #expect(await world.apps.monitoring().isOn == false)
        #expect(try await world.call(.lock, as: AppsChanged.self, body: all).notes.isEmpty)
        #expect(await world.apps.monitoring().isOn)
        _ = try await world.call(.setMonitoring, token: try await world.session(), body: pause)
        _ = try await world.call(.lock, by: bob, token: try await world.session(bob), body: all)
        #expect(await world.apps.monitoring().isOn)
    }
}
