import ControlAPI
import Foundation
import HeadlessCompanion
import Household
import HubAPI
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import DaemonCore

@Suite struct RemoteCommandTests {
    private let minutes = GrantRequest(.duration, seconds: 300)

    /// The time of the tests' computer, whose clock stands still.
    private static let clock: @Sendable () -> UInt64 = { 1_800_000_000_000 }

    @Test func aPhoneUnlocksAndLocks() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let unlocked = try await companion.command(.unlockApp(app: "firefox", grant: minutes), to: computer)
        #expect(unlocked.state == .done && unlocked.sentence == "Firefox is unlocked.")
        #expect(await connected.world.state(of: firefox) == .unlocked)
        #expect(try await companion.command(.lockAll, to: computer).state == .done)
        #expect(await connected.world.state(of: firefox) == .locked)
        let refused = try await companion.command(.unlockApp(app: "chess", grant: minutes), to: computer)
        #expect(refused.state == .refused && refused.reason == "no_such_app")
        let tooLong = try await companion.command(
            .unlockApp(app: "firefox", grant: GrantRequest(.duration, seconds: 86_400)), to: computer)
        #expect(tooLong.state == .refused && tooLong.reason == "bad_request")
        #expect(await connected.world.state(of: firefox) == .locked)
    }

    @Test func aCommandOfANewerCompanionIsRefusedInsteadOfNeverAnswered() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let newer = try JSONDecoder().decode(
            RemoteCommand.self,
            from: Data(
                #"{"computer": "\#(computer)", "issued": 1800000000000, "action": {"dance": {"app": "x"}}}"#.utf8))
        #expect(newer.action == .unsupported)
        let reply = try await companion.command(newer.action, to: computer)
        #expect(reply.state == .refused)
        #expect(reply.sentence.contains("Update AppLocker on the computer"))
    }

    @Test func manyLocksDoNotHideACommandInTheLog() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        for _ in 0..<20 { _ = try await companion.command(.lockAll, to: computer) }
        let reply = try await companion.command(.unlockApp(app: "firefox", grant: minutes), to: computer)
        let lines = try await connected.world.events(.remoteCommand)
        #expect(lines.contains { $0.sentence == "By a command of Anna's phone: \(reply.sentence)" })
    }

    @Test(arguments: [RemoteAction.lockAll, .lockVault])
    func aPasscodeThatIsComparedDuringAPhonesLockOpensNothing(action: RemoteAction) async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let generations = connected.world.control.lockGenerations
        let before = generations.generation(for: alice.user)
        #expect(try await companion.command(action, to: try await companion.computer(nil)).state == .done)
        #expect(await refusal { try generations.check(before) } == .busy)
    }

    @Test(arguments: [RemoteAction.lockAll, .lockVault])
    func aLockByAPhoneEndsManagementSessions(action: RemoteAction) async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let token = try await connected.world.session()
        func manage() async throws {
            _ = try await connected.world.call(.setCategory, "games", token: token, body: SetCategoryRequest())
        }
        try await manage()
        let computer = try await companion.computer(nil)
        #expect(try await companion.command(action, to: computer).state == .done)
        #expect(await refusal { try await manage() } == .sessionNeeded)
    }

    @Test func everyCommandIsLoggedWithThePhonesName() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let actions = RemoteAction.samples(of: await companion.device, minutes)
        #expect(Set(actions.map { "\($0)".prefix { $0 != "(" } }).count == actions.count)
        for action in actions {
            let before = try await connected.world.events(.remoteCommand).count
            let reply = try await companion.command(action, to: computer)
            // The log line is written after the answer.
            await eventually("\(action) is logged") {
                try await connected.world.events(.remoteCommand).count > before
            }
            let lines = try await connected.world.events(.remoteCommand)
            #expect(lines.count == before + 1, "\(action)")
            let line = try #require(lines.first { $0.sentence.hasSuffix(reply.sentence) }, "\(action)")
            let name = line.sentence.prefix { $0 != ":" }
            #expect(["By a command of Anna's phone", "By a command of the phone"].contains(name), "\(line.sentence)")
        }
    }

    @Test func aPhoneAddsInstalledAppsAndSetsTheirCategories() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let id = HubID(await companion.secrets.device)
        // The icons are a record of their own, which may arrive after the list.
        await eventually("the list and the icons arrive") {
            try await companion.sync()
            let icons = await companion.icons()[computer]?.icons.map(\.app)
            return await companion.lists()[computer]?.others != nil && icons == ["calculator", "firefox"]
        }
        let revision = await companion.revision(of: .icons, computer)
        let before = try #require(await companion.lists()[computer])
        #expect(before.others == [OtherApp(id: "mail", name: "Mail"), OtherApp(id: "notes", name: "Notes")])
        #expect(before.categories == [])
        #expect(try await companion.command(.addApp(app: "mail"), to: computer).state == .done)
        let reply = try await companion.command(
            .setCategories(app: "mail", categories: ["work", "talk"]), to: computer)
        #expect(reply.state == .done && reply.sentence == "Mail is in talk, work.")
        let fewer = try await companion.command(.setCategories(app: "mail", categories: ["work"]), to: computer)
        #expect(fewer.sentence == "Mail is in work.")
        let bad = try await companion.command(.setCategories(app: "mail", categories: [" "]), to: computer)
        #expect(bad.state == .refused && bad.reason == "bad_request")
        let absent = try await companion.command(.setCategories(app: "notes", categories: []), to: computer)
        #expect(absent.state == .refused && absent.reason == "no_such_app")
        #expect(try await companion.command(.renameDevice(device: id, name: "Phone"), to: computer).state == .done)
        let long = try await companion.command(
            .renameDevice(device: id, name: String(repeating: "a", count: 65)), to: computer)
        #expect(long.state == .refused && long.reason == "bad_request")
        await eventually("the new list and name arrive") {
            connected.world.time.wakeNext(within: StatusPublisher.shortest)
            try await companion.sync()
            let list = await companion.lists()[computer]
            let name = await companion.report().devices[id]
            let icons = await companion.icons()[computer]?.icons.map(\.app)
            return icons == ["calculator", "firefox", "mail"] && list?.others == [OtherApp(id: "notes", name: "Notes")]
                && list?.apps.first { $0.id == "mail" }?.categories == ["work"]
                && list?.categories?.map(\.name) == ["talk", "work"]
                && name == "Phone"
        }
        // Lists and categories changed several times, the apps on the list once.
        #expect(await companion.revision(of: .icons, computer) == revision + 1)
    }

    @Test func theStatusContainsTheIntegrityFindings() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        await eventually("the status arrives") {
            try await companion.sync()
            return await companion.report().computers.first?.status.integrity == World.findings
        }
    }

    @Test func aPhoneApprovesAWaitingLaunchAndASecondAnswerIsTooLate() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        var prompter = try await connected.world.join()
        let report = try await connected.world.prompt(for: connected.world.launch(1), &prompter)
        await eventually("the request arrives") {
            try await companion.sync()
            return await companion.requests().map(\.prompt) == [report.prompt]
        }
        let answer = try await companion.command(.approve(prompt: report.prompt, grant: minutes), to: computer)
        #expect(answer.state == .done)
        #expect(connected.world.gate.answer(to: 1) == true)
        #expect(await prompter.settled() == .allowed)
        await eventually("the request is settled") {
            try await companion.sync()
            return await companion.requests().isEmpty
        }
        let second = try await companion.command(.deny(prompt: report.prompt), to: computer)
        #expect(second.state == .refused && second.reason == "no_such_prompt")
        let other = try await connected.world.prompt(for: connected.world.launch(2, calculator), &prompter)
        #expect(try await companion.command(.deny(prompt: other.prompt), to: computer).state == .done)
        #expect(connected.world.gate.answer(to: 2) == false)
        await eventually("the log names the phone") {
            let allowed = try await connected.world.events(.launchAllowed).map(\.reason)
            let denied = try await connected.world.events(.launchDenied).map(\.reason)
            return allowed == ["unlockedRemotely"] && denied == ["deniedRemotely"]
        }
    }

    @Test func aLaunchThatWasDeniedAtOnceIsStartedAgainByItsPrompter() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        var prompter = try await connected.world.join()
        let launch = connected.world.launch(1, deniedAtOnce: true)
        let report = try await connected.world.prompt(for: launch, &prompter)
        let execRequest = ExecRequest(path: "cGF0aA==", directory: "", arguments: ["YQ=="], environment: [])
        connected.world.gate.report(.execRequest(number: 1, execRequest))
        // The gate's events are handled in order: once this one is logged, the exec request has arrived.
        connected.world.gate.report(.readDenied(app: firefox, process: 1, user: alice.user, path: "/x"))
        await eventually { try await connected.world.events(.readDenied).count == 1 }
        let computer = try await companion.computer(nil)
        let answer = try await companion.command(
            .approve(prompt: report.prompt, grant: GrantRequest(.thisLaunch)), to: computer)
        #expect(answer.state == .done)
        var started: ExecRequest?
        while let event = await prompter.next() {
            if case .start(let what, let how) = event, what.prompt == report.prompt { started = how }
            if case .settled = event { break }
        }
        #expect(started == execRequest)
        // Only a start by this prompter is allowed.
        let again = connected.world.launch(2, parent: alice.process)
        #expect(connected.world.authorizer.authorize(again).verdict == .allow)
    }

    @Test func aCommandIsPerformedOnceEvenAfterRestartAndClockChange() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let command = try await companion.sealed(.unlockApp(app: "firefox", grant: minutes), to: computer)
        let outcome = try await companion.hub.write([command])[0]
        #expect(outcome.sequence != nil)
        await eventually { await connected.world.state(of: firefox) == .unlocked }
        _ = try await connected.world.apps.lock(LockRequest(all: true), user: 0, mayAdd: false)

        var replayed = command
        replayed.sequence = 1_000_000
        connected.hub.stream(.record(replayed))
        let restarted = try await ConnectedWorld(hub: connected.hub, after: connected.world)
        restarted.world.time.set(wall: 1_799_999_990)
        restarted.hub.stream(.record(replayed))
        // This command is performed after the replayed one was handled.
        await eventually { try await restarted.sync.status().waiting == 0 }
        _ = try await companion.command(.lockVault, to: computer)
        #expect(await restarted.world.state(of: firefox) == .locked)
    }

    @Test(arguments: [(-70_000, "too_old"), (-61_000, "too_old"), (6_000, "too_early"), (600_000, "too_early")])
    func lateAndEarlyCommandsAreRefused(offset: Int, reason: String) async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let now = Int(await connected.household.clock)
        let record = try await companion.secrets.seal(
            RemoteCommand(
                computer: computer, issued: UInt64(now + offset), action: .unlockApp(app: "firefox", grant: minutes)),
            .commands, .random(), revision: 1)
        _ = try await companion.hub.write([record])
        let answered = await eventually {
            connected.hub.records(in: "commands").first { $0.id == record.id }?.revision == 2
        }
        try #require(answered)
        try await companion.watch { _, ingested in
            guard case .reply(_, _, let reply)? = ingested else { return true }
            #expect(reply.state == .refused && reply.reason == reason)
            return false
        }
        #expect(await connected.world.state(of: firefox) == .locked)
    }

    @Test(arguments: [-600_000, 600_000])
    func commandsOfAPhoneWhoseClockIsTenMinutesOffArePerformed(offset: Int) async throws {
        let connected = try await ConnectedWorld()
        let clock: @Sendable () -> UInt64 = { UInt64(1_800_000_000_000 + offset) }
        let companion = try await connected.pair(clock: clock)
        let computer = try await companion.computer(nil)
        // Whether or not a status has arrived: by the estimate, or by the second attempt.
        #expect(try await companion.command(.lockAll, to: computer).state == .done)
        // The computer's clock changes between two statuses.
        connected.world.time.set(wall: 1_800_000_000 - Double(offset) / 1_000)
        #expect(try await companion.command(.lockAll, to: computer).state == .done)
    }

    @Test func commandsForAnotherComputerOrFromANonCompanionAreIgnored() async throws {
        let connected = try await ConnectedWorld()
        let companion = try await connected.pair(clock: Self.clock)
        let computer = try await companion.computer(nil)
        let action = RemoteAction.unlockApp(app: "firefox", grant: minutes)
        // For another computer.
        let other = try await companion.sealed(action, to: HubID(ItemID.random()))
        _ = try await companion.hub.write([other])
        // From a device that has the keys and is not in the roster.
        let secrets = await companion.secrets
        let stranger = HouseholdSecrets(
            household: secrets.household, signingKey: DeviceSigningKey(), boxKey: BoxKeyPair(),
            token: secrets.token, ring: secrets.ring)
        let command = RemoteCommand(computer: computer, issued: Self.clock(), action: action)
        connected.hub.stream(
            .record(try stranger.seal(command, .commands, .random(), revision: 1)))
        // Signed by the phone, and changed in transit.
        var changed = try await companion.sealed(.lockAll, to: computer)
        changed.sealed = try await companion.sealed(action, to: computer).sealed
        connected.hub.stream(.record(changed))
        #expect(try await companion.command(.lockVault, to: computer).state == .done)
        #expect(await connected.world.state(of: firefox) == .locked)
        #expect(try await connected.sync.status().refused == 2)
    }
}
