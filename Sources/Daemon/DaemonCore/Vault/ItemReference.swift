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
    /// - Parameter refusal: the sentence if it can't be written.
    /// - Throws: `RevisionConflict`, or `ControlError` with `failed`.
    func write(_ change: StateChange, refusal: @Sendable (any Error) -> String) async throws {
        do {
            try await write(change)
        } catch let error as RevisionConflict {
            throw error
        } catch {
            throw ControlError(.failed, refusal(error))
        }
    }
}

/// A sealed item as a person names it: by its id, by the first digits of it (at least 4), or by its name.
struct ItemReference {
    enum Kind { case note, file, moment, intruderPhoto }

    let text: String
    let kind: Kind

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
        case 0: throw ControlError(.noSuchItem, noSuchItem)
        default: throw ControlError(.ambiguousItem, ambiguous(found.count))
        }
    }

    private var noSuchItem: String {
        switch kind {
        case .note: "There is no such note. `applocker note list` shows all."
        case .file: "There is no such file. `applocker file list` shows all."
        case .moment: "There is no such moment. `applocker moments list` shows all."
        case .intruderPhoto: "There is no such photo. `applocker intruders list` shows all."
        }
    }

    private func ambiguous(_ count: Int) -> String {
        switch kind {
        case .note: "This matches \(count) notes; use an id of `applocker note list`."
        case .file: "This matches \(count) files; use an id of `applocker file list`."
        case .moment: "This matches \(count) moments; use an id of `applocker moments list`."
        case .intruderPhoto: "This matches \(count) photos; use an id of `applocker intruders list`."
        }
    }
}
