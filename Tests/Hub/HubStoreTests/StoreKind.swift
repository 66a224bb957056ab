import Foundation
import HubStore
import HubStorePostgres
import HubStoreSQLite
import SystemTestSupport
import TestSupport
import Testing

/// The kinds of stores. Every test of the suite "Conformance" runs with each of them.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite
    case postgres

    var testDescription: String { rawValue }

    /// Opens a new database, removed with the value.
    func open() async throws -> OpenStore { try await instances(1)[0] }

    /// The given number of hubs over one database; over SQLite only one.
    func instances(_ count: Int) async throws -> [OpenStore] {
        switch self {
        case .sqlite:
            let directory = try TemporaryDirectory()
            let store = try SQLiteHubStore(path: directory.path("hub/hub.sqlite"))
            let open = OpenStore(store: store, blobs: try DirectoryBlobStore(path: directory.path("hub/blobs"))) {
                try? FileManager.default.removeItem(at: directory.url)
            }
            return [open]
        case .postgres:
            try Requirement.postgresql.demand()
            let server = try await PostgresServer.shared()
            let database = try await server.makeDatabase()
            var open: [OpenStore] = []
            for number in 0..<count {
                let store = try await PostgresHubStore(try PostgresConnectionSettings(database))
                open.append(
                    OpenStore(store: store, blobs: PostgresBlobStore(store)) {
                        if number == 0 { server.discard(database) }
                    })
            }
            return open
        }
    }
}

final class OpenStore: Sendable {
    let store: any HubStore
    let blobs: any HubBlobStore
    private let end: @Sendable () -> Void

    init(store: any HubStore, blobs: any HubBlobStore, end: @escaping @Sendable () -> Void) {
        self.store = store
        self.blobs = blobs
        self.end = end
    }

    deinit { end() }
}
