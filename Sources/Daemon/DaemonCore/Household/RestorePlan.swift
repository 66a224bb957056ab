import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import Sync

/// How one record is restored that devices which no longer belong replaced or removed.
///
/// The version before the first of their changes is restored, unless a device that belongs has changed the record
/// since. Then the newest such change stays or is restored, and the earlier version is added as a copy.
struct RestorePlan {
    struct Result {
        var item: RestoredItem
        var records: [StoredRecord] = []
    }

    let store: any HouseholdStore
    let keys: VaultKeys
    /// The devices whose changes are undone.
    let devices: Set<ItemID>
    let names: [ItemID: String]

    /// - Parameter versions: of one record, each replaced by one of the devices, the oldest first.
    /// - Returns: an empty array if the record already has the earlier content.
    func results(of versions: [EarlierVersion]) async throws -> [Result] {
        guard let first = versions.first, let kind = RestoredItem.Kind(first.collection),
            let earlier = try await store.record(of: first),
            let current = try await store.record(first.collection, first.id)
        else { return [] }
        var item = RestoredItem(
            kind: kind, id: first.id.description, title: "", state: current.sealed == nil ? .removed : .changed,
            device: first.replacer.description,
            deviceName: names[first.replacer] ?? String(first.replacer.description.prefix(8)), time: first.replaced,
            outcome: .left)
        guard let body = try? keys.open(earlier) else {
            // It belongs to a vault without a key on this computer, or is invalid.
            item.reason = "The earlier version does not open with the keys of this computer."
            return [Result(item: item)]
        }
        item.title = kind.title(body, of: earlier)
        guard current.name.revision < HubRecord.maximumNumber else {
            item.reason = "The record has the highest possible revision."
            return [Result(item: item)]
        }
        let now = try? keys.open(current)
        let writer = try await store.writer(of: first.collection, first.id)
        guard writer.map(devices.contains) ?? true else {
            return now == body ? [] : [try await besides(item, body, earlier)].compactMap { $0 }
        }
        // A change by a device that belongs, between two changes by devices that do not.
        if let last = versions.dropFirst().last(where: { !devices.contains($0.writer) }),
            let newer = try await store.record(of: last), let newerBody = try? keys.open(newer), newerBody != body
        {
            var results = [try await besides(item, body, earlier)].compactMap { $0 }
            if now != newerBody {
                item.title = kind.title(newerBody, of: newer)
                if let result = try inPlace(item, newer, after: current) { results.insert(result, at: 0) }
            }
            return results
        }
        return now == body ? [] : [try inPlace(item, earlier, after: current)].compactMap { $0 }
    }

    private func inPlace(_ item: RestoredItem, _ version: StoredRecord, after current: StoredRecord) throws -> Result? {
        guard let record = try keys.resealed(version, revision: current.name.revision + 1) else { return nil }
        var item = item
        item.outcome = .restored
        return Result(item: item, records: [record])
    }

    /// Adds the version of a note or a moment as a copy; nil if that was done before.
    private func besides(_ item: RestoredItem, _ body: Data, _ version: StoredRecord) async throws -> Result? {
        var item = item
        guard let bytes = try item.kind.copy(body) else {
            // A file's and a photo's content is sealed for one record, and can't belong to a second one. Remarks and dates
            // are too small for a second version.
            item.reason = "A device of the household has changed or removed it since."
            return Result(item: item)
        }
        let id = ConflictCopy.id(of: version.name.id, sealed: version.sealed ?? [])
        guard try await store.record(version.name.collection, id) == nil else { return nil }
        item.outcome = .copied
        let record = try keys.seal(bytes, version.name.collection, id, revision: 1, in: version.name.vault)
        return Result(item: item, records: [record])
    }
}

extension RestoredItem.Kind {
    /// Nil: records of this collection are not restored.
    init?(_ collection: RecordCollection) {
        switch collection {
        case .notes: self = .note
        case .moments: self = .moment
        case .photos: self = .photo
        case .files: self = .file
        case .intruders: self = .intruder
        case .remarks: self = .remark
        case .dates: self = .date
        default: return nil
        }
    }

    private static let longestTitle = 200

    /// What the companion writes: docs/formats.md, "Remarks" and "Special dates".
    private struct Remark: Decodable {
        var kind: String
        var text: String?
    }

    private struct SpecialDate: Decodable {
        var name: String
    }

    /// The title under which it is shown.
    fileprivate func title(_ body: Data, of record: StoredRecord) -> String {
        let title: String? =
            switch self {
            case .note: (try? JSONDecoder().decode(SealedNote.self, from: body))?.title
            case .moment:
                (try? MomentBody(bytes: body)).map { moment in
                    moment.title.isEmpty ? LocalDay(date: moment.date, offset: moment.offset).text : moment.title
                }
            case .photo:
                (try? PhotoBody(bytes: body, blobs: record.blobs)).map { "\($0.width) × \($0.height) pixels" }
            case .file: FileService.name(in: body)
            case .intruder: IntruderService.time(in: body).map { LocalDay(date: $0, offset: 0).text }
            case .remark: (try? JSONDecoder().decode(Remark.self, from: body)).map { $0.text ?? $0.kind }
            case .date: (try? JSONDecoder().decode(SpecialDate.self, from: body))?.name
            }
        // Counted in Unicode scalars, because one character may be of any length.
        return String(String.UnicodeScalarView((title ?? "unreadable").unicodeScalars.prefix(Self.longestTitle)))
    }

    /// The body of a copy; nil if there can be none.
    fileprivate func copy(_ body: Data) throws -> Data? {
        let addition = " (restored)"
        switch self {
        case .note:
            guard var note = try? JSONDecoder().decode(SealedNote.self, from: body) else { return nil }
            note.title += addition
            return try JSONEncoder().encode(note)
        case .moment:
            guard var moment = try? MomentBody(bytes: body) else { return nil }
            moment.title += addition
            return Data(try moment.bytes())
        case .photo, .file, .intruder, .remark, .date: return nil
        }
    }
}
