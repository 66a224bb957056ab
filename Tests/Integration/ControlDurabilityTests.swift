import ControlAPI
import Foundation
import LocalControl
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

/// What the daemon has acknowledged. Sendable because its state is one `Mutex`.
private final class Tally: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ name: String) { list.withLock { $0.append(name) } }

    var names: [String] { list.withLock { $0 } }

    var count: Int { names.count }
}

/// Acknowledged changes survive a kill of the daemon at any time.
struct ControlDurabilityTests {
    /// A program of the test to be added to the list.
    private func program(in directory: TemporaryDirectory) throws -> String {
        let path = directory.path("app/letter-writer")
        try FileManager.default.createDirectory(
            atPath: directory.path("app"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: path)
        return path
    }

    @Test func thirtyKillsDuringWritesLoseNoAcknowledgedWrite() async throws {
        let state = try TemporaryDirectory()
        let programs = try TemporaryDirectory()
        let app = try program(in: programs)
        let acknowledged = Tally()
        do {
            let daemon = try await ControlDaemon(state: state)
            try await daemon.setUp()
            let added = try await daemon.client.call(
                \.addApp, token: try await daemon.session(), body: AddAppRequest(app: app))
            #expect(added.apps.count == 1)
            try await daemon.killNow()
        }
        for round in 1...30 {
            let daemon = try await ControlDaemon(state: state)
            let before = acknowledged.count
            // An ordinary user's lock that changes nothing is logged only with a session.
            let session = try await daemon.session()
            let writers = Task {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<2 {
                        group.addTask {
                            // Each is one change of the list and one line of the log, until the daemon has ended; not
                            // more than fit with all rounds into the 1,000 lines that are read below.
                            for _ in 0..<14 {
                                let locked = try? await daemon.client.call(
                                    \.lock, token: session, body: LockRequest(apps: [app]))
                                guard locked != nil else { return }
                                acknowledged.add("")
                            }
                        }
                    }
                }
            }
            await eventually { acknowledged.count > before + round % 7 }
            try await daemon.killNow()
            await writers.value
        }
        let daemon = try await ControlDaemon(state: state)
        let log = try await daemon.client.call(\.log, query: LogQuery(limit: 1_000))
        #expect(log.events.map(\.number) == Array(1...Int64(log.events.count)), "no number is missing")
        let locked = log.events.count { $0.kind == "locked" }
        let count = acknowledged.count
        #expect(count >= 30)
        #expect(locked >= count, "\(count) locks were acknowledged, \(locked) are in the log")
        let list = try await daemon.client.call(\.listApps)
        #expect(list.apps.map(\.executables) == [[app]])
    }

    @Test func killsWhileTheListChangesLoseNoAcknowledgedChange() async throws {
        let state = try TemporaryDirectory()
        var expected: Set<String> = []
        for round in 0..<4 {
            let daemon = try await ControlDaemon(state: state)
            if round == 0 { try await daemon.setUp() }
            let found = try await daemon.client.call(\.listCategories)
            let names = Set(found.categories.map(\.name))
            #expect(names.isSuperset(of: expected))
            #expect(names.count <= expected.count + 1, "at most the one that was being written")
            let token = try await daemon.session()
            let written = Tally()
            let writer = Task {
                // Not more than there may be in all rounds.
                for number in 0..<40 {
                    let name = "round \(round), \(number)"
                    let done = try? await daemon.client.call(
                        \.setCategory, parameter: name, token: token, body: SetCategoryRequest())
                    guard done != nil else { return }
                    written.add(name)
                }
            }
            await eventually { written.count > 3 + round * 5 }
            try await daemon.killNow()
            await writer.value
            expected = names.union(written.names)
        }
        let daemon = try await ControlDaemon(state: state)
        let found = try await daemon.client.call(\.listCategories)
        #expect(Set(found.categories.map(\.name)).isSuperset(of: expected))
    }

    @Test func aKillDuringTheComparisonLeavesTheAttemptCounted() async throws {
        let state = try TemporaryDirectory()
        do {
            let daemon = try await ControlDaemon(state: state, hasRealCost: true)
            try await daemon.setUp()
            try await daemon.killNow()
        }
        var (failures, kills) = (0, 0)
        for _ in 0..<20 where kills < 3 {
            let daemon = try await ControlDaemon(state: state, hasRealCost: true)
            #expect(try await daemon.status().lockout.failures == failures)
            let memory = try daemon.residentMemory()
            let answered = Tally()
            let attempt = Task { answered.add(try await daemon.session()) }
            // A comparison holds 128 MiB, for about a second.
            await eventually(every: .milliseconds(1), "it is being compared") {
                try answered.count > 0 || daemon.residentMemory() - memory > 32 << 20
            }
            try await daemon.suspend()
            let isComparing = try daemon.residentMemory() - memory > 32 << 20
            // On a busy machine it may have ended before: the passcode was right, and the count is reset.
            if !isComparing {
                daemon.process.kill(SIGCONT)
                try await attempt.value
            }
            try await daemon.killNow()
            _ = await attempt.result
            (failures, kills) = isComparing ? (failures + 1, kills + 1) : (0, kills)
        }
        #expect(kills == 3, "it was killed during the comparison")
        let daemon = try await ControlDaemon(state: state, hasRealCost: true)
        #expect(try await daemon.status().lockout.failures == failures)
        _ = try await daemon.session()
        #expect(try await daemon.status().lockout.failures == 0)
    }
}
