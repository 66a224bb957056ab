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
