import ControlAPI
import LocalControl
import SystemTestSupport
import TestSupport
import Testing

@Suite(.windowSession) struct NotesWindowTests {
    @Test(arguments: WindowScreenKind.usual)
    func theTwoVersionsOfANoteStandSideBySideAndOneIsKept(on screen: WindowScreenKind) async throws {
        let session = try await WindowSession(on: screen)
        try await session.startWindow()
        try await session.openVault(on: "alt+4", shows: "No notes yet.")
        let client = session.client
        let first = try await client.call(\.addNote, body: NoteRequest(title: "Bank", body: "PIN 1\nLisbon")).note
        _ = try await client.call(
            \.changeNote, parameter: first.id, body: NoteRequest(title: "Bank", body: "PIN 2\nLisbon"))
        let saved = try await client.call(
            \.changeNote, parameter: first.id,
            body: NoteRequest(title: "Bank", body: "PIN 3\nLisbon\nPorto", replaces: first.version))
        #expect(saved.conflict != nil)
        _ = try await client.call(\.addNote, body: NoteRequest(title: "Bank", body: "another account"))
        // Reads the list again.
        try await session.press(keys: "alt+1", "alt+4")
        // Notes of one title differ in their first words.
        for words in ["PIN 2", "PIN 3", "another account"] { try await session.awaitWords(words) }
        try await session.photograph("notes-versions")
        // The newest but one, below the search and its two buttons.
        try await session.press(keys: "ctrl+f", "Tab", "Tab", "Tab", "Down", "Return")
        try await session.awaitWords("Two devices changed this note at the same time.")
        try await session.press("Compare")
        for words in ["The earlier version", "The version of", "Porto"] { try await session.awaitWords(words) }
        try await session.photograph("notes-comparison")
        let keep = try #require(
            await session.parts().first { $0.name.hasPrefix("Keep this version: The version of") }?.name)
        try await session.press(keep)
        try await session.awaitWords("The other one is removed from all devices.")
        try await session.press("Keep This Version", role: "push button")
        var notes: [NoteReport] = []
        try await session.awaiting("the other version is removed") {
            notes = try await client.call(\.listNotes).notes
            return notes.count == 2
        }
        #expect(notes.map(\.title) == ["Bank", "Bank"] && notes.contains { $0.id == first.id })
        #expect(try await client.call(\.readNote, parameter: first.id).body == "PIN 3\nLisbon\nPorto")
    }
}
