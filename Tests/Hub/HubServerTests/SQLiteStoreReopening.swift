import HubStoreSQLite
import TestSupport

enum SQLiteStoreReopening {
    /// - Throws: if another process or hub still owns the database.
    static func open(_ directory: TemporaryDirectory) throws {
        _ = try SQLiteHubStore(path: directory.path("hub/hub.sqlite"))
    }
}
