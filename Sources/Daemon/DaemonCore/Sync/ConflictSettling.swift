import Foundation
import Household
import SealedFormats
import Sync

/// Splits notes and moments that were changed here and elsewhere at the same time into two.
struct ConflictSettling {
    let store: any SyncStore
    /// For the titles of the copies.
    let deviceName: String

    /// - Parameter keys: a conflict that these do not open waits for the right ones.
    func settle(_ keys: VaultKeys) async {
        guard let conflicts = try? await store.conflicts() else { return }
        for conflict in conflicts {
            guard let body = try? keys.open(conflict) else { continue }
            if conflict.name.collection == .moments {
                await settle(moment: body, conflict, keys)
                continue
            }
            if let note = try? JSONDecoder().decode(SealedNote.self, from: body) {
                await settle(note: note, conflict, keys)
            }
        }
    }

    /// Whether a device of this name made it as the copy of a moment.
    static func isCopy(_ moment: MomentBody, by deviceName: String) -> Bool {
        moment.title.hasSuffix(suffix(by: deviceName))
    }

    /// Of a copy's title.
    private static func suffix(by deviceName: String) -> String { " (conflict, \(deviceName))" }

    /// The id of the copy; nil if another device has made it already.
    private func freeID(of conflict: StoredRecord) async -> ItemID? {
        let id = ConflictCopy.id(of: conflict.name.id, sealed: conflict.sealed ?? [])
        return (try? await store.record(conflict.name.collection, id)) == .some(nil) ? id : nil
    }

    /// Equal versions need no copy.
    private func settle(note: SealedNote, _ conflict: StoredRecord, _ keys: VaultKeys) async {
        var change = StateChange()
        let record = try? await store.record(.notes, conflict.name.id)
        let kept = record.flatMap { try? NoteService.content(of: $0, keys) }
        let isSame = kept?.title == note.title && kept?.body == note.body
        if !isSame, let id = await freeID(of: conflict) {
            var copy = note
            copy.title += Self.suffix(by: deviceName)
            guard let bytes = try? JSONEncoder().encode(copy),
                let record = try? keys.seal(bytes, .notes, id, revision: 1, in: conflict.name.vault)
            else { return }
            change.records = [record]
        }
        try? await store.write(change, resolving: [conflict])
    }

    /// A local move to the trash is dropped, as a removal is. Equal versions need no copy either.
    private func settle(moment bytes: Data, _ conflict: StoredRecord, _ keys: VaultKeys) async {
        guard var body = try? MomentBody(bytes: bytes) else { return }
        var change = StateChange()
        let record = try? await store.record(.moments, conflict.name.id)
        var taken = record.flatMap { try? MomentBody(bytes: keys.open($0)) }
        taken?.modified = body.modified
        if body.removed == nil, taken != body, let id = await freeID(of: conflict) {
            body.title += Self.suffix(by: deviceName)
            guard let bytes = try? body.bytes(),
                let copy = try? keys.seal(bytes, .moments, id, revision: 1, in: conflict.name.vault)
            else { return }
            change.records = [copy]
        }
        try? await store.write(change, resolving: [conflict])
    }
}
