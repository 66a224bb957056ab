import HubAPI
import Testing

@testable import HubStorePostgres

struct PostgresErrorTests {
    @Test func aFullDiskIsReportedAsSuch() {
        let full = HubError(database: PostgresError(state: "53100", message: "No space left on device", isLost: false))
        #expect(full.code == .unavailable && full.message.contains("disk") && full.message.contains("free some space"))
        let busy = HubError(database: PostgresError(state: "53300", message: "too many clients", isLost: false))
        #expect(busy.code == .unavailable && !busy.message.contains("disk"))
    }
}
