public import DaemonCore
import Foundation
public import SealedFormats

/// The replicas of shared vaults: a folder each, with a database and its content.
public struct VaultDirectory: VaultReplicas {
    private let path: String

    /// - Parameter path: of the folder, which is made when there is a vault.
    public init(path: String) { self.path = path }

    /// For this user alone.
    /// - Throws: `StateDatabaseError`, `BlobError`, or the error of the disk.
    public func open(_ replica: ItemID, signingKey: DeviceSigningKey) throws -> VaultReplica {
        let folder = path(of: replica)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // Members send only their own remarks.
        let store = try StateDatabase(
            path: folder + "/vault.sqlite", signingKey: signingKey, sentByAuthorAlone: [.audit, .remarks])
        return VaultReplica(store: store, blobs: try BlobDirectory(path: folder + "/blobs"))
    }

    public func remove(_ replica: ItemID) throws { try remove(path(of: replica)) }

    public func removeAll(but kept: Set<ItemID>) throws {
        let kept = Set(kept.map(\.description))
        for name in try names() where !kept.contains(name) { try remove("\(path)/\(name)") }
    }

    public var isEmpty: Bool { (try? names().isEmpty) ?? false }

    private func names() throws -> [String] {
        FileManager.default.fileExists(atPath: path) ? try FileManager.default.contentsOfDirectory(atPath: path) : []
    }

    private func path(of replica: ItemID) -> String { "\(path)/\(replica)" }

    private func remove(_ folder: String) throws {
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
    }
}
