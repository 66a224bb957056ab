import ControlAPI
import Foundation
import Household
import SealedFormats
import Sync
import Synchronization

/// The content of the notes, opened once and kept beside the vault's keys. It is overwritten with them.
///
/// Notes are identified by id and stamp, so that only changed ones are opened.
actor NoteIndex {
    /// The most bytes of text that are kept; longer and later notes are opened again for each search.
    private let maximumTextBytes: Int

    /// One note, as a list shows it and a search reads it.
    struct Note: Sendable {
        let name: RecordName
        let stamp: RecordStamp
        /// Seconds since 1970.
        let created: Double
        let modified: Double
        /// Of the text, in bytes of UTF-8.
        let size: Int
        /// Holds title, preview and text of many notes.
        fileprivate let page: SecretBytes
        fileprivate let titleRange: Range<Int>
        fileprivate let previewRange: Range<Int>
        /// Title and text without case and accents; nil where it is not kept.
        fileprivate let searchable: Range<Int>?

        var title: String { text(titleRange) }
        var preview: String { text(previewRange) }

        private func text(_ range: Range<Int>) -> String {
            page.withUnsafeBytes { String(decoding: $0[range], as: UTF8.self) }
        }

        /// Whether it contains all of the folded words; nil if the note has to be opened for that.
        func contains(_ words: [[UInt8]]) -> Bool? {
            guard let searchable else { return nil }
            return page.withUnsafeBytes { bytes in
                let text = UnsafeRawBufferPointer(rebasing: bytes[searchable])
                return words.allSatisfy { NoteText.contains(text, $0) }
            }
        }
    }

    init(maximumTextBytes: Int = 32 << 20) { self.maximumTextBytes = maximumTextBytes }

    private var notes: [ItemID: Note] = [:]
    /// Notes that do not open. They must not prevent the others from being listed.
    private var unreadable: [ItemID: RecordStamp] = [:]
    private var textBytes = 0
    var isEmpty: Bool { notes.isEmpty }
    /// The last refresh that began: the next waits for it.
    private var refreshing: Task<Void, any Error>?

    /// Set once the vault is locked.
    private nonisolated let isEnded = Atomic(false)

    /// Stops opening notes. Callers that wait for it receive `vaultLocked`.
    nonisolated func end() { isEnded.store(true, ordering: .relaxed) }

    private nonisolated func checkOpen() throws {
        if isEnded.load(ordering: .relaxed) { throw ControlError.vaultIsLocked }
    }

    /// Every note as it is stored now. Notes that another call is opening are waited for, not opened again.
    /// - Returns: those that open, and how many do not.
    /// - Throws: `ControlError` with `vaultLocked`; what the store throws.
    func current(in records: any RecordStore, _ keys: VaultKeys) async throws -> (notes: [Note], unreadable: Int) {
        let previous = refreshing
        let refresh = Task {
            _ = await previous?.result
            try await self.refresh(records, keys)
        }
        refreshing = refresh
        try await refresh.value
        return (Array(notes.values), unreadable.count)
    }

    private func refresh(_ records: any RecordStore, _ keys: VaultKeys) async throws {
        let stamps = try await records.stamps(in: .notes)
        for (id, note) in notes where stamps[id] != note.stamp {
            textBytes -= note.searchable?.count ?? 0
            notes[id] = nil
        }
        unreadable = unreadable.filter { stamps[$0.key] == $0.value }
        let missing = stamps.filter { notes[$0.key] == nil && unreadable[$0.key] == nil }.map(\.key)
        guard !missing.isEmpty else { return }
        let stored = try await records.records(in: .notes, ids: missing)
        let room = max(0, maximumTextBytes - textBytes)
        let pages = try await Self.inParallel(stored) { try self.page(of: $0, keys, room: room / 2) }
        try checkOpen()
        for note in pages.joined() {
            notes[note.name.id] = note
            textBytes += note.searchable?.count ?? 0
        }
        for record in stored where notes[record.name.id] == nil {
            unreadable[record.name.id] = RecordStamp(of: record)
        }
    }

    private typealias Entry = (
        name: RecordName, stamp: RecordStamp, created: Double, modified: Double, size: Int, title: Range<Int>,
        preview: Range<Int>, searchable: Range<Int>?
    )

    /// Opens records and stores their content on one page.
    private nonisolated func page(
        of records: ArraySlice<StoredRecord>, _ keys: VaultKeys, room: Int
    ) throws -> [Note] {
        var bytes: [UInt8] = []
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        bytes.reserveCapacity(min(room, records.reduce(0) { $0 + ($1.sealed?.count ?? 0) } * 2))
        var kept = 0
        let entries = try records.compactMap { record -> Entry? in
            try checkOpen()
            guard let content = try? NoteService.content(of: record, keys) else { return nil }
            let title = bytes.count..<(bytes.count + content.title.utf8.count)
            bytes += content.title.utf8
            let start = bytes.count
            bytes += NoteText.preview(of: content.body).utf8
            let preview = start..<bytes.count
            var searchable: Range<Int>?
            if kept + content.body.utf8.count <= room {
                let start = bytes.count
                bytes += NoteText.folded(content.title)
                bytes.append(UInt8(ascii: "\n"))
                bytes += NoteText.folded(content.body)
                searchable = start..<bytes.count
                kept += bytes.count - start
            }
            return (
                record.name, RecordStamp(of: record), content.created, content.modified, content.body.utf8.count, title,
                preview, searchable
            )
        }
        let page = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        return entries.map { name, stamp, created, modified, size, title, preview, searchable in
            Note(
                name: name, stamp: stamp, created: created, modified: modified, size: size, page: page,
                titleRange: title, previewRange: preview, searchable: searchable)
        }
    }

    /// Runs `body` on all cores, with a share of the records each.
    private static func inParallel<Value: Sendable>(
        _ records: [StoredRecord], _ body: @escaping @Sendable (ArraySlice<StoredRecord>) throws -> [Value]
    ) async throws -> [[Value]] {
        let share = max(256, (records.count + 1) / 2)
        return try await withThrowingTaskGroup(of: [Value].self) { group in
            for start in stride(from: 0, to: records.count, by: share) {
                let part = records[start..<min(start + share, records.count)]
                group.addTask { try body(part) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Text as a search compares it: without case and accents.
enum NoteText {
    /// The first line with something in it, at most 100 characters and 400 bytes: a character can have any number of accents.
    static func preview(of body: String) -> String {
        var preview = ""
        for character in body.drop(while: \.isWhitespace).prefix(100) {
            guard !character.isNewline, preview.utf8.count + character.utf8.count <= 400 else { break }
            preview.append(character)
        }
        return preview
    }

    /// UTF-8.
    static func folded(_ text: String) -> [UInt8] {
        var text = text
        let ascii: [UInt8]? = text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 128 }) else { return nil }
            return bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        }
        return ascii ?? Array(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).utf8)
    }

    /// Whether the bytes occur in the text. An empty word is in every text.
    static func contains(_ text: UnsafeRawBufferPointer, _ word: [UInt8]) -> Bool {
        guard let first = word.first else { return true }
        guard let start = text.baseAddress, text.count >= word.count else { return false }
        var offset = 0
        while offset <= text.count - word.count {
            guard let found = memchr(start + offset, Int32(first), text.count - word.count - offset + 1) else {
                return false
            }
            offset = UnsafeRawPointer(found) - start
            if memcmp(start + offset, word, word.count) == 0 { return true }
            offset += 1
        }
        return false
    }
}
