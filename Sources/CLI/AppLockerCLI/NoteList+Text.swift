import ControlAPI

extension NoteList {
    /// A row per note. Only notes that share a title show the first line of their text.
    func lines(_ paint: Paint) -> [String] {
        let counts = Dictionary(notes.map { ($0.title, 1) }, uniquingKeysWith: +)
        let hasSharedTitle = counts.values.contains { $0 > 1 }
        var table = Table(["ID", "MODIFIED", "TITLE"] + (hasSharedTitle ? ["FIRST LINE"] : []))
        let length = shownIDLength(notes.map(\.id))
        for note in notes {
            let cells = [String(note.id.prefix(length)), TimeText.local(note.modified), note.title]
            let firstLine = counts[note.title, default: 0] > 1 ? note.preview : ""
            table.add(cells + (hasSharedTitle ? [firstLine] : []))
        }
        return table.lines(paint)
    }
}

extension NoteReport {
    /// "Safe" (3f9a0c21): two notes can have the same title.
    var quotedName: String { "\"\(title)\" (\(id.prefix(8)))" }
}
