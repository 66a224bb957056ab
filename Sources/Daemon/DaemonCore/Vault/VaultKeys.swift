import ControlAPI
import Foundation
import HubAPI
import SealedFormats
import Sync

/// The keys of an open vault, for one piece of work. They stay in memory for as long as the value is held.
struct VaultKeys: Sendable {
    /// The vault of new records.
    let vault: ItemID
    let ring: KeyRing
    let device: ItemID
    var notes = NoteIndex()

    /// Seals a body as the revision of a record.
    func seal(
        _ body: some Collection<UInt8>, _ collection: RecordCollection, _ id: ItemID, revision: UInt64,
        in vault: ItemID? = nil
    ) throws -> StoredRecord {
        let vault = vault ?? self.vault
        guard let entry = ring.current(.vault, vault: vault) else { throw Self.keyMissing }
        let name = RecordName(vault: vault, collection: collection, id: id, revision: revision)
        let envelope = try RecordEnvelope(sealing: body, as: name, vaultKey: entry.key, epoch: entry.epoch)
        return StoredRecord(name: name, epoch: entry.epoch, author: device, sealed: envelope.bytes)
    }

    /// The same record as another revision under the newest keys, by this device.
    /// - Returns: nil where it does not open with these keys.
    func resealed(_ record: StoredRecord, revision: UInt64) throws -> StoredRecord? {
        guard var body = try? open(record) else { return nil }
        defer { body.withUnsafeMutableBytes { wipe($0) } }
        return try resealed(record, body, as: record.name.id, revision: revision)
    }

    /// - Parameters:
    ///   - body: the record's, opened.
    ///   - id: of the new record.
    /// - Returns: nil where it is an intruder photo of a vault without an inbox key here.
    func resealed(_ record: StoredRecord, _ body: Data, as id: ItemID, revision: UInt64) throws -> StoredRecord? {
        var name = record.name
        (name.id, name.revision) = (id, revision)
        guard name.collection == .intruders else {
            var resealed = try seal(body, name.collection, id, revision: revision, in: name.vault)
            resealed.blobs = record.blobs
            return resealed
        }
        guard let inbox = ring.current(.inbox, vault: name.vault) else { return nil }
        let box = try PublicKeyBox.seal(body, as: name, to: BoxKeyPair(privateKey: inbox.key).publicKey)
        return StoredRecord(name: name, epoch: inbox.epoch, author: device, sealed: box, blobs: record.blobs)
    }

    /// Seals the records for which `isDue` returns true, given the epoch of the newest key, as their next revision under it.
    /// Entries of a vault's log stay as they are, and so does a record that does not open.
    func reseal(
        _ records: [StoredRecord], into change: inout StateChange, where isDue: (StoredRecord, UInt32) -> Bool
    ) throws {
        for record in records where record.name.collection != .audit {
            guard let current = newestEpoch(for: record), isDue(record, current),
                record.name.revision < HubRecord.maximumNumber,
                let resealed = record.sealed == nil
                    ? removed(record) : try self.resealed(record, revision: record.name.revision + 1)
            else { continue }
            change.resealed.append(resealed)
            change.replaced[resealed.name] = RecordStamp(of: record)
        }
    }

    /// The epoch of the newest key for a record; nil without one.
    func newestEpoch(for record: StoredRecord) -> UInt32? {
        let kind: KeyRing.Kind = record.name.collection == .intruders ? .inbox : .vault
        return ring.current(kind, vault: record.name.vault)?.epoch
    }

    /// Its next revision as a tombstone, by this device in the newest epoch.
    func removed(_ record: StoredRecord) -> StoredRecord {
        record.removed(by: device, epoch: newestEpoch(for: record))
    }

    /// The body of a record: of an envelope, or of a box to this vault's inbox.
    func open(_ record: StoredRecord) throws -> Data {
        guard let sealed = record.sealed else {
            throw ControlError(.noSuchItem, "It was removed.")
        }
        if record.name.collection == .intruders {
            guard let key = ring.key(.inbox, vault: record.name.vault, epoch: record.epoch) else {
                throw Self.keyMissing
            }
            return try PublicKeyBox.open(sealed, as: record.name, with: BoxKeyPair(privateKey: key))
        }
        return try open(RecordEnvelope(bytes: sealed), as: record.name)
    }

    /// Whether `open` returns the body, which is wiped here.
    func opens(_ record: StoredRecord) -> Bool {
        guard var body = try? open(record) else { return false }
        body.withUnsafeMutableBytes { wipe($0) }
        return true
    }

    func open(_ envelope: RecordEnvelope, as name: RecordName) throws -> Data {
        guard let key = ring.key(.vault, vault: name.vault, epoch: envelope.wrapEpoch) else { throw Self.keyMissing }
        return try envelope.open(as: name, vaultKey: key)
    }

    private static var keyMissing: ControlError {
        ControlError(
            .notReadable, "It was sealed under a key that this vault does not have; import the backup it belongs to.")
    }
}
