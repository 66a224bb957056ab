import Foundation
import Policy
import TestSupport
import Testing

@Suite struct LockPolicyChangesTests {
    private func policy() -> LockPolicy {
        var policy = LockPolicy()
        policy.add(LockedApp(id: calculator, name: "Calculator", onGrantEnd: .freeze))
        policy.add(LockedApp(id: firefox, name: "Firefox"))
        return policy
    }

    @Test func lockingEndsTheGrantAndReturnsTheInstanceAction() throws {
        var policy = policy()
        let grants = try policy.unlock([calculator], scope: .untilLocked, at: moment(5))
        #expect(grants.map(\.app) == [calculator])
        let ended = try policy.lock([calculator, firefox])
        #expect(ended == [EndedGrant(grant: grants[0], reason: .locked, action: .freeze)])
        #expect(policy.isGuarded(calculator, at: moment(6)))
        let endedAgain = try policy.lock([calculator])
        #expect(endedAgain.isEmpty)
    }

    /// Otherwise its categories' schedules would apply to it again once it is added again.
    @Test func aRemovedAppLeavesItsCategories() throws {
        var policy = policy()
        for name in ["games", "evening"] { policy.setCategory(try Category(name: name, apps: [calculator, firefox])) }
        try policy.remove(calculator)
        #expect(policy.categories.values.allSatisfy { $0.apps == [firefox] })
    }

    @Test func unlockAllAndLockAllAffectEveryApp() throws {
        var policy = policy()
        let grants = try policy.unlock(policy.apps.keys, scope: .duration(.seconds(60)), at: moment(5))
        #expect(grants.map(\.app) == [firefox, calculator])
        #expect(!policy.isGuarded(firefox, at: moment(6)) && !policy.isGuarded(calculator, at: moment(6)))
        let ended = policy.endGrants(.locked)
        #expect(ended.map(\.action) == [.keep, .freeze])
        #expect(policy.isGuarded(firefox, at: moment(6)) && policy.isGuarded(calculator, at: moment(6)))
    }

    @Test(arguments: [GrantEndReason.sleep, .screenLocked, .inactivity])
    func sleepScreenLockAndInactivityEndEveryGrant(_ reason: GrantEndReason) throws {
        var policy = policy()
        try policy.unlock(policy.apps.keys, scope: .untilLocked, at: moment(5))
        let ended = policy.endGrants(reason)
        #expect(ended.map(\.reason) == [reason, reason])
        #expect(policy.grants.isEmpty)
    }

    @Test func expiredGrantsAreRemovedAndTheOthersStay() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .duration(.seconds(30)), at: moment(0))
        try policy.unlock([firefox], scope: .untilLocked, at: moment(0))
        let before = policy.endExpiredGrants(at: moment(29.9))
        let atItsEnd = policy.endExpiredGrants(at: moment(30))
        let afterReboot = policy.endExpiredGrants(at: moment(31, boot: nextBoot))
        #expect(before.isEmpty)
        #expect(atItsEnd.map(\.grant.app) == [calculator])
        #expect(afterReboot.map(\.grant.app) == [firefox])
    }

    @Test func aNewGrantReplacesTheOldOne() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .untilLocked, at: moment(0))
        try policy.unlock([calculator], scope: .duration(.seconds(30)), at: moment(1))
        #expect(policy.isGuarded(calculator, at: moment(31)))
    }

    @Test func aRefusedChangeChangesNothing() throws {
        var policy = policy()
        try policy.unlock([firefox], scope: .untilLocked, at: moment(0))
        let before = policy
        let unknown = app("unknown")
        #expect(throws: PolicyError.self) {
            try policy.unlock([calculator, unknown], scope: .untilLocked, at: moment(1))
        }
        #expect(throws: PolicyError.self) { try policy.lock([firefox, unknown]) }
        #expect(throws: PolicyError.self) { try policy.remove(unknown) }
        #expect(throws: PolicyError.self) { try policy.change(unknown) { $0.name = "" } }
        #expect(throws: PolicyError.self) {
            try policy.unlock(policy.apps.keys, scope: .duration(.seconds(7200)), at: moment(1))
        }
        #expect(throws: PolicyError.self) { try policy.changeSettings { $0.promptTimeout = .zero } }
        #expect(throws: PolicyError.self) { try policy.changeSettings { $0.phoneTimeout = .seconds(29) } }
        #expect(throws: PolicyError.self) { try policy.changeSettings { $0.phoneTimeout = .seconds(601) } }
        #expect(throws: PolicyError.self) { try policy.changeSettings { $0.maximumWaitingPerUser = 0 } }
        #expect(throws: PolicyError.self) { try policy.changeSettings { $0.defaultGrant = .seconds(3601) } }
        #expect(throws: PolicyError.self) { try policy.turnMonitoringOff(for: .zero, at: moment(1)) }
        #expect(throws: PolicyError.self) { try policy.removeCategory(named: "none") }
        #expect(policy == before)
    }

    @Test func removingAnAppEndsItsGrant() throws {
        var policy = policy()
        try policy.unlock([calculator], scope: .untilLocked, at: moment(0))
        let removed = try policy.remove(calculator)
        #expect(removed.app.name == "Calculator")
        #expect(removed.ended?.reason == .appRemoved)
        #expect(removed.ended?.action == .freeze)
        policy.add(removed.app)
        #expect(policy.isGuarded(calculator, at: moment(1)))
    }

    @Test func thePolicyIsEncodedAndDecodedTheSame() throws {
        var policy = policy()
        policy.setCategory(
            try Category(
                name: "Games & more", apps: [firefox],
                schedule: Schedule(mode: .allowOnlyInside, text: "sat 10:00-12:00")))
        try policy.change(calculator) { $0.schedule = Schedule.templates[0].schedule }
        try policy.unlock([calculator], scope: .duration(.seconds(45)), at: moment(17.25))
        try policy.turnMonitoringOff(for: .seconds(3), at: moment(18))
        try policy.changeSettings { settings in
            settings.promptTimeout = .seconds(7)
            settings.phoneTimeout = .seconds(31)
        }
        let json = try JSONEncoder().encode(policy)
        #expect(try JSONDecoder().decode(LockPolicy.self, from: json) == policy)
    }

    /// A policy that is decoded is used for calculations at once.
    @Test func aDamagedPolicyIsRefusedOrUsable() throws {
        var policy = policy()
        try policy.change(calculator) { $0.schedule = Schedule.templates[0].schedule }
        try policy.unlock([calculator], scope: .duration(.seconds(45)), at: moment(17))
        try policy.turnMonitoringOff(for: .seconds(3), at: moment(18))
        for variant in ExtremeNumbers.variants(of: Array(try JSONEncoder().encode(policy))) {
            guard let read = try? JSONDecoder().decode(LockPolicy.self, from: Data(variant)) else { continue }
            for now in [moment(0), moment(17), moment(19), moment(1e9)] {
                _ = read.nextTransition(after: now)
                _ = read.validGrant(for: calculator, at: now)?.remaining(at: now)?.components
            }
            #expect((read.settings.longestTimeout + .seconds(10)).components.seconds > 0)
        }
    }

    @Test(arguments: ["", " games", "games ", "a\nb", "\u{202E}x", String(repeating: "x", count: 65)])
    func anUnprintableCategoryNameIsRefused(_ name: String) throws {
        #expect(throws: PolicyError.self) { try Category(name: name) }
    }

    @Test func monitoringResumesByItself() throws {
        var policy = policy()
        let whileOn = policy.endMonitoringPause(at: moment(1))
        try policy.turnMonitoringOff(for: .seconds(5), at: moment(1))
        let before = policy.endMonitoringPause(at: moment(5.9))
        let atItsEnd = policy.endMonitoringPause(at: moment(6))
        #expect([whileOn, before, atItsEnd] == [false, false, true])
        #expect(policy.monitoring == .on)
    }
}
