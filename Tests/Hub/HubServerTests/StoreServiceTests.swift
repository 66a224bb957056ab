import HubStore
import HubStoreSQLite
import TestSupport
import Testing

@testable import HubServer

struct StoreServiceTests {
    /// As after a shutdown that took longer than its limit: what still runs is cancelled.
    @Test func aCancelledServiceClosesTheStore() async throws {
        let directory = try TemporaryDirectory()
        let service = StoreService(store: try SQLiteHubStore(path: directory.path("hub/hub.sqlite")))
        let running = Task { try await service.run() }
        running.cancel()
        try await running.value
        // The next hub can open it.
        try SQLiteStoreReopening.open(directory)
    }
}
