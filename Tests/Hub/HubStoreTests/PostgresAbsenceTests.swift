import Foundation
import HubAPI
import HubStore
import Synchronization
import SystemTestSupport
import TestSupport
import Testing

@testable import HubStorePostgres

/// A value that several tasks share.
private final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}

/// Reads a hub's changes as its streams do, and checks that no record is skipped.
private final class Follower: Sendable {
    private let last = Shared<UInt64>(0)
    private let task: Task<Void, Never>

    var newest: UInt64 { last.value }

    init(_ store: PostgresHubStore, _ household: HubID) async throws {
        let changes = try await store.changes()
        let last = last
        task = Task {
            var next: UInt64 = 0
            for await change in changes {
                guard change == .unknown || change.isOfRecords else { continue }
                // The database is unreachable again: the next `.unknown` arrives with the connection.
                while let page = try? await store.records(
                    of: household, after: next, limit: 500, maximumBytes: 1 << 20)
                {
                    for record in page.records {
                        #expect(record.sequence == next + 1, "no record is skipped or repeated")
                        next = record.sequence ?? next
                    }
                    last.value = next
                    if !page.more { break }
                }
            }
        }
    }

    func end() async { await task.value }
}

extension HubChange {
    fileprivate var isOfRecords: Bool {
        if case .records = self { true } else { false }
    }
}

/// The database is unreachable for long, in two ways. A minute each with APPLOCKER_LONG=1, otherwise a second.
@Suite(.requires(.postgresql, .root, .program("ip"), .program("setpriv"))) struct PostgresAbsenceTests {
    private static let absence: Duration =
        ProcessInfo.processInfo.environment["APPLOCKER_LONG"] == "1" ? .seconds(60) : .seconds(1)

    /// How long detecting the dead network and the next attempt may take on a busy machine.
    private static let patience = Duration.seconds(180)

    /// Writes records until it is stopped, and returns the acknowledged ones.
    private func write(
        to store: PostgresHubStore, _ household: SampleHousehold, until isOver: Shared<Bool>, newest: Shared<UInt64>
    ) async -> [HubRecord] {
        var acknowledged: [HubRecord] = []
        while !isOver.value {
            var record = household.record()
            if let outcome = try? await store.write([record], household: household.id, at: now)[0],
                let sequence = outcome.sequence
            {
                record.sequence = sequence
                acknowledged.append(record)
                newest.value = sequence
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return acknowledged
    }

    @Test(.timeLimit(.minutes(10))) func streamsOfTwoHubsRecoverWithoutLoss() async throws {
        let network = try await CuttableNetwork()
        do {
            try await recover(from: network)
        } catch {
            await network.remove()
            throw error
        }
        await network.remove()
    }

    private func recover(from network: CuttableNetwork) async throws {
        let server = try await PostgresServer(network: network)
        let database = try await server.makeDatabase()
        let near = try await PostgresHubStore(try PostgresConnectionSettings(database))
        let far = try await PostgresHubStore(try PostgresConnectionSettings(server.overNetwork(database)))
        let household = try await SampleHousehold.founded(in: near)
        let followers = [try await Follower(near, household.id), try await Follower(far, household.id)]
        let isOver = Shared(false)
        let written = [Shared<UInt64>(0), Shared<UInt64>(0)]
        let writers = zip([near, far], written).map { store, newest in
            Task { await write(to: store, household, until: isOver, newest: newest) }
        }
        func newest() async throws -> UInt64 { try await near.household(household.id).sequence }
        func recovers(_ what: Comment) async throws {
            let reached = try await newest()
            await eventually(timeout: Self.patience, what) { followers.allSatisfy { $0.newest >= reached } }
            await eventually(timeout: Self.patience, what) { written.allSatisfy { $0.value > reached } }
        }
        await eventually(timeout: Self.patience) { followers.allSatisfy { $0.newest > 20 } }

        // The connection of one hub to the database is cut; the other hub continues, after half a minute at the latest.
        try await network.cut()
        let atCut = (try await newest(), followers[1].newest)
        // Real time is tested: connections over a dead network, with the limits of kernel and database.
        try await Task.sleep(for: Self.absence)
        // A hub that is disconnected during a write holds its household's lock until the database ends the session
        // after 30 s.
        if Self.absence > .seconds(30) { #expect(try await newest() > atCut.0) }
        #expect(followers[1].newest <= atCut.0 + 2, "later records do not arrive")
        try await network.restore()
        try await recovers("after the cut")

        // The database is killed, and started again later.
        try await server.stop(SIGKILL)
        // Real time is tested: how hubs handle a database that is unreachable for this long.
        try await Task.sleep(for: Self.absence)
        try await server.start()
        await eventually(timeout: Self.patience, "the database is reachable") { try await newest() > 0 }
        try await recovers("after the crash")

        isOver.value = true
        var acknowledged: [HubRecord] = []
        for writer in writers {
            acknowledged += await writer.value
        }
        let last = try await newest()
        await eventually(timeout: Self.patience) { followers.allSatisfy { $0.newest == last } }
        let page = try await near.records(
            of: household.id, after: 0, limit: 1_000_000, maximumBytes: 1 << 40)
        #expect(page.records.compactMap(\.sequence) == Array(1...last))
        let stored = Dictionary(uniqueKeysWithValues: page.records.map { ($0.id, $0) })
        for record in acknowledged { #expect(stored[record.id] == record) }
        for store in [near, far] { try await store.close() }
        for follower in followers { await follower.end() }
        try await server.stop()
    }
}
