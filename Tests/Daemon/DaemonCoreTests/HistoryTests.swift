import ControlAPI
import Policy
import SealedFormats
import TestSupport
import Testing

@testable import DaemonCore

/// Which users can read the activity log and see waiting launches.
@Suite struct HistoryTests {
    private let root = ControlPeer(user: 0, process: 1)
    private let daemon = ControlPeer(user: 500, process: 500_000)

    private func users(
        _ world: World, by peer: ControlPeer, token: String? = nil, all: Bool = false
    ) async throws -> Set<UInt32?> {
        let query = all ? ["all": "true"] : [:]
        let list = try await world.call(.log, as: EventList.self, query: query, by: peer, token: token)
        return Set(list.events.map(\.user))
    }

    @Test func aUserSeesOnlyTheirOwnEvents() async throws {
        let world = try await World()
        for user in [alice.user, bob.user] {
            _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: user)
        }
        #expect(try await users(world, by: alice) == [alice.user])
        #expect(try await users(world, by: root).isSuperset(of: [alice.user, bob.user, nil]))
        #expect(try await users(world, by: daemon).isSuperset(of: [alice.user, bob.user, nil]))
        #expect(await refusal { _ = try await users(world, by: alice, all: true) } == .sessionNeeded)
        #expect(await refusal { _ = try await users(world, by: alice, token: "x") } == .sessionNeeded)
        let token = try await world.session()
        #expect(try await users(world, by: alice, token: token, all: true).contains(bob.user))
    }

    @Test func aUsersStatisticsCountOnlyTheirOwnEvents() async throws {
        let world = try await World()
        var prompter = try await world.join()
        _ = try await world.prompt(for: world.launch(1), &prompter)
        func apps(_ peer: ControlPeer) async throws -> [String] {
            try await world.call(.statistics, as: StatisticsReport.self, by: peer).apps.map(\.app)
        }
        await eventually { try await apps(root) == ["firefox"] }
        #expect(try await apps(alice) == ["firefox"])
        #expect(try await apps(bob) == [])
    }

    @Test func statisticsCountAnAnswerThatUnlocksForAWhileOnce() async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        _ = try await world.call(
            .answerPrompt, prompt.prompt,
            body: PromptAnswerRequest(passcode: "right", grant: GrantRequest(.untilLocked)))
        _ = try await world.call(.lock, body: LockRequest(all: true))
        _ = try await world.apps.unlock([firefox], scope: .untilLocked, user: alice.user)
        let denied = world.launch(2, calculator)
        let second = try await world.prompt(for: denied, &prompter)
        _ = try await world.call(.cancelPrompt, second.prompt)
        await eventually {
            let apps = try await world.call(.statistics, as: StatisticsReport.self).apps
            let counts = Dictionary(uniqueKeysWithValues: apps.map { ($0.app, $0) })
            return counts["firefox"]?.unlocks == 2 && counts["firefox"]?.lastDenied == nil
                && counts["calculator"]?.unlocks == 0 && counts["calculator"]?.denied == 1
                && counts["calculator"]?.lastDenied == world.time.wallClock()
        }
    }

    @Test(arguments: [GrantScope.thisLaunch, .untilLocked])
    func statisticsCountAnAnswerWhoseLaunchIsStartedAgainOnce(_ scope: GrantScope) async throws {
        let world = try await World()
        var prompter = try await world.join()
        let prompt = try await world.prompt(for: world.launch(1, deniedAtOnce: true), &prompter)
        let execRequest = ExecRequest(path: "L2E=", directory: "Lw==", arguments: ["YQ=="], environment: [])
        world.gate.report(.execRequest(number: 1, execRequest))
        // The gate's events are handled in order: with this prompt the exec request has arrived.
        _ = try await world.prompt(for: world.launch(2, calculator), &prompter)
        let answer = try await world.launches.answer(
            prompt.prompt, with: SecretBytes(utf8: "right"), scope: scope, by: alice)
        #expect(answer.execRequest == execRequest)
        #expect(world.gate.launch(world.launch(3, parent: alice.process)).reason == .restarted)
        await eventually("both launches are recorded") { try await world.events(.launchAllowed).count == 2 }
        #expect(try await unlocks(world) == 1)
    }

    @Test func statisticsDoNotCountAnExtensionAsAnUnlock() async throws {
        let world = try await World()
        _ = try await world.apps.unlock([firefox], scope: .duration(.seconds(600)), user: alice.user)
        _ = try await world.apps.extend(
            [firefox], by: .seconds(300), user: alice.user,
            since: world.control.lockGenerations.generation(for: alice.user))
        await eventually { try await world.events(.unlocked).map(\.reason) == [nil, "extended"] }
        #expect(try await unlocks(world) == 1)
    }

    private func unlocks(_ world: World) async throws -> Int? {
        try await world.call(.statistics, as: StatisticsReport.self).apps.first { $0.app == "firefox" }?.unlocks
    }

    @Test func statisticsBeginAtMidnightOfTheFirstDayOfAPeriod() async throws {
        let world = try await World()
        world.time.set(civil: CivilTime(weekday: .monday, secondOfDay: 3_600), wall: 1_800_000_000.5)
        func since(_ query: [String: String]) async throws -> Double? {
            try await world.call(.statistics, as: StatisticsReport.self, query: query).since
        }
        let midnight = 1_800_000_000.0 - 3_600
        #expect(try await since(["period": "today"]) == midnight)
        #expect(try await since(["period": "week"]) == midnight - 6 * 86_400)
        #expect(try await since(["period": "month", "days": "2"]) == midnight - 29 * 86_400)
        #expect(try await since(["period": "all"]) == nil)
        #expect(try await since(["days": "2"]) == 1_800_000_000.5 - 2 * 86_400)
        #expect(await refusal { _ = try await since(["period": "year"]) } == .badRequest)
    }

    @Test func aPrompterIsShownOnlyTheLaunchesOfItsUser() async throws {
        let world = try await World()
        var (prompter, bobs) = (try await world.join(), try await world.join(bob, connection: 2))
        _ = try await world.prompt(for: world.launch(1), &prompter)
        let launch = world.launch(2, calculator, user: bob.user)
        world.gate.launch(launch)
        guard case .ask(let report) = await bobs.next() else {
            Issue.record("no question")
            return
        }
        #expect(report.process == launch.process, "alice's launch came first and was not sent to bob")
    }

    @Test func theLogIsVerifiedForTheOwnerAndForRoot() async throws {
        let world = try await World()
        #expect(await refusal { try await world.call(.verifyLog) } == .sessionNeeded)
        let token = try await world.session()
        #expect(await refusal { try await world.call(.verifyLog, by: bob, token: token) } == .sessionNeeded)
        #expect(try await world.call(.verifyLog, as: LogVerification.self, token: token).isWhole)
        #expect(try await world.call(.verifyLog, as: LogVerification.self, by: root).isWhole)
    }

    @Test func oneVerificationRunsAtATime() async throws {
        let store = HeldStore()
        let verifier = LogVerifier(store: store)
        let first = Task { try await verifier.verify(known: nil) }
        await eventually { await store.waiting == 1 }
        #expect(await refusal { _ = try await verifier.verify(known: nil) } == .busy)
        first.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        let next = Task { try await verifier.verify(known: nil) }
        await eventually("the next verification runs") { await store.waiting == 2 }
        next.cancel()
        _ = await next.result
    }
}

/// A log whose verification ends when it is cancelled.
private actor HeldStore: ActivityStore {
    private(set) var waiting = 0

    func append(_ events: [ActivityEvent]) async throws {}
    func events(
        after number: Int64, before: Int64, limit: Int, app: String?, user: UInt32?
    ) async throws -> [EventReport] { [] }
    func statistics(since time: Double, user: UInt32?) async throws -> [AppStatistics] { [] }
    func statisticsByDay(since time: Double, user: UInt32?) async throws -> [DayStatistics] { [] }

    func verifyLog(known: AuditChain.Head?) async throws -> LogVerification {
        waiting += 1
        for await _ in AsyncStream(Void.self, { _ in }) {}
        throw CancellationError()
    }
}
