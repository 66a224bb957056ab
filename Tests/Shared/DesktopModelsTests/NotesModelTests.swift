import ControlAPI
import DesktopModels
import Synchronization
import TestSupport
import Testing

@MainActor
struct NotesModelTests {
    private let control = FakeControl()
    private let clock = TestClock()
    private let context: DesktopContext
    private let vault: VaultModel
    private let model: NotesModel

    init() {
        context = makeContext(control, clock)
        vault = VaultModel(context, user: 1_000)
        model = NotesModel(context, vault)
        control.on(\.openVault) { request in
            try FakeControl.check(try request.body(as: PasscodeRequest.self).passcode)
            return VaultStatus(vault: "v", isOpen: true, user: 1_000)
        }
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: true, user: 1_000) }
        control.on(\.listNotes) { _ in NoteList(notes: [Self.note("n", version: "1")]) }
        control.on(\.readNote) { _ in NoteContent(note: Self.note("n", version: "1"), body: "words") }
        control.on(\.changeNote) { _ in NoteSaved(note: Self.note("n", version: "2")) }
        control.on(\.addNote) { _ in NoteSaved(note: Self.note("new", version: "1")) }
    }

    private nonisolated static func note(_ id: String, version: String) -> NoteReport {
        NoteReport(
            id: id, title: "Bank", created: TestClock.start, modified: TestClock.start, revision: 1, version: version,
            size: 5, preview: "words")
    }

    private func openVault() async {
        async let done: Void = vault.open()
        await answer(context.prompt)
        await done
        await model.load()
    }

    @Test func notesAreReadOnceTheVaultIsOpen() async {
        #expect(!vault.isOpen)
        await openVault()
        #expect(vault.isOpen && model.notes.map(\.id) == ["n"])
    }

    @Test func aNoteIsSavedAMomentAfterTheLastChange() async throws {
        await openVault()
        await model.open("n")
        #expect(model.body == "words")
        model.edit(title: "Bank", body: "words and")
        await eventually("the first delay begins") { clock.sleepers == 1 }
        model.edit(title: "Bank", body: "words and more")
        await eventually("the second delay begins") { clock.sleepers == 2 }
        clock.advance(by: .seconds(1))
        await eventually("it is saved") { model.saveState == "Saved" }
        let requests = try control.requests(.changeNote).map { try $0.body(as: NoteRequest.self) }
        #expect(requests.map(\.body) == ["words and more"])
        #expect(requests.map(\.replaces) == ["1"])
        #expect(model.current?.version == "2")
    }

    @Test func typingWhileANewNoteIsSavedAddsNoSecondOne() async throws {
        let isAnswered = Mutex(false)
        control.on(\.addNote) { _ in
            // As with the daemon: a request that is cancelled has no answer.
            while !isAnswered.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            return NoteSaved(note: Self.note("new", version: "1"))
        }
        await openVault()
        await model.startNew()
        model.edit(title: "Bank", body: "words")
        await eventually("the delay begins") { clock.sleepers == 1 }
        clock.advance(by: .seconds(1))
        await eventually("it is being saved") { control.requests(.addNote).count == 1 }
        model.edit(title: "Bank", body: "words and more")
        await eventually("the second delay begins") { clock.sleepers == 1 }
        isAnswered.withLock { $0 = true }
        await eventually("what was typed meanwhile is saved, too") {
            clock.advance(by: .seconds(1))
            return model.saveState == "Saved"
        }
        #expect(control.requests(.addNote).count == 1)
        let changes = try control.requests(.changeNote).map { try $0.body(as: NoteRequest.self) }
        #expect(changes.map(\.body) == ["words and more"] && changes.map(\.replaces) == ["1"])
    }

    @Test func anotherNoteIsOpenedOnlyAfterThisOneWasSaved() async throws {
        await openVault()
        await model.startNew()
        model.edit(title: "", body: "First line\nsecond")
        await model.open("n")
        let added = try #require(control.requests(.addNote).first).body(as: NoteRequest.self)
        #expect(added.title == "First line" && added.body == "First line\nsecond")
        #expect(model.current?.id == "n")
    }

    @Test func anUnsavedNoteStaysOpenWhenItCannotBeSaved() async {
        await openVault()
        await model.open("n")
        control.on(\.changeNote) { _ in throw ControlError(.failed, "The disk is full.") }
        model.edit(title: "Bank", body: "important")
        #expect(await !model.finishEditing())
        #expect(model.isEditing && model.body == "important" && model.saveState == "Not saved")
        #expect(context.announcement == "The disk is full.")
    }

    @Test func aNoteThatCannotBeSavedIsNotReplaced() async {
        await openVault()
        await model.open("n")
        control.on(\.changeNote) { _ in throw ControlError(.tooLarge, "It is too large.") }
        model.edit(title: "Bank", body: "important")
        await model.open("m")
        await model.startNew()
        #expect(model.isEditing && model.current?.id == "n" && model.body == "important")
        #expect(control.requests(.readNote).map(\.parameter) == ["n"])
    }

    @Test func whatIsTypedWhileTheEditorClosesIsSavedBeforeItDoes() async throws {
        let model = model
        control.on(\.changeNote) { request in
            let body = try request.body(as: NoteRequest.self).body
            if body == "first" { await model.edit(title: "Bank", body: "second") }
            return NoteSaved(note: Self.note("n", version: body))
        }
        await openVault()
        await model.open("n")
        model.edit(title: "Bank", body: "first")
        #expect(await model.finishEditing() && !model.isEditing)
        let changes = try control.requests(.changeNote).map { try $0.body(as: NoteRequest.self) }
        #expect(changes.map(\.body) == ["first", "second"])
    }

    @Test func nothingWithoutAChangeIsSaved() async {
        await openVault()
        await model.open("n")
        await model.finishEditing()
        #expect(control.requests(.changeNote).isEmpty && !model.isEditing)
    }

    @Test func aLockedVaultLeavesNothingInTheWindow() async {
        await openVault()
        await model.open("n")
        control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
        await vault.refresh()
        #expect(model.notes.isEmpty && model.title.isEmpty && model.body.isEmpty && !model.isEditing)
        #expect(model.current == nil)
    }

    @Test func aRefusalBecauseTheVaultIsLockedShowsTheLock() async {
        await openVault()
        control.on(\.readNote) { _ in throw ControlError(.vaultLocked, "The vault is locked.") }
        await model.open("n")
        #expect(!vault.isOpen && model.notes.isEmpty)
        #expect(context.announcements == 0)
    }

    @Test func onlyTheVersionThatIsShownIsRemoved() async {
        await openVault()
        await model.open("n")
        control.on(\.removeNote) { _ in throw ControlError(.busy, "The note has changed.") }
        await model.removeCurrent(of: model.loads)
        #expect(control.requests(.removeNote).map { $0.query["version"] } == ["1"])
        #expect(model.isEditing && context.announcement == "The note has changed.")
    }

    /// Answers `readNote` for the note "m" only once what it returns has ended.
    private func holdReadingM() -> FakeControl.Hold {
        let hold = FakeControl.Hold()
        control.on(\.readNote) { request in
            let id = try #require(request.parameter)
            if id == "m" { try await hold.wait() }
            return NoteContent(note: Self.note(id, version: "1"), body: "words of \(id)")
        }
        return hold
    }

    @Test func aNoteThatIsReadSlowlyReplacesNoneThatWasOpenedLater() async throws {
        let reading = holdReadingM()
        await openVault()
        async let slow: Void = model.open("m")
        await eventually("m is being read") { control.requests(.readNote).count == 1 }
        await model.open("n")
        model.edit(title: "Bank", body: "words of n and more")
        reading.end()
        await slow
        #expect(model.current?.id == "n" && model.body == "words of n and more")
        #expect(await model.finishEditing())
        #expect(try changes() == ["n": ["words of n and more"]])
    }

    @Test func aNewNoteIsNotReplacedByOneThatIsStillRead() async throws {
        let reading = holdReadingM()
        let saving = FakeControl.Hold()
        control.on(\.addNote) { _ in
            try await saving.wait()
            return NoteSaved(note: Self.note("new", version: "1"))
        }
        await openVault()
        async let slow: Void = model.open("m")
        await eventually("m is being read") { control.requests(.readNote).count == 1 }
        await model.startNew()
        model.edit(title: "New", body: "first")
        await eventually("the delay begins") { clock.sleepers == 1 }
        clock.advance(by: .seconds(1))
        await eventually("it is being saved") { control.requests(.addNote).count == 1 }
        reading.end()
        await slow
        saving.end()
        await eventually("it is saved") { model.saveState == "Saved" }
        #expect(model.current?.id == "new" && model.body == "first")
    }

    @Test func onlyTheNoteThatTheQuestionWasAboutIsRemoved() async throws {
        let reading = holdReadingM()
        control.on(\.removeNote) { _ in DoneReport() }
        await openVault()
        await model.open("n")
        let asked = model.loads
        async let slow: Void = model.open("m")
        await eventually("m is being read") { control.requests(.readNote).count == 2 }
        reading.end()
        await slow
        await model.removeCurrent(of: asked)
        #expect(control.requests(.removeNote).isEmpty && model.current?.id == "m")
        #expect(context.announcement == "The note was closed meanwhile and is not removed.")
        await model.removeCurrent(of: model.loads)
        #expect(control.requests(.removeNote).map(\.parameter) == ["m"] && !model.isEditing)
    }

    @Test func aNoteThatIsOpenedWhileAnotherIsRemovedStaysOpen() async throws {
        let removing = FakeControl.Hold()
        control.on(\.removeNote) { _ in
            try await removing.wait()
            return DoneReport()
        }
        await openVault()
        await model.open("n")
        let asked = model.loads
        async let removed: Void = model.removeCurrent(of: asked)
        await eventually("it is being removed") { control.requests(.removeNote).count == 1 }
        await model.startNew()
        model.edit(title: "New", body: "first")
        removing.end()
        await removed
        #expect(model.isEditing && model.body == "first")
    }

    @Test func lockingEverythingSavesTheNoteFirst() async throws {
        let overview = OverviewModel(context, vault)
        let control = control
        control.on(\.lock) { _ in
            #expect(control.requests(.changeNote).count == 1, "it is saved before the vault is locked")
            control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
            return AppsChanged(apps: [])
        }
        await openVault()
        await model.open("n")
        model.edit(title: "Bank", body: "words and more")
        await overview.lockAll()
        #expect(try changes() == ["n": ["words and more"]])
        #expect(!vault.isOpen && !model.isEditing && context.announcement == "All apps are locked.")
    }

    @Test func aSlowOrFailingSaveDelaysTheLockForTwoSecondsOnlyAndIsReported() async throws {
        let overview = OverviewModel(context, vault)
        let saving = FakeControl.Hold()
        control.on(\.changeNote) { _ in
            try await saving.wait()
            throw ControlError(.vaultLocked, "The vault is locked.")
        }
        control.on(\.lock) { [control] _ in
            control.on(\.vault) { _ in VaultStatus(vault: "v", isOpen: false) }
            return AppsChanged(apps: [])
        }
        await openVault()
        await model.open("n")
        model.edit(title: "Bank", body: "words and more")
        async let done: Void = overview.lockAll()
        await eventually("it is being saved") { control.requests(.changeNote).count == 1 }
        // The pause in typing, and the limit.
        await eventually("the limit begins") { clock.sleepers == 2 }
        #expect(control.requests(.lock).isEmpty)
        clock.advance(by: .seconds(2))
        await done
        #expect(control.requests(.lock).count == 1 && !vault.isOpen && model.body.isEmpty)
        #expect(
            context.announcement == "The vault was locked before the note was saved; its last changes may be lost.")
        saving.end()
    }

    @Test func typingWithoutAPauseIsSavedAfterFiveSeconds() async throws {
        await openVault()
        await model.open("n")
        // Each time before the delay of a second ends. The sixth change, after 4.5 s, has only half a second.
        for number in 1...6 {
            let begun = clock.begun
            model.edit(title: "Bank", body: "words \(number)")
            await eventually("its delay begins") { clock.begun > begun }
            #expect(control.requests(.changeNote).isEmpty)
            clock.advance(by: .milliseconds(900))
        }
        await eventually("it is saved") { model.saveState == "Saved" }
        #expect(try changes()["n"]?.count == 1)
    }

    /// The texts that were sent for each note.
    private func changes() throws -> [String: [String]] {
        try control.requests(.changeNote).reduce(into: [:]) { changes, request in
            changes[request.parameter ?? "", default: []].append(try request.body(as: NoteRequest.self).body)
        }
    }
}
