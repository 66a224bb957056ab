import ControlAPI
import Policy
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore

/// The list of apps, the gate's marks and the clock are consistent.
@Suite struct AppServiceTests {
    // MARK: Marks before reports

    @Test func aLockIsReportedOnlyOnceTheGateHasAppliedIt() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1)
        #expect(world.gate.isGuarded(firefox) == false)
        world.gate.hold()
        let lock = Task { try await world.apps.lock(LockRequest(apps: ["firefox"]), user: 1, mayAdd: false) }
        await eventually { world.gate.waitingChanges == 1 }
        #expect(world.gate.isGuarded(firefox) == false)
        let isReported = try await world.events(.locked).isEmpty == false
        #expect(!isReported)
        world.gate.release()
        let report = try await lock.value
        #expect(report.apps.map(\.state) == [.locked])
        #expect(world.gate.isGuarded(firefox) == true)
    }

    @Test func anUnlockIsWrittenBeforeTheMarksAreRemoved() async throws {
        let world = try await World()
        await world.documents.hold()
        let unlock = Task { try await world.apps.unlock([firefox], scope: .untilLocked, user: 1) }
        await eventually { await world.documents.waitingWrites == 1 }
        #expect(world.gate.actions.isEmpty)
        await world.documents.release()
        #expect(try await unlock.value.apps.map(\.state) == [.unlocked])
        #expect(world.gate.actions == ["open firefox", "thaw firefox"])
    }

    @Test func aGrantForOneLaunchKeepsTheMarks() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .thisLaunch, user: 1)
        #expect(world.gate.isGuarded(firefox) == true)
        #expect(!world.gate.actions.contains("open firefox"))
    }

    /// A grant belongs to the app, not to the user who typed the passcode. If this fails, correct docs/limitations.md.
    @Test func anUnlockedAppIsUnlockedForEveryUser() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: alice.user)
        #expect(world.gate.isGuarded(firefox) == false, "every user can start, read and copy it")
        #expect(
            world.gate.launch(world.launch(1, user: bob.user)) == Decision(verdict: .allow, reason: .granted))
        _ = try await world.apps.unlock([calculator], scope: .thisLaunch, user: alice.user)
        #expect(world.gate.launch(world.launch(2, calculator, user: bob.user)).reason == .grantedOnce)
        await eventually { world.gate.answer(to: 2) == true }
    }

    // MARK: What can't be written

    @Test func anUnlockThatCannotBeWrittenUnlocksNothing() async throws {
        let world = try await World()
        await world.documents.fail()
        #expect(
            await refusal { _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1) } == .failed)
        #expect(await world.state(of: firefox) == .locked)
        #expect(world.gate.actions.isEmpty)
        #expect(await refusal { _ = try await world.apps.remove("firefox", user: 1) } == .failed)
        #expect(
            await refusal { try await world.apps.setMonitoring(MonitoringRequest(isOn: false), user: 1) } == .failed)
        #expect(await world.state(of: firefox) == .locked)
        #expect(world.gate.actions.isEmpty)
    }

    @Test func aLockThatCannotBeWrittenStillLocks() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox, calculator], scope: .untilLocked, user: 1)
        await world.documents.fail()
        #expect(
            await refusal { _ = try await world.apps.lock(LockRequest(all: true), user: 1, mayAdd: false) } == .failed)
        #expect(await world.state(of: firefox) == .locked)
        #expect(await world.state(of: calculator) == .locked)
        #expect(world.gate.isGuarded(firefox) == true && world.gate.isGuarded(calculator) == true)
    }

    @Test func turningMonitoringOnWorksOnAFullDisk() async throws {
        let world = try await World()
        try await world.apps.setMonitoring(MonitoringRequest(isOn: false), user: 1)
        #expect(world.gate.isGuarded(firefox) == false)
        await world.documents.fail()
        #expect(await refusal { try await world.apps.setMonitoring(MonitoringRequest(isOn: true), user: 1) } == .failed)
        #expect(world.gate.isGuarded(firefox) == true)
    }

    // MARK: Time

    @Test func aGrantEndsWhenItsTimeIsOverAndNotBefore() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .duration(.seconds(60)), user: 1)
        await eventually { world.time.waits.contains(.seconds(60)) }
        world.time.advance(by: .milliseconds(59_999))
        #expect(await world.state(of: firefox) == .unlocked)
        #expect(world.gate.isGuarded(firefox) == false)
        world.time.advance(by: .milliseconds(1))
        await eventually { world.gate.isGuarded(firefox) == true }
        #expect(await world.state(of: firefox) == .locked)
        await eventually { try await world.events(.grantEnded).count == 1 }
        let next = try await World(after: world)
        #expect(await next.state(of: firefox) == .locked)
    }

    @Test func aGrantOutlivesTheDaemonAndEndsOnTime() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .duration(.seconds(60)), user: 1)
        await eventually { world.time.waits.contains(.seconds(60)) }
        world.time.advance(by: .seconds(40))
        let next = try await World(after: world)
        #expect(await next.apps.report(firefox).unlockedForSeconds == 20)
        #expect(next.gate.isGuarded(firefox) == false)
        // Both worlds share the clock, so the earlier one sleeps too.
        await eventually("both wait") { next.time.waits.count { $0 == .seconds(20) } >= 2 }
        next.time.advance(by: .seconds(20))
        await eventually { next.gate.isGuarded(firefox) == true }
        withExtendedLifetime(world) {}
    }

    @Test func aGrantDoesNotOutliveTheBoot() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1)
        world.time.set(boot: "boot-2", elapsed: .seconds(2_000))
        let next = try await World(after: world)
        #expect(await next.state(of: firefox) == .locked)
        #expect(next.gate.isGuarded(firefox) == true)
    }

    @Test func settingTheClockDoesNotLengthenAGrant() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .duration(.seconds(60)), user: 1)
        world.time.set(civil: CivilTime(weekday: .monday, secondOfDay: 0), wall: 0)
        #expect(await world.apps.report(firefox).unlockedForSeconds == 60)
        await eventually { world.time.waits.contains(.seconds(60)) }
        world.time.advance(by: .seconds(60))
        await eventually { world.gate.isGuarded(firefox) == true }
    }

    @Test func aScheduleRemovesAndSetsTheMarks() async throws {
        let world = try await World()
        _ = try await world.apps.changeApp(
            "firefox", ChangeAppRequest(schedule: "block mon 13:00-14:00"), user: 1)
        #expect(world.gate.isGuarded(firefox) == false, "noon is outside the window")
        for (hour, isGuarded) in [(13, true), (14, false)] {
            world.time.set(civil: CivilTime(weekday: .monday, secondOfDay: hour * 3_600))
            await eventually { world.time.waits.first.map { $0 <= .seconds(60) } == true }
            world.time.advance(by: .seconds(60))
            await eventually { world.gate.isGuarded(firefox) == isGuarded }
        }
    }

    @Test func aPauseOfMonitoringEndsByItself() async throws {
        let world = try await World()
        try await world.apps.setMonitoring(MonitoringRequest(isOn: false, forSeconds: 600), user: 1)
        #expect(world.gate.isGuarded(firefox) == false && world.gate.isGuarded(calculator) == false)
        await eventually { world.time.waits.contains(.seconds(600)) }
        world.time.advance(by: .seconds(600))
        await eventually { world.gate.isGuarded(firefox) == true && world.gate.isGuarded(calculator) == true }
        #expect(await world.apps.monitoring() == MonitoringState(isOn: true))
    }

    // MARK: Running instances

    @Test(arguments: [("freeze", "freeze firefox"), ("close", "close firefox"), ("keep", nil)])
    func whenAGrantEndsRunningInstancesAreHandledAfterTheMarks(_ action: String, _ order: String?) async throws {
        let world = try await World()
        _ = try await world.apps.changeApp("firefox", ChangeAppRequest(onGrantEnd: action), user: 1)
        _ = try await world.apps.unlock([firefox], scope: .duration(.seconds(60)), user: 1)
        world.gate.forgetActions()
        // Before it is closed there is a warning.
        await eventually { world.time.waits.contains(.seconds(action == "close" ? 48 : 60)) }
        world.time.advance(by: .seconds(60))
        await eventually { try await world.events(.grantEnded).count == 1 }
        #expect(world.gate.actions == ["guard firefox"] + (order.map { [$0] } ?? []))
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1)
        #expect(world.gate.actions.suffix(2) == ["open firefox", "thaw firefox"])
    }

    @Test func aGrantThatEndsWithoutAGateIsAppliedOnReconnection() async throws {
        let world = try await World()
        _ = try await world.apps.changeApp("firefox", ChangeAppRequest(onGrantEnd: "freeze"), user: 1)
        _ = try await world.apps.unlock([firefox], scope: .duration(.seconds(60)), user: 1)
        await eventually { world.time.waits.contains(.seconds(60)) }
        world.gate.disconnect()
        await eventually { await world.apps.gateState == .away }
        world.time.advance(by: .seconds(60))
        await eventually { try await world.events(.grantEnded).count == 1 }
        world.gate.forgetActions()
        world.gate.connect()
        await eventually { world.gate.actions.last == "freeze firefox" }
        #expect(world.gate.actions.contains("set firefox guarded"))
    }

    @Test func anUnusedGrantForOneLaunchEndsWithoutClosingInstances() async throws {
        let world = try await World()
        _ = try await world.apps.changeApp("firefox", ChangeAppRequest(onGrantEnd: "close"), user: 1)
        _ = try await world.apps.unlock([firefox], scope: .thisLaunch, user: 1)
        world.gate.forgetActions()
        await eventually { world.time.waits.contains(.seconds(300)) }
        world.time.advance(by: .seconds(300))
        await eventually { try await world.events(.grantEnded).count == 1 }
        #expect(!world.gate.actions.contains("close firefox"))
    }

    @Test(arguments: [("freeze", "freeze notes"), ("close", "close notes"), ("keep", nil), (nil, nil)])
    func whatRunsOfAnAddedAppIsHandledAfterTheMarks(_ action: String?, _ order: String?) async throws {
        let world = try await World()
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: action), user: 1)
        #expect(world.gate.actions == ["set notes guarded"] + (order.map { [$0] } ?? []))
        world.gate.forgetActions()
        let again = try await world.apps.add(AddAppRequest(app: "notes", running: "close"), user: 1)
        #expect(world.gate.actions.isEmpty && again.notes == ["Notes is on the list already."])
    }

    @Test func anUnknownChoiceForWhatRunsAddsNothing() async throws {
        let world = try await World()
        let request = AddAppRequest(app: "notes", running: "stop")
        #expect(await refusal { _ = try await world.apps.add(request, user: 1) } == .badRequest)
        #expect(await world.apps.policy.apps[app("notes")] == nil && world.gate.actions.isEmpty)
    }

    @Test func whatRunsOfAnAppThatIsAddedWhileMonitoringIsOffIsLeftAsItIs() async throws {
        let world = try await World()
        try await world.apps.setMonitoring(MonitoringRequest(isOn: false), user: 1)
        world.gate.forgetActions()
        let added = try await world.apps.add(AddAppRequest(app: "notes", running: "freeze"), user: 1)
        #expect(world.gate.actions == ["set notes open", "thaw notes"])
        #expect(added.notes == ["Notes is not locked at present, so what runs of it was left as it is."])
    }

    @Test func whatRunsOfAnAppThatIsAddedWithoutAGateIsHandledOnReconnection() async throws {
        let world = try await World(isGatePresent: false)
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: "close"), user: 1)
        #expect(world.gate.actions.isEmpty)
        world.gate.connect()
        await eventually { world.gate.actions.last == "close notes" }
    }

    @Test func anAppThatIsRemovedAndAddedAgainWithoutAGateIsNotClosed() async throws {
        let world = try await World(isGatePresent: false)
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: "close"), user: 1)
        _ = try await world.apps.remove("notes", user: 1)
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: "keep"), user: 1)
        world.gate.connect()
        // Written after what was overdue.
        await eventually { try await !world.events(.gateConnected).isEmpty }
        #expect(world.gate.actions.contains("set notes guarded") && !world.gate.actions.contains("close notes"))
    }

    @Test func frozenInstancesContinueWhileMonitoringIsOff() async throws {
        let world = try await World()
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: "freeze"), user: 1)
        world.gate.forgetActions()
        try await world.apps.setMonitoring(MonitoringRequest(isOn: false), user: 1)
        #expect(world.gate.actions.filter { $0.hasSuffix("notes") } == ["open notes", "thaw notes"])
    }

    @Test func frozenInstancesContinueWhenTheScheduleOpensTheirApp() async throws {
        let world = try await World()
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: "freeze"), user: 1)
        world.gate.forgetActions()
        _ = try await world.apps.changeApp("notes", ChangeAppRequest(schedule: "block mon 13:00-14:00"), user: 1)
        #expect(world.gate.actions == ["open notes", "thaw notes"], "noon is outside the window")
    }

    @Test func aGrantThatEndsWhileMonitoringIsOffFreezesNothing() async throws {
        let world = try await World()
        _ = try await world.apps.changeApp("firefox", ChangeAppRequest(onGrantEnd: "freeze"), user: 1)
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1)
        try await world.apps.setMonitoring(MonitoringRequest(isOn: false), user: 1)
        world.gate.forgetActions()
        _ = try await world.apps.lock(LockRequest(apps: ["firefox"]), user: 1, mayAdd: false)
        #expect(try await world.events(.grantEnded).count == 1)
        #expect(world.gate.actions.isEmpty)
    }

    @Test func frozenInstancesContinueWhereTheirAppWasOpenedWithoutAGate() async throws {
        let world = try await World()
        _ = try await world.apps.add(AddAppRequest(app: "notes", running: "freeze"), user: 1)
        world.gate.disconnect()
        await eventually { await world.apps.gateState == .away }
        try await world.apps.setMonitoring(MonitoringRequest(isOn: false), user: 1)
        world.gate.forgetActions()
        world.gate.connect(.held(orphansDenied: 0))
        await eventually { await world.apps.gateState != .away }
        #expect(world.gate.actions.filter { $0.hasSuffix("notes open") || $0 == "thaw notes" }.count == 2)
    }

    @Test func frozenInstancesContinueWhenTheirAppIsRemoved() async throws {
        let world = try await World()
        _ = try await world.apps.remove("firefox", user: 1)
        #expect(world.gate.actions == ["thaw firefox", "forget firefox"])
    }

    // MARK: Reconnection of the gate

    @Test func aReconnectedGateReceivesEverythingAgain() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([calculator], scope: .untilLocked, user: 1)
        world.gate.disconnect()
        await eventually { await world.apps.gateState == .away }
        _ = try await world.apps.add("notes", user: 1)
        _ = try await world.apps.remove("firefox", user: 1)
        world.gate.forgetActions()
        world.gate.connect(.held(orphansDenied: 3))
        await eventually { await world.apps.gateState != .away }
        #expect(
            world.gate.actions == [
                "configure 130 64", "set calculator open", "thaw calculator", "set notes guarded", "synchronised",
            ])
        #expect(await world.apps.gateState == .held(orphansDenied: 3))
        await eventually { try await world.events(.gateConnected).last?.sentence.contains("3 launches") == true }
    }

    @Test func changesDoNotWaitForADisconnectedGate() async throws {
        let world = try await World(isGatePresent: false)
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1)
        _ = try await world.apps.lock(LockRequest(all: true), user: 1, mayAdd: false)
        #expect(world.gate.actions.allSatisfy { $0.hasPrefix("thaw") })
    }

    // MARK: AsyncSerialQueue

    @Test func concurrentChangesAreAllApplied() async throws {
        let world = try await World()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...30 {
                group.addTask { _ = try await world.apps.setCategory("category \(number)", .init(), user: 1) }
            }
            for name in ["notes", "mail"] { group.addTask { _ = try await world.apps.add(name, user: 1) } }
            group.addTask { _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: 1) }
            group.addTask { _ = try await world.apps.changeApp("calculator", .init(onGrantEnd: "close"), user: 1) }
            group.addTask { _ = try await world.apps.changeSettings(.init(promptTimeoutSeconds: 99), user: 1) }
            try await group.waitForAll()
        }
        for world in [world, try await World(after: world)] {
            #expect(await world.apps.categories().count == 30)
            #expect(await world.apps.reports().map(\.id) == ["calculator", "firefox", "mail", "notes"])
            #expect(await world.state(of: firefox) == .unlocked)
            #expect(await world.apps.report(calculator).onGrantEnd == "close")
            #expect(await world.apps.settings().promptTimeoutSeconds == 99)
            #expect(world.gate.isGuarded(firefox) == false)
            #expect(world.gate.isGuarded(app("notes")) == true)
        }
    }

    // MARK: Names

    @Test func aNameThatFitsTwoListedAppsIsNotGuessed() async throws {
        let world = try await World()
        let second = app("firefox-esr")
        try await world.apps.change { $0.policy.add(LockedApp(id: second, name: "Web")) }
        try await world.apps.change { $0.policy.add(LockedApp(id: firefox, name: "Web")) }
        for request in [LockRequest(apps: ["web"]), LockRequest(apps: ["calculator", "WEB"])] {
            #expect(
                await refusal { _ = try await world.apps.lock(request, user: 1, mayAdd: true) } == .ambiguousApp)
        }
        #expect(await refusal { _ = try await world.apps.listed("nothing") } == .noSuchApp)
        #expect(try await world.apps.listed("calculator.desktop") == calculator)
        #expect(try await world.apps.listed("/usr/bin/calculator") == calculator)
    }

    @Test func addingRefusesWhatTheCatalogRefuses() async throws {
        let world = try await World()
        #expect(await refusal { _ = try await world.apps.add("bash", user: 1) } == .essential)
        #expect(await refusal { _ = try await world.apps.add("../etc", user: 1) } == .noSuchApp)
        #expect(try await world.apps.add("firefox", user: 1).notes == ["Firefox is on the list already."])
    }
}
