import ControlAPI
import Testing

@testable import AppLockerCLI

@Suite("Notes on the command line")
struct NoteTextTests {
    private func lines(_ notes: (id: String, title: String, preview: String)...) -> [String] {
        NoteList(
            notes: notes.map { id, title, preview in
                NoteReport(
                    id: id, title: title, created: 0, modified: 0, revision: 1, version: "", size: preview.utf8.count,
                    preview: preview)
            }
        ).lines(Paint(isColoured: false))
    }

    @Test("A list of notes with titles of their own shows nothing of their texts")
    func ownTitles() {
        let time = TimeText.local(0)
        #expect(
            lines(("aabbccdd00112233", "Bank", "12-34"), ("0123456789abcdef", "Safe", "56-78")) == [
                "ID        MODIFIED             TITLE", "aabbccdd  \(time)  Bank", "01234567  \(time)  Safe",
            ])
        #expect(lines() == [])
    }

    @Test("Notes of one title show their first lines, and ids that distinguish them")
    func sharedTitle() {
        let time = TimeText.local(0)
        #expect(
            lines(
                ("aabbccdd00112233", "Bank", "Lisbon"), ("aabbccddff112233", "Bank", "Porto\u{1B}[2J"),
                ("0123456789abcdef", "Safe", "56-78"), ("1123456789abcdef", "Bank", "")) == [
                    "ID         MODIFIED             TITLE  FIRST LINE", "aabbccdd0  \(time)  Bank   Lisbon",
                    "aabbccddf  \(time)  Bank   Porto\u{FFFD}[2J", "012345678  \(time)  Safe",
                    "112345678  \(time)  Bank",
                ])
    }
}
