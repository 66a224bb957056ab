public import ControlAPI
import Localization
public import Observation

/// The notes of the open vault, and the one that is edited. It is saved by itself, a moment after the last change.
@MainActor @Observable
public final class NotesModel {
    /// The pause in typing after which a note is saved.
    static let autosaveDelay = Duration.seconds(1)
    /// How long a change is not saved while the user types without a pause.
    static let autosaveLimit = Duration.seconds(5)

    public private(set) var notes: [NoteReport] = []
    /// The note that is edited; nil: none, or a new one that was not saved yet.
    public private(set) var current: NoteReport?
    /// Whether a note is edited.
    public private(set) var isEditing = false
    public private(set) var title = ""
    public private(set) var body = ""
    /// Increases whenever `title` and `body` were replaced by something that the user did not type here.
    public private(set) var loads = 0
    /// "Saved", "Saving…", or why it is not saved.
    public private(set) var saveState = ""
    /// Words that a note has to contain; empty: all notes.
    public var search = ""
    /// The versions of each note that is kept twice, the original first.
    public internal(set) var versions: [String: [NoteReport]] = [:]
    /// Two versions that are compared; empty if none are.
    public internal(set) var comparison: [NoteVersion] = []

    let context: DesktopContext
    let vault: VaultModel
    @ObservationIgnored private var saved = (title: "", body: "")
    @ObservationIgnored private var autosave: Task<Void, Never>?
    @ObservationIgnored private var isSaving = false
    /// When the oldest change was typed that was not sent yet, by `DesktopTime.uptime`.
    @ObservationIgnored private var unsentSince: Duration?
    /// Increases with each note that the user opens or starts, and with each lock: an older one that is still read is
    /// dropped then.
    @ObservationIgnored private var openings = 0

    public init(_ context: DesktopContext, _ vault: VaultModel) {
        self.context = context
        self.vault = vault
        vault.beforeLock.append { [unowned self] in await save() }
        vault.onLock.append { [unowned self] in wipe() }
    }

    /// Reads the list, newest first, as far as it matches the search.
    public func load() async {
        let words = search
        let list = await vault.read {
            try await context.control.call(
                \.listNotes, query: ListNotesQuery(search: words.isEmpty ? nil : words))
        }
        guard let list, words == search else { return }
        if notes != list.notes { notes = list.notes }
        // What a search finds lacks the other versions.
        if words.isEmpty { versions = NoteCopies.versions(in: list.notes) }
        if list.unreadable > 0 {
            let count = list.unreadable
            context.announce(
                localized(
                    count, one: "\(count) note can't be opened with the keys of this vault and is not shown.",
                    other: "\(count) notes can't be opened with the keys of this vault and are not shown."))
        }
    }

    /// Saves the note that is edited and opens another. Where it can't be saved, it stays open.
    public func open(_ id: String) async {
        openings += 1
        let opening = openings
        guard await finishEditing(), opening == openings else { return }
        let content = await vault.read { try await context.control.call(\.readNote, parameter: id) }
        guard let content, opening == openings else { return }
        begin(content.note, title: content.note.title, body: content.body)
    }

    /// Saves the note that is edited and starts another. Where it can't be saved, it stays open.
    public func startNew() async {
        openings += 1
        let opening = openings
        guard await finishEditing(), opening == openings else { return }
        begin(nil, title: "", body: "")
    }

    /// The user typed. The note is saved after a moment without further changes, and after `autosaveLimit` without one.
    public func edit(title: String, body: String) {
        guard isEditing, (title, body) != (self.title, self.body) else { return }
        (self.title, self.body) = (title, body)
        saveState = localized("Not saved yet")
        autosave?.cancel()
        let now = context.time.uptime()
        let since = unsentSince ?? now
        unsentSince = since
        let delay = max(.zero, min(Self.autosaveDelay, since + Self.autosaveLimit - now))
        autosave = Task { [weak self, sleep = context.time.sleep] in
            guard (try? await sleep(delay)) != nil, !Task.isCancelled, let self else { return }
            // In a task of its own, which typing doesn't cancel: the daemon may have saved what a cancelled request has
            // sent, and the next save would add the note again.
            Task { await self.save() }
        }
    }

    /// Saves what was changed, also meanwhile, and closes the editor.
    ///
    /// - Returns: false if it could not be saved. The editor stays open then, because closing it would lose the text.
    @discardableResult
    public func finishEditing() async -> Bool {
        let loaded = loads
        repeat {
            autosave?.cancel()
            guard await save() else { return false }
        } while loaded == loads && isEditing && saved != (title, body)
        if loaded == loads, isEditing { begin(nil, title: "", body: "", isEditing: false) }
        return true
    }

    /// Saves the note that is edited, if it was changed. What is typed meanwhile is saved afterwards.
    ///
    /// - Returns: false if it could not be saved.
    @discardableResult
    public func save() async -> Bool {
        while isSaving { try? await context.time.sleep(.milliseconds(50)) }
        guard isEditing, saved != (title, body) else { return true }
        isSaving = true
        defer { isSaving = false }
        let (title, body, before, loaded) = (title, body, current, loads)
        unsentSince = nil
        saveState = localized("Saving…")
        let request = NoteRequest(
            title: title.isEmpty ? Self.firstLine(body) : title, body: body, replaces: before?.version)
        let reply = await vault.read {
            if let before {
                try await context.control.call(\.changeNote, parameter: before.id, body: request)
            } else {
                try await context.control.call(\.addNote, body: request)
            }
        }
        // The reply is not about another note that was opened meanwhile.
        guard loaded == loads else { return true }
        guard let reply else {
            saveState = localized("Not saved")
            return false
        }
        saved = (title, body)
        current = reply.note
        saveState = localized(self.title == title && self.body == body ? "Saved" : "Not saved yet")
        if let conflict = reply.conflict { context.announce(localized(written: conflict)) }
        await load()
        return true
    }

    /// Removes the note that is edited, unless another device has changed it.
    ///
    /// - Parameter loaded: `loads` when the user asked for it. A note that was opened since stays.
    public func removeCurrent(of loaded: Int) async {
        if loaded == loads { autosave?.cancel() }
        // A save that is under way changes the version.
        while isSaving { try? await context.time.sleep(.milliseconds(50)) }
        guard loaded == loads else {
            return context.announce(localized("The note was closed meanwhile and is not removed."))
        }
        if let current {
            let done: DoneReport? = await vault.read {
                try await context.control.call(
                    \.removeNote, parameter: current.id, query: RemoveNoteQuery(version: current.version))
            }
            guard done != nil else { return }
            context.announce(localized("The note is removed."))
        }
        if loaded == loads { begin(nil, title: "", body: "", isEditing: false) }
        await load()
    }

    private func begin(_ note: NoteReport?, title: String, body: String, isEditing: Bool = true) {
        current = note
        (self.title, self.body) = (title, body)
        saved = (title, body)
        saveState = ""
        unsentSince = nil
        self.isEditing = isEditing
        comparison = []
        loads += 1
    }

    /// The vault is locked: nothing of it stays on the screen. What was not saved is lost.
    private func wipe() {
        if isEditing, saved != (title, body) {
            context.announce(
                localized("The vault was locked before the note was saved; its last changes may be lost."))
        }
        openings += 1
        autosave?.cancel()
        notes = []
        versions = [:]
        search = ""
        begin(nil, title: "", body: "", isEditing: false)
    }

    static func firstLine(_ body: String) -> String {
        let line = body.split(whereSeparator: \.isNewline).first.map { String($0.prefix(60)) } ?? ""
        return line.isEmpty ? "Untitled" : line
    }
}
