import Foundation
import HubStore
import HubStoreSQLite
import TestSupport
import Testing

/// The stores that hold the same promises. Every test of the suite "conformance" takes each of them.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite

    var testDescription: String { rawValue }

    /// A new database of its own, closed and removed with the value.
    func open() async throws -> OpenStore {
        switch self {
        case .sqlite:
            let directory = try TemporaryDirectory()
            let store = try SQLiteHubStore(path: directory.path("hub/hub.sqlite"))
            return OpenStore(
                store: store, blobs: try DirectoryBlobStore(path: directory.path("hub/blobs")), keeps: directory)
        }
    }
}

final class OpenStore: Sendable {
    let store: any HubStore
    let blobs: any HubBlobStore
    private let keeps: any Sendable

    init(store: any HubStore, blobs: any HubBlobStore, keeps: any Sendable) {
        self.store = store
        self.blobs = blobs
        self.keeps = keeps
    }
}
