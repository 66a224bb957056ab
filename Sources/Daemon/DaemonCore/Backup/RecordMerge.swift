import ControlAPI
import Foundation
import SealedFormats
import Sync

/// Determines which records an import changes.
struct RecordMerge {
    let records: any RecordStore
    let keys: VaultKeys
    let mode: ImportRequest.Mode

    /// The change is refused if one of the records is changed before it is written.
    ///
    /// - Parameter holdsRecords: whether the backup has records; one of the settings alone removes nothing.
    func change(
        to incoming: [StoredRecord], holdsRecords: Bool, report: inout ImportReport
    ) async throws -> StateChange {
        var change = StateChange()
        change.acceptsAnyRevision = true
        for record in incoming where record.sealed != nil {
            // A record that can't be opened ends the import before anything is written.
            let body = try keys.open(record)
            guard let stored = try await records.record(record.name.collection, record.name.id) else {
                change.add(record, replacing: nil)
                report.recordsAdded += 1
                continue
            }
            if stored == record { continue }
            let keepsBoth = [.notes, .moments].contains(record.name.collection)
            if stored.sealed == nil || mode == .replace {
                let revision = max(record.name.revision, stored.name.revision + 1)
                change.add(
                    revision == record.name.revision ? record : try reseal(record, body, as: record.name.id, revision),
                    replacing: stored)
                report.recordsAdded += 1
            } else if record.name.revision > stored.name.revision {
                if keepsBoth, let copy = try await copy(of: stored, unlessEqualTo: body) {
                    change.add(copy, replacing: nil)
                    report.recordsInConflict += 1
                } else {
                    report.recordsAdded += 1
                }
                change.add(record, replacing: stored)
            } else if record.name.revision == stored.name.revision, keepsBoth {
                // Changed on both sides: the backup's version becomes a record of its own.
                change.add(try reseal(record, body, as: .random(), 1), replacing: nil)
                report.recordsInConflict += 1
            }
        }
        if mode == .replace, holdsRecords { try await remove(allBut: incoming, in: &change, &report) }
        return change
    }

    /// A revision counts changes since the two had the same one. So the lower one may have a change of its own.
    /// - Returns: nil also where the copy exists, or existed.
    private func copy(of stored: StoredRecord, unlessEqualTo body: Data) async throws -> StoredRecord? {
        guard let local = try? keys.open(stored), local != body else { return nil }
        let id = ConflictCopy.id(of: stored.name.id, sealed: stored.sealed ?? [])
        guard try await records.record(stored.name.collection, id) == nil else { return nil }
        return try reseal(stored, local, as: id, 1)
    }

    private func remove(
        allBut incoming: [StoredRecord], in change: inout StateChange, _ report: inout ImportReport
    ) async throws {
        struct Key: Hashable {
            let collection: RecordCollection
            let id: ItemID
        }
        let kept = Set(incoming.map { Key(collection: $0.name.collection, id: $0.name.id) })
        for collection in BackupService.collections {
            for stored in try await records.records(in: collection)
            where !kept.contains(Key(collection: collection, id: stored.name.id)) {
                change.add(keys.removed(stored), replacing: stored)
                report.recordsRemoved += 1
            }
        }
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

extension StateChange {
    fileprivate mutating func add(_ record: StoredRecord, replacing stored: StoredRecord?) {
        records.append(record)
        replaced[record.name] = stored.map { RecordStamp(of: $0) } ?? RecordStamp(revision: 0, tag: [])
    }
}
