public import SealedFormats
public import Sync

/// What this computer stores of a shared vault: its records and their content, apart from its own.
public struct VaultReplica: Sendable {
    let store: any HouseholdStore
    let blobs: any BlobStore

    public init(store: any HouseholdStore, blobs: any BlobStore) {
        self.store = store
        self.blobs = blobs
    }
}

/// The replicas of shared vaults on this computer's disk.
public protocol VaultReplicas: Sendable {
    /// Opens a replica, or makes an empty one.
    ///
    /// - Parameter signingKey: this computer's in that vault.
    /// - Throws: the error of the disk.
    func open(_ replica: ItemID, signingKey: DeviceSigningKey) throws -> VaultReplica
    /// Removes one that may be open; nothing is to be read from it afterwards.
    ///
    /// - Throws: the error of the disk.
    func remove(_ replica: ItemID) throws
    /// Removes all but these: folders that nothing names remain after a crash.
    ///
    /// - Throws: the error of the disk.
    func removeAll(but kept: Set<ItemID>) throws
    var isEmpty: Bool { get }
}
