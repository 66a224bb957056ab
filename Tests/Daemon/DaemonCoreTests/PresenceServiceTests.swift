import ControlAPI
import Foundation
import Policy
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore

/// Locking at sleep, locked screens and user switches.
@Suite struct PresenceServiceTests {
    private let right = SecretBytes(utf8: "right")
    private let root = ControlPeer(user: 0, process: 1)

    private func unlock(_ world: World, _ app: AppID = firefox, by peer: ControlPeer = alice) async throws {
        _ = try await world.apps.unlock([app], scope: .untilLocked, user: peer.user)
    }

    @Test func changesOfTheSettingsAtOnceAreAllStored() async throws {
        let world = try await World()
        let (vault, presence) = (world.sealed.vault, world.control.presence)
        try await withThrowingTaskGroup { group in
            for _ in 1...50 {
                group.addTask {
                    try await presence.changeSettings { $0.inactivitySeconds += 1 }
                    try await vault.changeSettings { $0.vaultIdleSeconds += 1 }
                }
            }
            try await group.waitForAll()
        }
        #expect(await presence.settings.inactivitySeconds == 650)
        #expect(await vault.settings.vaultIdleSeconds == 650)
    }

    @Test func beforeSleepEverythingIsLocked() async throws {
        let world = try await World(hasVault: true)
        try await unlock(world)
        _ = try await world.sealed.vault.open(right, for: alice)
        let token = try await world.session()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(7, calculator), &prompter)
        #expect(world.gate.isGuarded(firefox) == false)
        world.signals.beforeAcknowledgement { [gate = world.gate, authorizer = world.authorizer] in
            #expect(gate.isGuarded(firefox) == true)
            #expect(gate.answer(to: 7) == false)
            #expect(authorizer.isAsleep)
        }
        world.signals.send(.goingToSleep(3))
        await eventually { world.signals.numbers == [3] }
        #expect(await prompter.settled() == .denied)
        #expect(await world.state(of: firefox) == .locked)
        #expect(try await !world.sealed.vault.status().isOpen)
        #expect(
            await refusal {
                try await world.call(.addApp, token: token, body: AddAppRequest(app: "notes"))
            } == .sessionNeeded)
        #expect(
            await refusal {
                try await world.call(
                    .answerPrompt, prompt.prompt,
                    body: PromptAnswerRequest(passcode: "right", grant: GrantRequest(.thisLaunch)))
            } == .noSuchPrompt)
        await eventually { try await world.events(.relocked).count == 1 }
        #expect(
            try await world.events(.relocked)[0].sentence == "Everything was locked: the computer is going to sleep.")
        #expect(try await world.events(.launchDenied)[0].reason == Reason.relocked.rawValue)
        world.signals.send(.woke)
        await eventually { !world.authorizer.isAsleep }
        #expect(await world.state(of: firefox) == .locked)
    }

    @Test func sleepWaitsForTheGate() async throws {
        let world = try await World()
        try await unlock(world)
        let token = try await world.session()
        world.gate.hold()
        world.signals.beforeAcknowledgement { [gate = world.gate] in #expect(gate.isGuarded(firefox) == true) }
        world.signals.send(.goingToSleep(1))
        await eventually { world.gate.waitingChanges == 1 }
        // What does not need the gate is locked first; then only the gate is waited for.
        await eventually {
            await refusal { try await world.call(.endJoining, token: token) } == .sessionNeeded
        }
        _ = try await world.status()
        await world.daemon.finish()
        _ = try await world.status()
        #expect(world.signals.numbers.isEmpty)
        world.gate.release()
        await eventually { world.signals.numbers == [1] }
    }

    @Test func sleepDoesNotWaitForTheDisk() async throws {
        let world = try await World()
        try await unlock(world)
        await world.documents.hold()
        world.signals.send(.goingToSleep(1))
        await eventually { world.signals.numbers == [1] }
        #expect(world.gate.isGuarded(firefox) == true)
        await world.documents.release()
        // A restarted daemon finds it locked.
        await eventually {
            let bytes = try await world.database.document(AppService.documentName) ?? []
            return try JSONDecoder().decode(AppService.Stored.self, from: Data(bytes)).policy.grants.isEmpty
        }
    }

    @Test func noPromptIsShownWhileTheComputerFallsAsleep() async throws {
        let world = try await World()
        var prompter = try await world.join()
        world.signals.send(.goingToSleep(1))
        await eventually { world.signals.numbers == [1] }
        #expect(world.gate.launch(world.launch(1)) == Decision(verdict: .deny, reason: .relocked))
        world.signals.send(.woke)
        await eventually { !world.authorizer.isAsleep }
        _ = try await world.prompt(for: world.launch(2), &prompter)
        // If no signal reports the wake, prompts are shown again after a while.
        world.signals.send(.goingToSleep(2))
        world.signals.send(.unavailable("tested"))
        await eventually { world.signals.numbers == [1, 2] && !world.authorizer.isAsleep }
    }

    @Test func aPasscodeTypedBeforeSleepUnlocksNothingAfterwards() async throws {
        let requests: [@Sendable (World) async throws -> Void] = [
            {
                _ = try await $0.call(
                    .unlock,
                    body: UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "right"))
            },
            { _ = try await $0.session() },
            { _ = try await $0.call(.openVault, body: PasscodeRequest(passcode: "right")) },
        ]
        for request in requests {
            let world = try await World(hasVault: true)
            await world.documents.hold()
            let answer = Task { await refusal { try await request(world) } }
            // An attempt is written before it is compared: here the write waits.
            await eventually { await world.documents.waitingWrites == 1 }
            world.signals.send(.sessionLocked(user: alice.user))
            await eventually { try await world.relocked == 1 }
            await world.documents.release()
            #expect(await answer.value == .busy)
            #expect(await world.state(of: firefox) == .locked)
            #expect(try await !world.sealed.vault.status().isOpen)
        }
    }

    @Test func aUsersAbsenceLocksTheirAppsAndRootsButNotOthers() async throws {
        for signal in [
            SessionSignal.sessionLocked(user: alice.user), .switchedAway(user: alice.user),
            .sessionEnded("1", leaving: alice.user),
        ] {
            let world = try await World(listed: [firefox, calculator, app("notes")])
            try await unlock(world, firefox, by: alice)
            try await unlock(world, calculator, by: bob)
            try await unlock(world, app("notes"), by: root)
            let tokens = (try await world.session(alice), try await world.session(bob))
            var (prompter, other) = (try await world.join(alice), try await world.join(bob, connection: 2))
            try await world.apps.setMonitoring(MonitoringRequest(isOn: true), user: 0)
            _ = try await world.apps.lock(LockRequest(apps: ["firefox"]), user: 0, mayAdd: false)
            _ = try await world.prompt(for: world.launch(1, user: alice.user), &prompter)
            _ = try await world.prompt(for: world.launch(2, user: bob.user), &other)
            try await unlock(world, firefox, by: alice)
            world.signals.send(signal)
            #expect(await prompter.settled() == .denied)
            // Apps, vault and sessions are locked concurrently; the log has the event when all are locked.
            await eventually("the log has the event") { try await world.relocked == 1 }
            #expect(await world.state(of: app("notes")) == .locked)
            #expect(await world.state(of: firefox) == .locked)
            #expect(await world.state(of: calculator) == .unlocked)
            #expect(world.gate.answer(to: 2) == nil)
            #expect(
                await refusal {
                    try await world.call(.addApp, token: tokens.0, body: AddAppRequest(app: "mail"))
                } == .sessionNeeded)
            _ = try await world.call(.addApp, by: bob, token: tokens.1, body: AddAppRequest(app: "mail"))
        }
    }

    @Test func shutdownAndTheLidLockForEveryUser() async throws {
        for signal in [SessionSignal.shuttingDown(1), .lidClosed] {
            let world = try await World()
            try await unlock(world, firefox, by: alice)
            try await unlock(world, calculator, by: bob)
            world.signals.send(signal)
            await eventually { try await world.relocked == 1 }
            #expect(await world.state(of: firefox) == .locked)
            #expect(await world.state(of: calculator) == .locked)
        }
    }

    @Test func missingSystemSignalsAreReportedInTheStatus() async throws {
        let world = try await World()
        _ = try await world.join()
        world.signals.send(.unavailable("the D-Bus system bus is not running"))
        let sentence =
            "AppLocker can't notice sleep, screen locks or user switches here: the D-Bus system bus is not running."
        await eventually {
            try await world.call(.status, as: StatusReport.self).degraded.contains(sentence)
        }
        world.signals.send(.available)
        await eventually {
            try await !world.call(.status, as: StatusReport.self).degraded.contains(sentence)
        }
        world.signals.send(.unheld("it refused"))
        await eventually {
            try await world.call(.status, as: StatusReport.self).degraded.contains(
                "The computer does not wait for AppLocker before it sleeps: it refused.")
        }
    }
}

extension World {
    /// The number of events "everything was locked" in the log.
    var relocked: Int {
        get async throws { try await events(.relocked).count }
    }

    func status(_ peer: ControlPeer = alice) async throws -> InactivityReport {
        try await call(.status, as: StatusReport.self, by: peer).inactivity
    }
}
