import ControlAPI
import Foundation
import SealedFormats
import Sync

/// What a backup is to contain.
struct BackupPlan {
    let records: [StoredRecord]
    let settings: BackupSettings
    /// Nil in a backup of the settings.
    let ring: KeyRing?

    /// Each once: two records may name the same content.
    var contents: [ItemID] {
        var seen: Set<ItemID> = []
        return records.flatMap(\.blobs).filter { seen.insert($0).inserted }
    }

    /// The items that name missing content, with the names that the backup's own keys open.
    func incomplete(without missing: Set<ItemID>, device: ItemID) -> [ExportReply.Incomplete] {
        guard let ring, !missing.isEmpty else { return [] }
        let items = records.filter { !missing.isDisjoint(with: $0.blobs) }
        func open(_ record: StoredRecord) -> Data? {
            try? VaultKeys(vault: record.name.vault, ring: ring, device: device).open(record)
        }
        var titles: [ItemID: String] = [:]
        if items.contains(where: { $0.name.collection == .photos }) {
            for record in records where record.name.collection == .moments {
                guard let body = open(record).flatMap({ try? MomentBody(bytes: $0) }) else { continue }
                for photo in body.photos where titles[photo.id] == nil { titles[photo.id] = body.title }
            }
        }
        return items.map { record in
            let name =
                switch record.name.collection {
                case .files: open(record).flatMap(FileService.name(in:))
                case .photos: titles[record.name.id]
                default: nil as String?
                }
            return ExportReply.Incomplete(
                collection: record.name.collection.rawValue, id: record.name.id.description, name: name ?? "")
        }
    }
}

/// Content that is there and can't be read as a whole.
struct UnreadableContent: Error {
    let content: ItemID
}
