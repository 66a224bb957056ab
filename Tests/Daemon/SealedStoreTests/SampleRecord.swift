import DaemonCore
import Foundation
import SealedFormats
import Sync

/// A note as the daemon seals it, with a key of the test.
struct SampleRecord {
    let key = SecretBytes.random(count: 32)
    let vault = ItemID.random()
    let author = ItemID.random()
    var id = ItemID.random()

    func sealed(title: String, body: String, revision: UInt64 = 1) throws -> StoredRecord {
        let name = RecordName(vault: vault, collection: .notes, id: id, revision: revision)
        let plaintext = try JSONEncoder().encode(["title": title, "body": body])
        let envelope = try RecordEnvelope(sealing: plaintext, as: name, vaultKey: key, epoch: 1)
        return StoredRecord(name: name, epoch: 1, author: author, sealed: envelope.bytes)
    }

    func tombstone(revision: UInt64) -> StoredRecord {
        StoredRecord(
            name: RecordName(vault: vault, collection: .notes, id: id, revision: revision), epoch: 1, author: author,
            sealed: nil)
    }

    func opened(_ record: StoredRecord) throws -> [String: String] {
        let envelope = try RecordEnvelope(bytes: record.sealed ?? [])
        return try JSONDecoder().decode([String: String].self, from: envelope.open(as: record.name, vaultKey: key))
    }
}
