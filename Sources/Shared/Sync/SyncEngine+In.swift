import Foundation
import Household
import HubAPI
import SealedFormats

// Received records: checked, and stored in one transaction with the cursor.
extension SyncEngine {
    /// Checks records and stores them in one transaction with the cursor.
    /// - Parameter areNext: they follow the cursor. A conflict does not: records in between are still to be read.
    func receive(_ records: [HubRecord], areNext: Bool = true) async throws {
        var incoming = IncomingChange()
        var passed: [CheckedRecord] = []
        let keeps = try await delegate.keepsRecords()
        for record in records {
            lastSync = time.wallClock()
            guard let checked = try await checked(record) else { continue }
            switch checked.name.collection {
            case .keys:
                do {
                    try await delegate.ingestKeys(checked)
                    incoming.householdRecords.append(record)
                } catch let error where error is RecordRefusal || error is SealedFormatsError {
                    // Any other error is not the record's: it is read again with the next connection.
                    await refuse(.unreadable, record)
                }
            case let collection where RecordCheck.isOfHousehold(collection):
                switch delegate.use(of: checked) {
                case .keep: incoming.householdRecords.append(record)
                case .pass: passed.append(checked)
                case .ignore: break
                }
            // A record of another device's vault: no key here opens it.
            case _ where !keeps(checked.name.vault): break
            default:
                incoming.vaultRecords.append(
                    IncomingRecord(
                        record: StoredRecord(
                            name: checked.name, epoch: checked.epoch, author: checked.author.id, sealed: checked.sealed,
                            blobs: checked.blobs),
                        sequence: checked.sequence, ancestors: checked.ancestors, received: time.wallClock()))
            }
        }
        if !incoming.vaultRecords.isEmpty || !incoming.householdRecords.isEmpty {
            if areNext {
                let last = records.compactMap(\.sequence).max() ?? 0
                incoming.documents[SyncDocuments.cursor] = Array(String(max(cursor, last)).utf8)
            }
            try await store.ingest(incoming)
            if !incoming.vaultRecords.isEmpty { delegate.vaultRecordsReceived() }
        }
        if !passed.isEmpty { delegate.received(passed) }
    }

    /// Nil: the record is not to be stored.
    private func checked(_ record: HubRecord) async throws -> CheckedRecord? {
        // The household was left, or a shared vault locked, meanwhile: what comes now is read again then.
        guard let session = await delegate.session else { throw CancellationError() }
        guard let collection = RecordCollection(rawValue: record.collection) else {
            await refuse(.malformed, record)
            return nil
        }
        let isOwn = record.author == session.device
        // The hub also serves this device's own records. For a vault's record this makes up for a lost reply.
        if isOwn, RecordCheck.isOfHousehold(collection) { return nil }
        let known = try await store.known(collection, record.id.item)
        let isCompared = known?.isCompared ?? true
        let newest = isCompared ? known?.revision ?? 0 : 0
        if let known, isCompared, record.revision <= known.revision {
            // An older record may arrive while a newer one is written, but not with a later sequence number.
            if record.revision < known.revision, record.sequence ?? 0 > known.sequence, known.sequence > 0 {
                await refuse(.notNewer, record)
            }
            return nil
        }
        if known != nil, isCompared, collection == .audit { return nil }
        do {
            return try RecordCheck(session.roster).check(record, known: newest)
        } catch .unknownAuthor {
            // The author may have been admitted or revoked a moment ago, or wrote it as a member.
            let roster = try await delegate.followRoster()
            let check = RecordCheck(roster, departing: await delegate.departing())
            let knownEpoch = try await store.record(collection, record.id.item)?.epoch ?? 0
            if let checked = try? check.check(record, known: newest, knownEpoch: knownEpoch) { return checked }
            if roster.revoked.contains(record.author.item) { return nil }
            await refuse(.unknownAuthor, record)
        } catch {
            await refuse(error, record)
        }
        return nil
    }
}
