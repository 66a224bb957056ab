import Foundation
import HubAPI
import HubStore
import SealedFormats
import Synchronization

/// Checks that the device whose token was sent has signed the record. A locked phone stores its token unsealed, but not
/// its signing key: without this check a copy of that phone could replace every record that companions may write.
///
/// The key is from the roster that the hub stores. A device's id is the hash of its key, so no entry can assign it
/// another.
final class RecordAuthors: Sendable {
    private static let mostKeys = 10_000

    private let store: any HubStore
    private let keys = Mutex<[HubID: DevicePublicKey]>([:])

    init(store: any HubStore) { self.store = store }

    /// - Throws: `HubError` with `forbidden`.
    func check(_ record: HubRecord, by device: StoredDevice) async throws {
        guard let key = try await key(of: device), Self.isSigned(record, by: key) else {
            throw HubError(.forbidden, "The record's signature is not one of the device that sends it.")
        }
    }

    private func key(of device: StoredDevice) async throws -> DevicePublicKey? {
        if let known = keys.withLock({ $0[device.id] }) { return known }
        let roster = try await store.roster(of: device.household, after: 0)
        guard let key = Self.key(of: device.id.bytes, in: roster) else { return nil }
        keys.withLock { keys in
            if keys.count >= Self.mostKeys { keys.removeAll() }
            keys[device.id] = key
        }
        return key
    }

    /// - Parameters:
    ///   - device: its id, 16 bytes.
    ///   - roster: as the hub stores it.
    static func key(of device: [UInt8], in roster: [Data]) -> DevicePublicKey? {
        roster.lazy.compactMap { Roster.memberAdmitted(by: [UInt8]($0))?.signingKey }.first { $0.id.bytes == device }
    }

    private static func isSigned(_ record: HubRecord, by key: DevicePublicKey) -> Bool {
        guard let collection = RecordCollection(rawValue: record.collection),
            let vault = ItemID(bytes: record.vault.bytes), let id = ItemID(bytes: record.id.bytes),
            record.author.bytes == key.id.bytes
        else { return false }
        let name = RecordName(vault: vault, collection: collection, id: id, revision: record.revision)
        return RecordSignature.verify(
            [UInt8](record.signature), name, epoch: record.epoch,
            blobs: record.blobs.compactMap { ItemID(bytes: $0.bytes) }, sealed: record.sealed.map { [UInt8]($0) },
            author: key)
    }
}
