import ControlAPI
import Policy
import SealedFormats
import SealedStore
import TestSupport
import Testing

@testable import DaemonCore

/// A launch from its prompt to its result.
@Suite struct LaunchServiceTests {
    private func answer(
        _ world: World, _ prompt: PromptReport, _ passcode: String = "right", _ scope: GrantScope = .thisLaunch,
        by peer: ControlPeer = alice
    ) async throws -> PromptAnswer {
        try await world.launches.answer(prompt.prompt, with: SecretBytes(utf8: passcode), scope: scope, by: peer)
    }

    @Test func onlyTheirUserSeesTheWaitingLaunches() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let first = try await world.prompt(for: world.launch(1), &prompter)
        world.time.advance(by: .seconds(10))
        let second = try await world.prompt(for: world.launch(2), &prompter)
        let waiting = try await world.call(.waitingPrompts, as: PromptList.self).prompts
        #expect(waiting.map(\.prompt) == [first, second].map(\.prompt))
        #expect(waiting.map(\.expiresInSeconds) == [20, 30])
        #expect(try await world.call(.waitingPrompts, as: PromptList.self, by: bob).prompts.isEmpty)
        _ = try await answer(world, first)
        #expect(try await world.call(.waitingPrompts, as: PromptList.self).prompts.map(\.prompt) == [second.prompt])
    }

    // MARK: Answers

    @Test func theRightPasscodeRemovesTheMarksBeforeTheLaunchContinues() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        #expect(prompt.expiresInSeconds == 30 && prompt.parentName == "process1000001" && !prompt.startsAgain)
        _ = try await answer(world, prompt, "right", .duration(.seconds(60)))
        let actions = world.gate.actions
        let open = try #require(actions.firstIndex(of: "open firefox"))
        let allow = try #require(actions.firstIndex(of: "answer 1 allow"))
        #expect(open < allow)
        #expect(await prompter.settled() == .allowed)
        await eventually { try await world.events(.launchAllowed).map(\.reason) == ["unlockedByPasscode"] }
    }

    @Test func theLaunchWaitsUntilTheGateHasRemovedTheMarks() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        world.gate.hold()
        let answered = Task { try await answer(world, prompt, "right", .untilLocked) }
        await eventually { world.gate.waitingChanges == 1 }
        #expect(world.gate.answer(to: 1) == nil)
        world.gate.release()
        _ = try await answered.value
        #expect(world.gate.answer(to: 1) == true)
    }

    @Test func aWrongPasscodeLeavesTheLaunchWaiting() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        #expect(await refusal { _ = try await answer(world, prompt, "wrong") } == .wrongPasscode)
        #expect(world.gate.answer(to: 1) == nil)
        #expect(await world.launches.waitingCount == 1)
        _ = try await answer(world, prompt)
        #expect(world.gate.answer(to: 1) == true)
    }

    @Test func aGrantForADurationApprovesEveryWaitingLaunchOfTheApp() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let first = try await world.prompt(for: world.launch(1), &prompter)
        _ = try await world.prompt(for: world.launch(2), &prompter)
        _ = try await world.prompt(for: world.launch(3, calculator), &prompter)
        _ = try await answer(world, first, "right", .duration(.seconds(60)))
        #expect(world.gate.answer(to: 1) == true && world.gate.answer(to: 2) == true)
        #expect(world.gate.answer(to: 3) == nil, "another app still waits")
    }

    @Test func aGrantForThisLaunchApprovesOnlyThisLaunch() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let first = try await world.prompt(for: world.launch(1), &prompter)
        _ = try await world.prompt(for: world.launch(2), &prompter)
        _ = try await answer(world, first)
        #expect(world.gate.answer(to: 1) == true && world.gate.answer(to: 2) == nil)
        #expect(world.gate.isGuarded(firefox) == true)
        #expect(await world.state(of: firefox) == .locked)
        #expect(world.gate.launch(world.launch(4)).verdict == .ask, "the next launch causes a prompt")
    }

    @Test func unlockingAnAppApprovesItsWaitingLaunches() async throws {
        let world = try await World()
        var prompter = try await world.join()
        _ = try await world.prompt(for: world.launch(1), &prompter)
        _ = try await world.call(
            .unlock, body: UnlockRequest(apps: ["firefox"], grant: GrantRequest(.untilLocked), passcode: "right"))
        #expect(world.gate.answer(to: 1) == true)
        #expect(await prompter.settled() == .allowed)
    }

    @Test func anAppsOwnPasscodeApprovesThatAppAlone() async throws {
        let world = try await World(passcodes: World.passcodes(apps: [firefox: "foxy"]))
        var prompter = try await world.join()
        let fox = try await world.prompt(for: world.launch(1), &prompter)
        let calc = try await world.prompt(for: world.launch(2, calculator), &prompter)
        #expect(await refusal { _ = try await answer(world, calc, "foxy") } == .wrongPasscode)
        _ = try await answer(world, fox, "foxy")
        #expect(world.gate.answer(to: 1) == true && world.gate.answer(to: 2) == nil)
    }

    @Test func aPromptBelongsToItsUser() async throws {
        let world = try await World()
        var prompter = try await world.join()
        _ = try await world.join(bob, connection: 2)
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        #expect(await refusal { _ = try await answer(world, prompt, by: bob) } == .noSuchPrompt)
        #expect(await refusal { try await world.launches.cancel(prompt.prompt, by: bob) } == .noSuchPrompt)
        #expect(world.gate.answer(to: 1) == nil)
        #expect(await world.passcodes.lockoutState().failures == 0)
    }

    @Test(arguments: ["", "1", "-1", "99999999999999999999", "../1", "1-1"])
    func anInvalidPromptIsRefusedBeforeThePasscodeIsCompared(_ prompt: String) async throws {
        let world = try await World()
        #expect(
            await refusal {
                _ = try await world.launches.answer(
                    prompt, with: SecretBytes(utf8: "wrong"), scope: .thisLaunch, by: alice)
            } == .noSuchPrompt)
        #expect(await world.passcodes.lockoutState().failures == 0)
    }

    @Test func anUnlockThatCannotBeWrittenLeavesTheLaunchWaiting() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        // The count and its reset are written, the grant is not.
        await world.documents.fail(after: 2)
        #expect(await refusal { _ = try await answer(world, prompt, "right", .untilLocked) } == .failed)
        #expect(world.gate.answer(to: 1) == nil)
        #expect(world.gate.isGuarded(firefox) == true)
    }

    // MARK: The end of a prompt

    @Test func aCancelledPromptDeniesItsLaunch() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        try await world.launches.cancel(prompt.prompt, by: alice)
        #expect(world.gate.answer(to: 1) == false)
        #expect(await prompter.settled() == .denied)
        await eventually { try await world.events(.launchDenied).map(\.reason) == ["cancelled"] }
        #expect(await refusal { _ = try await answer(world, prompt) } == .noSuchPrompt)
    }

    @Test func whenTheLastPrompterDisconnectsItsLaunchesAreDenied() async throws {
        let world = try await World()
        var prompter = try await world.join(connection: 1)
        _ = try await world.join(connection: 2)
        _ = try await world.prompt(for: world.launch(1), &prompter)
        await world.launches.leave(connection: 1)
        #expect(world.gate.answer(to: 1) == nil, "another prompter is connected")
        await world.launches.leave(connection: 2)
        #expect(world.gate.answer(to: 1) == false)
        await eventually { try await world.events(.launchDenied).map(\.reason) == ["prompterGone"] }
        #expect(world.gate.launch(world.launch(2)).reason == .nobodyToAsk)
    }

    @Test func aPrompterThatDisconnectsDuringAWrongAnswerDenies() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        await world.documents.hold()
        let wrong = Task { await refusal { _ = try await answer(world, prompt, "wrong") } }
        await eventually { await world.documents.waitingWrites == 1 }
        await world.launches.leave(connection: 1)
        #expect(world.gate.answer(to: 1) == nil, "the answer may be right")
        await world.documents.release()
        #expect(await wrong.value == .wrongPasscode)
        await eventually { world.gate.answer(to: 1) == false }
    }

    @Test func withoutAnAnswerInTimeALaunchIsDenied() async throws {
        let world = try await World()
        var prompter = try await world.join()
        _ = try await world.prompt(for: world.launch(1), &prompter)
        await eventually { world.time.waits.contains(.seconds(30)) }
        world.time.advance(by: .milliseconds(29_999))
        #expect(await world.launches.waitingCount == 1)
        world.time.advance(by: .milliseconds(1))
        #expect(await prompter.settled() == .timedOut)
        #expect(world.gate.answer(to: 1) == false)
        await eventually { try await world.events(.launchDenied).map(\.reason) == ["noAnswer"] }
    }

    @Test func aTimeoutDuringTheComparisonWaitsForItsResult() async throws {
        for (passcode, isAllowed) in [("right", true), ("wrong", false)] {
            let world = try await World()
            var prompter = try await world.join()
            let prompt = try await world.prompt(for: world.launch(1), &prompter)
            await eventually { world.time.waits.contains(.seconds(30)) }
            await world.documents.hold()
            let answered = Task { await refusal { _ = try await answer(world, prompt, passcode) } }
            await eventually { await world.documents.waitingWrites == 1 }
            world.time.advance(by: .seconds(31))
            await world.documents.release()
            _ = await answered.value
            await eventually { world.gate.answer(to: 1) == isAllowed }
        }
    }

    @Test func launchesThatTheGateEndsAreSettled() async throws {
        let world = try await World()
        var prompter = try await world.join()
        for (number, reason, outcome) in [(1, Reason.launcherGone, PromptOutcome.gone), (2, .noAnswer, .timedOut)] {
            let number = UInt64(number)
            let prompt = try await world.prompt(for: world.launch(number), &prompter)
            world.gate.report(.ended(number: number, reason))
            #expect(await prompter.settled() == outcome)
            #expect(world.gate.answer(to: number) == nil, "the gate has answered already")
            #expect(await refusal { _ = try await answer(world, prompt) } == .noSuchPrompt)
        }
        #expect(world.gate.launch(world.launch(3)).verdict == .ask)
    }

    @Test func whenTheGateDisconnectsItsWaitingLaunchesAreSettled() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        world.gate.disconnect()
        #expect(await prompter.settled() == .gone)
        #expect(await refusal { _ = try await answer(world, prompt) } == .noSuchPrompt)
    }

    @Test func anAnswerForALaunchOfAnEarlierGateApprovesNoOtherLaunch() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let old = try await world.prompt(for: world.launch(1, firefox), &prompter)
        await world.documents.hold()
        let answered = Task { await refusal { _ = try await answer(world, old) } }
        await eventually { await world.documents.waitingWrites == 1 }
        // A new gate starts with number 1: its launch 1 is another launch.
        world.gate.disconnect()
        #expect(await prompter.settled() == .gone)
        world.gate.connect()
        await eventually { await world.apps.gateState != .away }
        var other = world.launch(1, calculator)
        other.process = 1_000_999
        let new = try await world.prompt(for: other, &prompter)
        #expect(new.prompt != old.prompt)
        await world.documents.release()
        #expect(await answered.value == .noSuchPrompt)
        #expect(world.gate.answer(to: 1) == nil)
        #expect(await refusal { _ = try await answer(world, old) } == .noSuchPrompt)
    }

    @Test func aPrompterThatConnectsLateReceivesWaitingLaunches() async throws {
        let world = try await World()
        var first = try await world.join(connection: 1)
        let prompt = try await world.prompt(for: world.launch(1), &first)
        world.time.advance(by: .seconds(10))
        var second = try await world.join(connection: 2)
        guard case .ask(let report) = await second.next() else {
            Issue.record("no question")
            return
        }
        #expect(report.prompt == prompt.prompt)
        #expect(report.expiresInSeconds == 20)
    }

    // MARK: One launch of two

    @Test func aGrantForOneLaunchIsUsedByOneOfTwoConcurrentLaunches() async throws {
        let world = try await World()
        var prompter = try await world.join()
        _ = try await world.apps.unlock([firefox], scope: .thisLaunch, user: 1)
        #expect(world.gate.launch(world.launch(1)).reason == .grantedOnce)
        #expect(world.gate.launch(world.launch(2)).reason == .grantedOnce)
        await eventually { world.gate.answer(to: 1) == true }
        guard case .ask(let report) = await prompter.next() else {
            Issue.record("the second launch caused no prompt")
            return
        }
        #expect(report.process == world.launch(2).process)
        #expect(world.gate.answer(to: 2) == nil)
        #expect(world.gate.launch(world.launch(3)).reason == .locked)
    }

    @Test func aGrantForOneLaunchWhoseUseCannotBeWrittenApprovesNothing() async throws {
        let world = try await World()
        _ = try await world.join()
        _ = try await world.apps.unlock([firefox], scope: .thisLaunch, user: 1)
        await world.documents.fail()
        world.gate.launch(world.launch(1))
        await eventually { world.gate.answer(to: 1) == false }
    }

    // MARK: Launches that were denied at once

    @Test func aLaunchOfTheDesktopIsStartedAgainByItsPrompter() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let execRequest = ExecRequest(path: "L2E=", directory: "Lw==", arguments: ["YQ=="], environment: [])
        let prompt = try await world.prompt(for: world.launch(1, deniedAtOnce: true), &prompter)
        world.gate.report(.execRequest(number: 1, execRequest))
        _ = try await world.prompt(for: world.launch(9, calculator), &prompter)
        #expect(prompt.startsAgain)
        #expect(try await answer(world, prompt).execRequest == execRequest)
        #expect(world.gate.answer(to: 1) == nil, "it was denied at once")
        #expect(world.gate.launch(world.launch(2, parent: 1_000_777)).verdict == .ask, "not a child of the prompter")
        #expect(world.gate.launch(world.launch(3, parent: alice.process)).reason == .restarted)
        #expect(world.gate.answer(to: 3) == true)
        #expect(world.gate.launch(world.launch(4, parent: alice.process)).verdict == .ask, "once")
    }

    /// The gate restarts its numbers when it is started again.
    @Test func anExecRequestOfAnEarlierConnectionIsNotUsedForALaterLaunch() async throws {
        let world = try await World()
        var prompter = try await world.join()
        world.gate.report(.execRequest(number: 1, Self.execRequest))
        world.gate.disconnect()
        world.gate.connect()
        await eventually { await world.apps.gateState != .away }
        let prompt = try await world.prompt(for: world.launch(1, deniedAtOnce: true), &prompter)
        #expect(try await answer(world, prompt).execRequest == nil)
    }

    @Test func aLaunchThatIsHeldHasNoExecRequest() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        world.gate.report(.execRequest(number: 1, Self.execRequest))
        _ = try await world.prompt(for: world.launch(2), &prompter)
        #expect(try await answer(world, prompt).execRequest == nil)
        #expect(world.gate.answer(to: 1) == true)
    }

    /// Otherwise alice's prompter would run bob's program as alice, because bob's process belongs to her login.
    @Test func anotherUsersLaunchIsNotRestartedByThePromptedUser() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let launch = world.launch(1, user: bob.user, loginUser: alice.user, deniedAtOnce: true)
        let prompt = try await world.prompt(for: launch, &prompter)
        world.gate.report(.execRequest(number: 1, Self.execRequest))
        _ = try await world.prompt(for: world.launch(9, calculator), &prompter)
        #expect(try await answer(world, prompt).execRequest == nil)
        let again = world.launch(2, user: bob.user, parent: alice.process)
        #expect(world.gate.launch(again).reason == .grantedOnce, "bob may start it himself, once")
        await eventually { world.gate.answer(to: 2) == true }
        #expect(world.gate.launch(world.launch(3, parent: alice.process)).verdict == .ask, "no restart is allowed")
    }

    private static let execRequest = ExecRequest(path: "L2E=", directory: "Lw==", arguments: ["YQ=="], environment: [])

    @Test func aLaunchOfTheDesktopUsesNoGrantForOneLaunch() async throws {
        let world = try await World()
        var prompter = try await world.join()
        _ = try await world.apps.unlock([firefox], scope: .thisLaunch, user: 1)
        let prompt = try await world.prompt(for: world.launch(1, deniedAtOnce: true), &prompter)
        #expect(prompt.startsAgain)
        #expect(world.gate.answer(to: 1) == nil)
        #expect(world.gate.launch(world.launch(2)).reason == .grantedOnce)
    }

    @Test func onlyProcessesOfTheCallersUserAreProtected() async throws {
        let world = try await World()
        await world.launches.registerDesktop([1_000_010, 1_001_010, 1_000_020], of: alice)
        #expect(world.gate.actions == ["protect 1000010", "protect 1000020"])
        world.gate.disconnect()
        await eventually { await world.apps.gateState == .away }
        world.gate.forgetActions()
        world.gate.connect()
        await eventually { world.gate.actions.contains("synchronised") }
        #expect(
            world.gate.actions.filter { $0.hasPrefix("protect") }.sorted() == ["protect 1000010", "protect 1000020"])
    }

    // MARK: Load

    @Test func tenThousandDeniedLaunchesDelayNoPrompt() async throws {
        let world = try await World()
        var prompter = try await world.join()
        for number in 1...10_000 { world.gate.launch(world.launch(UInt64(number), user: bob.user)) }
        let clock = ContinuousClock()
        let start = clock.now
        _ = try await world.prompt(for: world.launch(10_001), &prompter)
        #expect(clock.now - start < .seconds(60))
        var (written, lost) = (0, 0)
        let isComplete = await eventually(every: .milliseconds(200)) {
            if world.time.waits.contains(RepeatedEvents.window) { world.time.advance(by: RepeatedEvents.window) }
            written = try await world.events(.launchDenied).filter { $0.user == bob.user }.reduce(0) { sum, event in
                sum
                    + (event.sentence.split(separator: "This happened ").last.flatMap { Int($0.prefix { $0.isNumber }) }
                        ?? 1)
            }
            lost = try await world.events(.eventsLost).compactMap { Int($0.sentence.prefix { $0.isNumber }) }
                .reduce(0, +)
            return written + lost == 10_000
        }
        #expect(isComplete, "\(written) are in the log, \(lost) were counted as dropped")
    }
}
