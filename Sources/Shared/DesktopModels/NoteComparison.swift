public import ControlAPI
import Localization

/// A version of a note that is compared with another.
public struct NoteVersion: Equatable, Sendable {
    public var note: NoteReport
    /// "The earlier version", "The version of laptop".
    public var heading: String
    /// Without the name of the copy.
    public var title: String
    public var body: String
    /// Lines that the other version lacks.
    public var differing: Set<Int>

    /// At most so many lines are compared: longer notes are shown without marks.
    static let mostLines = 2_000

    /// The lines of each text that the other lacks.
    static func differences(_ one: String, _ other: String) -> (Set<Int>, Set<Int>) {
        let (one, other) = (lines(one), lines(other))
        guard max(one.count, other.count) <= mostLines else { return ([], []) }
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in other.difference(from: one) {
            switch change {
            case .remove(let line, _, _): removed.insert(line)
            case .insert(let line, _, _): inserted.insert(line)
            }
        }
        return (removed, inserted)
    }

    public static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }
}

/// A note that two devices changed at once is kept twice: the second version becomes a note of its own, with
/// "(conflict, NAME)" after its title, and with the same time of creation (docs/formats.md).
enum NoteCopies {
    /// Whose version it is, and the title without that; nil for a note that is no copy.
    static func copy(_ title: String) -> (title: String, device: String)? {
        let mark = " (conflict, "
        guard title.hasSuffix(")"),
            let start = title.indices.last(where: { title[$0...].hasPrefix(mark) })
        else { return nil }
        let device = title[start...].dropFirst(mark.count).dropLast()
        return device.isEmpty ? nil : (String(title[..<start]), String(device))
    }

    /// The versions of each note that has several, by the id of each, the original first.
    static func versions(in notes: [NoteReport]) -> [String: [NoteReport]] {
        // A copy that was kept as an ordinary note has the same time of creation.
        let originals = Dictionary(grouping: notes.filter { copy($0.title) == nil }, by: \.created)
        var groups: [String: [NoteReport]] = [:]
        for note in notes {
            guard let title = copy(note.title)?.title, let candidates = originals[note.created] else { continue }
            let named = candidates.filter { $0.title == title }
            guard let original = named.count == 1 ? named[0] : candidates.count == 1 ? candidates[0] : nil else {
                continue
            }
            groups[original.id, default: [original]].append(note)
        }
        return Dictionary(groups.values.flatMap { group in group.map { ($0.id, group) } }) { first, _ in first }
    }
}

// A note that is kept twice: one of both is chosen.
extension NotesModel {
    /// Without the name of the copy, where the original is in the list too.
    public func plainTitle(_ note: NoteReport) -> String {
        versions[note.id] == nil ? note.title : NoteCopies.copy(note.title)?.title ?? note.title
    }

    /// Whether the note that is edited has another version.
    public var hasOtherVersion: Bool { current.map { versions[$0.id] != nil } ?? false }

    /// Saves the note that is edited, and shows it beside its other version.
    public func compare() async {
        guard await save(), let current, let all = versions[current.id], let original = all.first else { return }
        let copy = all.dropFirst().first { $0.id == current.id } ?? all[1]
        let pair = [original, copy]
        let loaded = loads
        let contents = await vault.read {
            var contents: [NoteContent] = []
            for note in pair { contents.append(try await context.control.call(\.readNote, parameter: note.id)) }
            return contents
        }
        guard let contents, contents.count == 2, loaded == loads else { return }
        let (title, device) = NoteCopies.copy(copy.title) ?? (copy.title, "")
        let (first, second) = NoteVersion.differences(contents[0].body, contents[1].body)
        comparison = [
            NoteVersion(
                note: contents[0].note, heading: localized("The earlier version"), title: contents[0].note.title,
                body: contents[0].body, differing: first),
            NoteVersion(
                note: contents[1].note, heading: localized("The version of \(device)"), title: title,
                body: contents[1].body, differing: second),
        ]
    }

    public func closeComparison() { comparison = [] }

    /// Keeps one of the compared versions, and removes the other from all devices. Where one of them was changed
    /// meanwhile, both stay.
    ///
    /// - Parameter index: into `comparison`.
    public func keep(_ index: Int) async {
        guard comparison.count == 2 else { return }
        let (original, copy) = (comparison[0], comparison[1])
        if index == 1, await !replace(original, by: copy.title, copy.body) { return await afterChoice(original) }
        let removed = await vault.read {
            try await context.control.call(
                \.removeNote, parameter: copy.note.id, query: RemoveNoteQuery(version: copy.note.version))
        }
        if removed != nil { context.announce(localized("The other version is removed.")) }
        await afterChoice(original)
    }

    /// Keeps both: the copy becomes an ordinary note.
    public func keepBoth() async {
        guard comparison.count == 2, let device = NoteCopies.copy(comparison[1].note.title)?.device else { return }
        let (original, copy) = (comparison[0], comparison[1])
        _ = await replace(copy, by: localized("\(copy.title) (from \(device))"), copy.body)
        await afterChoice(original)
    }

    /// - Returns: false if it was changed meanwhile, or could not be saved.
    private func replace(_ version: NoteVersion, by title: String, _ body: String) async -> Bool {
        let request = NoteRequest(title: title, body: body, replaces: version.note.version)
        let reply = await vault.read {
            try await context.control.call(\.changeNote, parameter: version.note.id, body: request)
        }
        if let conflict = reply?.conflict { context.announce(localized(written: conflict)) }
        return reply != nil && reply?.conflict == nil
    }

    private func afterChoice(_ original: NoteVersion) async {
        comparison = []
        search = ""
        await load()
        await open(original.note.id)
    }
}
