import ControlAPI
import SealedFormats
import Sync

extension ItemID {
    /// - Throws: `ControlError` with `badRequest`.
    init(requested text: String) throws(ControlError) {
        guard let id = ItemID(text) else { throw ControlError(.badRequest, "An id has 32 hexadecimal digits.") }
        self = id
    }
}

extension RecordStore {
    /// - Parameter kind: of the written items, "note".
    /// - Throws: `RevisionConflict`, or `ControlError` with `failed`.
    func write(_ change: StateChange, of kind: String) async throws {
        do {
            try await write(change)
        } catch let error as RevisionConflict {
            throw error
        } catch {
            throw ControlError(
                .failed, "The \(kind) could not be written (\(error)). Free some disk space and try again.")
        }
    }
}

/// A sealed item as a person names it: by its id, by the first digits of it (at least 4), or by its name.
struct ItemReference {
    let text: String
    /// "note", as in `applocker note list`.
    let kind: String
    /// The command that lists them.
    let command: String

    /// - Parameter named: those of the items that have this name.
    /// - Throws: `ControlError` with `noSuchItem` or `ambiguousItem`.
    func find(
        in records: any RecordStore, _ collection: RecordCollection,
        named: @Sendable ([StoredRecord]) async throws -> [StoredRecord] = { _ in [] }
    ) async throws -> StoredRecord {
        if let id = ItemID(text), let record = try await records.record(collection, id), record.sealed != nil {
            return record
        }
        let all = try await records.records(in: collection)
        var found = text.count >= 4 ? all.filter { $0.name.id.description.hasPrefix(text) } : []
        if found.isEmpty { found = try await named(all) }
        switch found.count {
        case 1: return found[0]
        case 0: throw ControlError(.noSuchItem, "There is no such \(kind). `\(command)` shows all.")
        default:
            throw ControlError(
                .ambiguousItem, "This matches \(found.count) \(kind)s; use an id of `\(command)`.")
        }
    }
}
