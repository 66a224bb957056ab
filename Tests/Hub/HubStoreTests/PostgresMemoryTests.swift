import Foundation
import HubAPI
import HubStore
import HubStorePostgres
import SystemTestSupport
import Testing

/// What a hub keeps in memory of what PostgreSQL has.
@Suite(.requires(.postgresql)) struct PostgresMemoryTests {
    /// The most resident memory since `reset`, in bytes: proc(5).
    private func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        return 1_024 * Int(try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/)?.1))!
    }

    private func resetPeak() throws {
        let file = try #require(FileHandle(forWritingAtPath: "/proc/self/clear_refs"))
        try file.write(contentsOf: Data("5".utf8))
    }

    @Test func replacingLargeRecordsReadsFewOfThemAtATime() async throws {
        let open = try await StoreKind.postgres.open()
        let store = open.store
        let household = try await SampleHousehold.founded(in: store)
        let content = Data(repeating: 7, count: 4 << 20)
        var ids: [HubID] = []
        for _ in 0..<40 {
            var record = household.record(bytes: 0)
            record.sealed = content
            ids.append(record.id)
            #expect(try await store.write([record], household: household.id, at: now)[0].sequence != nil)
        }
        try resetPeak()
        let before = try peak()
        // The last ones name records that were compared already: one is replaced by then, one is not.
        let removals = ids.map { household.record($0, revision: $0 == ids[1] ? 9 : 2, bytes: nil) }
        let outcomes = try await store.write(
            removals + [household.record(ids[0], revision: 3), household.record(ids[1], revision: 2, bytes: nil)],
            household: household.id, at: now)
        let grown = try peak() - before
        #expect(grown < 96 << 20, "\(grown >> 20) MiB")
        #expect(outcomes[1].conflict?.sealed == content)
        #expect(outcomes.map(\.sequence) == [41, nil] + (42...81).map { $0 })
        let stored = try await store.household(household.id)
        #expect(stored.records == 1 && stored.bytes == 40 * 512 + 100)
    }
}
