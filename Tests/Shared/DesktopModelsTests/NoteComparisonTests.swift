import ControlAPI
import DesktopModels
import Synchronization
import TestSupport
import Testing

/// A note that two devices changed at once: its two versions, and the choice between them.
@MainActor
struct NoteComparisonTests {
    private let control = FakeControl()
    private let context: DesktopContext
    private let vault: VaultModel
    private let model: NotesModel

    private nonisolated static let notes = [
        note("copy", "Bank (conflict, den-laptop)", created: 1), note("original", "Bank", created: 1),
        note("other", "Bank", created: 2), note("alone", "Trip (conflict, den-laptop)", created: 3),
        // One copy was kept as a note of its own; then there was another conflict.
        note("kept", "Code (from den-phone)", created: 4), note("code", "Code", created: 4),
        note("code-1", "Code (conflict, den-laptop)", created: 4),
        note("code-2", "Code (conflict, den-phone)", created: 4),
    ]
    private nonisolated static let texts = ["original": "one\ntwo\nthree", "copy": "one\nTWO\nthree\nfour"]

    private nonisolated static func note(_ id: String, _ title: String, created: Double) -> NoteReport {
        NoteReport(
            id: id, title: title, created: created, modified: TestClock.start, revision: 1, version: "v-\(id)", size: 5,
            preview: "one")
    }

    init() async {
        context = makeContext(control, TestClock())
        vault = VaultModel(context, user: 1_000)
        model = NotesModel(context, vault)
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.listNotes) { request in
            let words = request.query["search"]
            return NoteList(notes: Self.notes.filter { words == nil || $0.id == words })
        }
        control.on(\.readNote) { request in
            let note = Self.notes.first { $0.id == request.parameter }!
            return NoteContent(note: note, body: Self.texts[note.id] ?? "")
        }
        control.on(\.changeNote) { request in
            NoteSaved(note: Self.notes.first { $0.id == request.parameter }!)
        }
        control.on(\.removeNote) { _ in DoneReport() }
        await vault.refresh()
        await model.load()
    }

    @Test func onlyVersionsOfTheSameNoteAreFound() {
        #expect(Set(model.versions.keys) == ["original", "copy", "code", "code-1", "code-2"])
        #expect(model.versions["code-2"]?.map(\.id) == ["code", "code-1", "code-2"])
        #expect(model.versions["copy"]?.map(\.id) == ["original", "copy"])
        let titles = Self.notes.prefix(4).map(model.plainTitle)
        #expect(titles == ["Bank", "Bank", "Bank", "Trip (conflict, den-laptop)"])
    }

    @Test func aSearchForgetsNoVersions() async {
        model.search = "original"
        await model.load()
        #expect(model.notes.count == 1 && model.versions.count == 5)
    }

    @Test func whatOnlyOneVersionHasIsMarked() async {
        await model.open("copy")
        #expect(model.hasOtherVersion)
        await model.compare()
        #expect(model.comparison.map(\.heading) == ["The earlier version", "The version of den-laptop"])
        #expect(model.comparison.map(\.title) == ["Bank", "Bank"])
        #expect(model.comparison.map(\.differing) == [[1], [1, 3]])
        model.closeComparison()
        #expect(model.comparison.isEmpty && model.current?.id == "copy")
    }

    @Test func theCopyThatIsOpenIsTheOneThatIsCompared() async {
        await model.open("code-2")
        await model.compare()
        #expect(model.comparison.map(\.note.id) == ["code", "code-2"])
        await model.open("code")
        await model.compare()
        #expect(model.comparison.map(\.note.id) == ["code", "code-1"])
    }

    @Test func linesThatEndAsWindowsEndsThemAreComparedOneByOne() async {
        control.on(\.readNote) { request in
            let note = Self.notes.first { $0.id == request.parameter }!
            return NoteContent(note: note, body: note.id == "copy" ? "one\r\nTWO" : "one\ntwo")
        }
        await model.open("copy")
        await model.compare()
        #expect(model.comparison.map(\.differing) == [[1], [1]])
    }

    @Test func theEarlierVersionIsKeptByRemovingTheCopy() async throws {
        await model.open("original")
        await model.compare()
        await model.keep(0)
        #expect(control.requests(.changeNote).isEmpty)
        #expect(control.requests(.removeNote).map(\.parameter) == ["copy"])
        #expect(control.requests(.removeNote).map { $0.query["version"] } == ["v-copy"])
        #expect(model.comparison.isEmpty && model.current?.id == "original")
    }

    @Test func theCopyIsKeptInThePlaceOfTheOriginal() async throws {
        await model.open("original")
        await model.compare()
        await model.keep(1)
        let request = try #require(control.requests(.changeNote).first)
        let body = try request.body(as: NoteRequest.self)
        #expect(request.parameter == "original" && body.title == "Bank" && body.body == Self.texts["copy"])
        #expect(body.replaces == "v-original")
        #expect(control.requests(.removeNote).map(\.parameter) == ["copy"])
    }

    @Test func nothingIsRemovedWhereTheOriginalWasChangedMeanwhile() async {
        control.on(\.changeNote) { request in
            NoteSaved(note: Self.notes[1], conflict: "The note was changed meanwhile.")
        }
        await model.open("original")
        await model.compare()
        await model.keep(1)
        #expect(control.requests(.removeNote).isEmpty)
        #expect(context.announcement == "The note was changed meanwhile.")
    }

    @Test func bothAreKeptUnderTitlesOfTheirOwn() async throws {
        await model.open("original")
        await model.compare()
        await model.keepBoth()
        let request = try #require(control.requests(.changeNote).first)
        let title = try request.body(as: NoteRequest.self).title
        #expect(request.parameter == "copy" && title == "Bank (from den-laptop)")
        #expect(control.requests(.removeNote).isEmpty)
    }

    @Test func aLockLeavesNoVersionInTheWindow() async {
        await model.open("original")
        await model.compare()
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
        await vault.refresh()
        #expect(model.comparison.isEmpty && model.versions.isEmpty)
    }
}
