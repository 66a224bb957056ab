import ArgumentParser
import BlockingThread
import ControlAPI
import Foundation
import LocalControl

struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Notes that are sealed, their titles too.",
        discussion: """
            A NOTE is its id, the beginning of it, or its title.

              echo 'the safe: 12-34-56' | applocker note add Safe -
              applocker note list
              applocker note edit Safe
            """,
        subcommands: [Add.self, List.self, Show.self, Edit.self, Remove.self], defaultSubcommand: List.self)

    /// Other programs could read a text in an argument.
    static func requireInputOrEditor(_ source: String?) throws {
        guard source == nil || source == "-" else {
            throw ValidationError(
                "The text of a note is read from standard input (-) or your editor, not from an argument.")
        }
    }

    static let noteHelp = ArgumentHelp("The note's id, the beginning of it, or its title.", valueName: "note")

    struct Add: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a note.",
            discussion: """
                  applocker note add 'Safe' -          the text from standard input
                  applocker note add 'Safe'            the text in your editor
                """)

        @Argument(help: "The title.") var title: String
        @Argument(help: "\"-\" for standard input; without it, your editor.") var source: String?
        @OptionGroup var options: CommonOptions

        func validate() throws { try NoteCommand.requireInputOrEditor(source) }

        func run() async throws {
            let saved: NoteSaved
            if source == "-" {
                let request = NoteRequest(title: title, body: try await StandardInput.text(limit: 1 << 20))
                saved = try await vault.use { try await client.call(\.addNote, body: request) }
            } else {
                // A wrong passcode is reported before the text is written.
                try await vault.openIfLocked()
                saved = try await NoteEditor.edit(title: title, body: "") { title, body in
                    try await OpenVault(client: client, passcodes: .terminal).save {
                        try await client.call(\.addNote, body: NoteRequest(title: title, body: body))
                    }
                }
            }
            try saved.print("Added", output)
        }
    }

    struct List: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "List notes, the newest first.",
            discussion: """
                Notes of one title also show the first line of their text. Other commands accept the ID.

                  applocker note list
                  applocker note list --search 'safe code'     every word has to be in it
                """)

        @Option(help: "Words that all occur in the title or the text.") var search: String?
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let list = try await vault.use { try await client.call(\.listNotes, query: ListNotesQuery(search: search)) }
            if output.json { return try Output.standard.json(list) }
            Output.errors.warn(unreadable: list.unreadable, "note")
            guard !list.notes.isEmpty else {
                return Output.standard.line(search == nil ? "There are no notes yet." : "No note matches.")
            }
            Output.standard.lines(list.lines(Paint(.standard)))
        }
    }

    struct Show: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a note, or copy it.",
            discussion: """
                  applocker note show Safe
                  applocker note show Safe --copy              to the clipboard, for as long as the settings say
                  applocker note show Safe --copy --line 2     only its second line
                """)

        @Argument(help: NoteCommand.noteHelp) var note: String
        @Flag(
            help: "Copy it to the clipboard instead, which is cleared after a while (30 s; see `applocker settings`).")
        var copy = false
        @Option(help: "Only this line of it; the first is 1.") var line: Int?
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let content = try await vault.use { try await client.call(\.readNote, parameter: note) }
            let text = try chosen(content.body)
            if copy { return try await copy(text, of: content.note, client) }
            if output.json { return try Output.standard.json(content) }
            // The note's text, without characters that control the terminal.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let isTerminal = isatty(STDOUT_FILENO) == 1
            Output.standard.line(
                lines.map { isTerminal ? String($0).terminalSafeKeepingTabs : String($0) }.joined(separator: "\n"))
        }

        private func chosen(_ body: String) throws -> String {
            guard let line else { return body }
            let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.indices.contains(line - 1) else {
                throw CommandLineError(
                    .usage, code: "no_such_line", "The note has \(lines.count) lines; there is no line \(line).")
            }
            return String(lines[line - 1])
        }

        private func copy(_ text: String, of note: NoteReport, _ client: ControlClient) async throws {
            let settings = try await client.call(\.settings)
            try await runBlocking { try Clipboard.hold(Data(text.utf8), seconds: settings.clipboardSeconds) }
            if output.json { return try Output.standard.json(note) }
            let what = line.map { "Line \($0) of \"\(note.title.terminalSafe)\"" } ?? "\"\(note.title.terminalSafe)\""
            Output.standard.line(
                "\(what) is on the clipboard for \(TimeText.spoken(seconds: settings.clipboardSeconds)).")
        }
    }

    struct Edit: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change a note in your editor ($VISUAL, $EDITOR, else vi).",
            discussion: """
                The text stays in memory: in a private file of a memory file system, which is removed afterwards.

                  applocker note edit Safe
                  applocker note edit Safe -            the new text from standard input
                """)

        @Argument(help: NoteCommand.noteHelp) var note: String
        @Argument(help: "\"-\" for standard input.") var source: String?
        @Option(help: "Another title.") var title: String?
        @OptionGroup var options: CommonOptions

        func validate() throws { try NoteCommand.requireInputOrEditor(source) }

        func run() async throws {
            let current = try await vault.use { try await client.call(\.readNote, parameter: note) }
            if source != "-", title == nil {
                return try await NoteEditor.edit(title: current.note.title, body: current.body) { title, body in
                    try await save(title, body, as: current)
                }
            }
            let body = source == "-" ? try await StandardInput.text(limit: 1 << 20) : current.body
            try await save(title ?? current.note.title, body, as: current)
        }

        private func save(_ title: String, _ body: String, as current: NoteContent) async throws {
            guard title != current.note.title || body != current.body else {
                if output.json { return try Output.standard.json(NoteSaved(note: current.note)) }
                return Output.standard.line("Nothing was changed.")
            }
            let request = NoteRequest(title: title, body: body, replaces: current.note.version)
            // The vault may have locked itself while the editor was open; the text must not be lost then.
            let saved = try await OpenVault(client: client, passcodes: .terminal).save {
                try await client.call(\.changeNote, parameter: current.note.id, body: request)
            }
            try saved.print("Saved", output)
        }
    }

    struct Remove: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove notes.",
            discussion: """
                  applocker note remove Safe 3f9a
                  applocker note remove Safe --yes
                """)

        @Argument(help: NoteCommand.noteHelp) var notes: [String]
        @Flag(help: "Don't ask.") var yes = false
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let found = try await vault.find(notes) { client, reference in
                let note = try await client.call(\.readNote, parameter: reference).note
                return (note.id, note)
            }
            let names = found.map(\.quotedName).joined(separator: ", ")
            try await Confirmation.require("Remove \(names)? This can't be undone.", isConfirmed: yes)
            for note in found {
                try await client.call(\.removeNote, parameter: note.id, query: RemoveNoteQuery(version: note.version))
            }
            if output.json { return try Output.standard.json(NoteList(notes: found)) }
            Output.standard.line("Removed \(names.terminalSafe).")
        }
    }
}

extension NoteSaved {
    fileprivate func print(_ what: String, _ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        if let conflict { Output.errors.line(Paint(.errors).warning(conflict.terminalSafe)) }
        Output.standard.line("\(what) \(note.quotedName.terminalSafe).")
    }
}

extension String {
    /// Like `terminalSafe`, but keeps tabs.
    fileprivate var terminalSafeKeepingTabs: String {
        split(separator: "\t", omittingEmptySubsequences: false).map { String($0).terminalSafe }.joined(separator: "\t")
    }
}

enum StandardInput {
    /// - Throws: `CommandLineError` for more than the limit, in bytes, and for text that isn't UTF-8.
    static func text(limit: Int) async throws -> String {
        let bytes: [UInt8] = try await runBlocking {
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while bytes.count <= limit {
                let count = read(STDIN_FILENO, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    throw CommandLineError(
                        .refused, code: "failed",
                        "Standard input can't be read (\(String(cString: strerror(errno)))); nothing was changed.")
                }
                guard count > 0 else { break }
                bytes += piece.prefix(count)
            }
            return bytes
        }
        guard bytes.count <= limit else {
            throw CommandLineError(
                .usage, code: "too_large",
                "A note holds at most \(limit) bytes; add longer content with `applocker file add`.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandLineError(
                .usage, code: "not_text", "Standard input is not UTF-8 text; add it with `applocker file add`.")
        }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
