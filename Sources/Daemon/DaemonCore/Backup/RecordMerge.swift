import ControlAPI
import Foundation
import SealedFormats
import Sync

/// Determines which records an import changes.
struct RecordMerge {
    let records: any RecordStore
    let keys: VaultKeys
    let mode: ImportRequest.Mode

    /// - Parameter holdsRecords: whether the backup has records; one of the settings alone removes nothing.
    func changes(
        to incoming: [StoredRecord], holdsRecords: Bool, report: inout ImportReport
    ) async throws -> [StoredRecord] {
        var changes: [StoredRecord] = []
        for record in incoming where record.sealed != nil {
            // A record that can't be opened ends the import before anything is written.
            let body = try keys.open(record)
            guard let stored = try await records.record(record.name.collection, record.name.id) else {
                changes.append(record)
                report.recordsAdded += 1
                continue
            }
            if stored == record { continue }
            if stored.sealed == nil || mode == .replace {
                let revision = max(record.name.revision, stored.name.revision + 1)
                changes.append(
                    revision == record.name.revision ? record : try reseal(record, body, as: record.name.id, revision))
                report.recordsAdded += 1
            } else if record.name.revision > stored.name.revision {
                changes.append(record)
                report.recordsAdded += 1
            } else if record.name.revision == stored.name.revision,
                [.notes, .moments].contains(record.name.collection)
            {
                // Changed on both sides: the backup's version becomes a record of its own.
                changes.append(try reseal(record, body, as: .random(), 1))
                report.recordsInConflict += 1
            }
        }
        if mode == .replace, holdsRecords { changes += try await removals(but: incoming, &report) }
        return changes
    }

    private func removals(but incoming: [StoredRecord], _ report: inout ImportReport) async throws -> [StoredRecord] {
        struct Key: Hashable {
            let collection: RecordCollection
            let id: ItemID
        }
        let kept = Set(incoming.map { Key(collection: $0.name.collection, id: $0.name.id) })
        var removals: [StoredRecord] = []
        for collection in BackupService.collections {
            for var record in try await records.records(in: collection)
            where !kept.contains(Key(collection: collection, id: record.name.id)) {
                record.name.revision += 1
                record.sealed = nil
                record.author = keys.device
                removals.append(record)
                report.recordsRemoved += 1
            }
        }
        return removals
    }

    private func reseal(
        _ record: StoredRecord, _ body: Data, as id: ItemID, _ revision: UInt64
    ) throws -> StoredRecord {
        guard let resealed = try keys.resealed(record, body, as: id, revision: revision) else {
            throw ControlError(.notReadable, "The backup lacks the key of its intruder photos; nothing was changed.")
        }
        return resealed
    }
}
