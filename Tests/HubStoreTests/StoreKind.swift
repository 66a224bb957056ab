import Foundation
import HubStore
import HubStorePostgres
import HubStoreSQLite
import TestSupport
import Testing

/// The stores that hold the same promises. Every test of the suite "Conformance" takes each of them.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite
    case postgres

    var testDescription: String { rawValue }

    /// A new database of its own, removed with the value.
    func open() async throws -> OpenStore {
        switch self {
        case .sqlite:
            let directory = try TemporaryDirectory()
            let store = try SQLiteHubStore(path: directory.path("hub/hub.sqlite"))
            return OpenStore(store: store, blobs: try DirectoryBlobStore(path: directory.path("hub/blobs"))) {
                try? FileManager.default.removeItem(at: directory.url)
            }
        case .postgres:
            try Requirement.postgresql.demand()
            let server = try await PostgresServer.shared()
            let database = try await server.makeDatabase()
            let store = try await PostgresHubStore(try PostgresConnectionSettings(database))
            return OpenStore(store: store, blobs: PostgresBlobStore(store)) { server.discard(database) }
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
