public import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync

/// Notes: small texts, sealed with their titles.
public actor NoteService {
    /// In bytes of UTF-8.
    static let maximumTitle = 1_000
    static let maximumBody = 1 << 20

    private let records: any RecordStore
    private let vault: VaultService
    private let time: any TimeSource
    private let deviceName: String

    init(records: any RecordStore, vault: VaultService, time: any TimeSource, deviceName: String) {
        self.records = records
        self.vault = vault
        self.time = time
        self.deviceName = deviceName
    }

    /// Newest first.
    /// - Parameter search: words that all have to be in the title or the text; case and accents don't count.
    public func list(search: String?, peer: ControlPeer) async throws -> NoteList {
        let keys = try await vault.keys(for: peer)
        let (found, unreadable) = try await notes(with: search, keys)
        return NoteList(
            notes: found.map(Self.report).sorted { ($0.modified, $0.id) > ($1.modified, $1.id) },
            unreadable: unreadable)
    }

    func notes(
        with search: String?, _ keys: VaultKeys
    ) async throws -> (notes: [NoteIndex.Note], unreadable: Int) {
        let words = (search?.split(whereSeparator: \.isWhitespace) ?? []).map { NoteText.folded(String($0)) }
        var found: [NoteIndex.Note] = []
        let all = try await keys.notes.current(in: records, keys)
        for note in all.notes {
            if try await matches(note, words, keys) { found.append(note) }
        }
        return (found, all.unreadable)
    }

    /// Opens every note ahead of the first list, where the vault is open for this user.
    func prepare(peer: ControlPeer) async {
        guard let keys = try? await vault.keys(for: peer) else { return }
        _ = try? await keys.notes.current(in: records, keys)
    }

    private func matches(_ note: NoteIndex.Note, _ words: [[UInt8]], _ keys: VaultKeys) async throws -> Bool {
        if let known = note.contains(words) { return known }
        guard let record = try await records.record(.notes, note.name.id), record.sealed != nil else { return false }
        let content = try Self.content(of: record, keys)
        let text = NoteText.folded(content.title + "\n" + content.body)
        return text.withUnsafeBytes { text in words.allSatisfy { NoteText.contains(text, $0) } }
    }

    public func read(_ reference: String, peer: ControlPeer) async throws -> NoteContent {
        let keys = try await vault.keys(for: peer)
        let record = try await find(reference, keys)
        let content = try Self.content(of: record, keys)
        return NoteContent(note: Self.report(record, content), body: content.body)
    }

    public func add(_ request: NoteRequest, peer: ControlPeer) async throws -> NoteSaved {
        try Self.check(request)
        let keys = try await vault.keys(for: peer)
        let now = time.wallClock()
        return try await save(
            SealedNote(title: request.title, body: request.body, created: now, modified: now), as: .random(), keys)
    }

    /// Replaces a note. If it has changed since the version that the request is based on, both are kept.
    public func change(_ reference: String, _ request: NoteRequest, peer: ControlPeer) async throws -> NoteSaved {
        try Self.check(request)
        let keys = try await vault.keys(for: peer)
        let record = try await find(reference, keys)
        var content = try Self.content(of: record, keys)
        let isCurrent = request.replaces == nil || request.replaces == RecordStamp(of: record).text
        content.body = request.body
        content.title = request.title
        content.modified = time.wallClock()
        if isCurrent {
            do {
                return try await save(content, as: record.name.id, keys, instead: record)
            } catch is RevisionConflict {
                // Another write was faster: the same case as an outdated version.
            }
        }
        content.title += " (conflict, \(deviceName))"
        var saved = try await save(content, as: .random(), keys)
        saved.conflict =
            "The note was changed meanwhile. Both versions are kept; yours is \"\(content.title)\"."
        return saved
    }

    /// Replaces a note with a tombstone.
    /// - Parameter version: the version to remove, as its report names it; nil: any.
    /// - Throws: `RevisionConflict` where the note was changed since.
    public func remove(_ reference: String, version: String? = nil, peer: ControlPeer) async throws {
        let keys = try await vault.keys(for: peer)
        let record = try await find(reference, keys)
        guard version == nil || version == RecordStamp(of: record).text else {
            throw RevisionConflict(name: record.name, current: record.name.revision)
        }
        try await write(keys.removed(record), instead: record)
    }

    // MARK: Pieces

    private func save(
        _ content: SealedNote, as id: ItemID, _ keys: VaultKeys, instead replaced: StoredRecord? = nil
    ) async throws -> NoteSaved {
        let record = try keys.seal(
            JSONEncoder().encode(content), .notes, id, revision: (replaced?.name.revision ?? 0) + 1,
            in: replaced?.name.vault)
        try await write(record, instead: replaced)
        return NoteSaved(note: Self.report(record, content))
    }

    private func write(_ record: StoredRecord, instead replaced: StoredRecord?) async throws {
        var change = StateChange(records: [record])
        if let replaced { change.replaced[record.name] = RecordStamp(of: replaced) }
        try await records.write(change) {
            "The note could not be written (\($0)). Free some disk space and try again."
        }
    }

    private func find(_ reference: String, _ keys: VaultKeys) async throws -> StoredRecord {
        try await ItemReference(text: reference, kind: .note).find(in: records, .notes) { [records] all in
            let named = Set(
                try await keys.notes.current(in: records, keys).notes.filter { $0.title == reference }.map(\.name.id))
            return all.filter { named.contains($0.name.id) }
        }
    }

    static func content(of record: StoredRecord, _ keys: VaultKeys) throws -> SealedNote {
        try JSONDecoder().decode(SealedNote.self, from: keys.open(record))
    }

    private static func report(_ record: StoredRecord, _ content: SealedNote) -> NoteReport {
        NoteReport(
            id: record.name.id.description, title: content.title, created: content.created, modified: content.modified,
            revision: record.name.revision, version: RecordStamp(of: record).text, size: content.body.utf8.count,
            preview: NoteText.preview(of: content.body))
    }

    private static func report(_ note: NoteIndex.Note) -> NoteReport {
        NoteReport(
            id: note.name.id.description, title: note.title, created: note.created, modified: note.modified,
            revision: note.name.revision, version: note.stamp.text, size: note.size,
            preview: note.preview)
    }

    private static func check(_ request: NoteRequest) throws {
        guard !request.title.isEmpty, request.title.utf8.count <= maximumTitle else {
            throw ControlError(.badRequest, "A note's title has 1 to \(maximumTitle) bytes.")
        }
        guard request.body.utf8.count <= maximumBody else {
            throw ControlError(.tooLarge, "A note has at most 1 MiB; add it as a file with `applocker file add`.")
        }
    }
}
