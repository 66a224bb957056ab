import Foundation
import GRDB
import HubAPI
import HubStore
import TestSupport
import Testing

@testable import HubStoreSQLite

/// A removed household's data is erased in steps.
struct RemovalTests {
    private func count(_ table: String, in store: SQLiteHubStore) async throws -> Int? {
        try await store.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") }
    }

    @Test func aRemovalIsErasedInStepsAndFinishedAfterAnInterruption() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("hub.sqlite")
        let store = try SQLiteHubStore(path: path)
        let (household, other) = (
            try await SampleHousehold.founded(in: store), try await SampleHousehold.founded(in: store)
        )
        let (blob, kept) = (HubID.random(), NewBlobRequest(id: .random(), size: 5, hash: .random(32)))
        for request in [NewBlobRequest(id: blob, size: 5, hash: .random(32)), kept] {
            _ = try await store.beginBlob(request, by: household.computer, household: household.id, at: now)
        }
        for _ in 0..<5 {
            _ = try await store.write([household.record(bytes: 3 << 20)], household: household.id, at: now)
        }
        _ = try await store.write([other.record()], household: other.id, at: now)

        try await store.closeHousehold(household.id)
        #expect(try await store.write { database, _ in try SQLiteHubStore.eraseStep(in: database) })
        #expect(try await count("record", in: store) == 3)
        // Founded again while the earlier one is erased.
        #expect(try await store.foundHousehold(household.request))
        _ = try await store.write([household.record()], household: household.id, at: now)
        _ = try await store.beginBlob(kept, by: household.computer, household: household.id, at: now)
        try await store.close()

        let reopened = try SQLiteHubStore(path: path)
        #expect(try await count("record", in: reopened) == 4)
        let garbage = [StoredBlobID(household: household.id, blob: blob)]
        #expect(try await reopened.collectGarbage(at: now) == garbage)
        #expect(try await count("record", in: reopened) == 2)
        #expect(try await count("household", in: reopened) == 2)
        #expect(try await count("blob", in: reopened) == 1)
        #expect(try await reopened.blob(kept.id, of: household.id) != nil)
        #expect(try await reopened.household(household.id).records == 1)
        try await reopened.close()
    }
}
