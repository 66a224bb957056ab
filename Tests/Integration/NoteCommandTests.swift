import Foundation
import Glibc
import SystemTestSupport
import TestSupport
import Testing

@Suite("The command line: notes")
struct NoteCommandTests {
    @Test("Added, listed, found, shown, changed and removed")
    func notes() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]

        let added = try await applocker.run(
            ["note", "add", "Safe", "-", "--json"], input: "the code:\n\t12-34-56\n", passcodes: right)
        #expect(added.status == 0, "\(added.errors)")
        let note = try #require(try added.json()["note"] as? [String: Any])
        let id = try #require(note["id"] as? String)
        #expect(note["title"] as? String == "Safe" && note["revision"] as? Int == 1 && note["size"] as? Int == 19)
        try await applocker.addNote("Crème brûlée 🍮", "Großer Topf")
        try await applocker.addNote("Empty", "")
        #expect(try await applocker.noteTitles() == ["Empty", "Crème brûlée 🍮", "Safe"])
        let table = try await applocker.run("note", "list").output
        #expect(table.contains("TITLE") && table.contains(id.prefix(8)) && !table.contains("12-34-56"))

        func found(_ words: String) async throws -> Int? {
            let list = try await applocker.run("note", "list", "--search", words, "--json")
            #expect(list.status == 0)
            return (try list.json()["notes"] as? [Any])?.count
        }
        #expect(try await found("CODE safe") == 1)
        #expect(try await found("creme") == 1)
        #expect(try await found("topf safe") == 0)
        #expect(try await applocker.run("note", "list", "--search", "nowhere").output == "No note matches.\n")

        for name in ["Safe", id, String(id.prefix(6))] {
            #expect(try await applocker.run("note", "show", name).output == "the code:\n\t12-34-56\n", "\(name)")
        }
        let shown = try await applocker.run("note", "show", "Safe", "--json").json()
        #expect(shown["body"] as? String == "the code:\n\t12-34-56")

        let changed = try await applocker.run(
            ["note", "edit", "Safe", "-", "--title", "Vault door", "--json"], input: "new")
        #expect(changed.status == 0, "\(changed.errors)")
        #expect((try changed.json()["note"] as? [String: Any])?["revision"] as? Int == 2)
        #expect(try await applocker.run("note", "edit", "Vault door", "--title", "Safe").status == 0)
        #expect(try await applocker.run("note", "show", "Safe").output == "new\n")
        let same = try await applocker.run(["note", "edit", "Safe", "-"], input: "new\n")
        #expect(same.status == 0 && same.output == "Nothing was changed.\n")

        #expect(try await applocker.run("note", "remove", "Safe", "--json").code == "confirmation_needed")
        #expect(try await applocker.run("note", "remove", "Safe", "no such", "--yes").status == 4)
        #expect(try await applocker.noteTitles().count == 3, "a wrong name removes nothing")
        let removed = try await applocker.run("note", "remove", "Safe", "Empty", "Safe", "--yes", "--json")
        #expect(try removed.status == 0 && (removed.json()["notes"] as? [Any])?.count == 2)
        #expect(try await applocker.noteTitles() == ["Crème brûlée 🍮"])
        try await applocker.end()
    }

    @Test("Notes of one title are distinguished by their first lines and ids, also where one is removed")
    func sharedTitle() async throws {
        let applocker = try await CommandLineFixture()
        for (title, body) in [("Bank", "Lisbon\n12"), ("Bank", "Porto\n34"), ("Safe", "56")] {
            try await applocker.addNote(title, body)
        }
        let rows = try await applocker.run("note", "list").output.split(separator: "\n")
        #expect(rows.count == 4 && rows.contains { $0.hasSuffix("Safe") }, "\(rows)")
        let row = try #require(rows.first { $0.hasSuffix("Bank   Porto") })
        let id = try #require(row.split(separator: " ").first.map(String.init))
        #expect(try await applocker.run("note", "show", id).output == "Porto\n34\n")
        let list = try await applocker.run("note", "list", "--json").json()["notes"] as? [[String: Any]]
        #expect(list?.compactMap { $0["preview"] as? String } == ["56", "Porto", "Lisbon"])

        let asked = try await applocker.run("note", "remove", id)
        #expect(asked.status == 2 && asked.errors.contains("Remove \"Bank\" (\(id))?"), "\(asked.errors)")
        #expect(try await applocker.run("note", "remove", id, "--yes").output == "Removed \"Bank\" (\(id)).\n")
        #expect(try await applocker.run("note", "show", "Bank").output == "Lisbon\n12\n")
        try await applocker.end()
    }

    @Test("An error is reported in one sentence, with its exit status, and changes nothing")
    func refusals() async throws {
        let applocker = try await CommandLineFixture()
        try await applocker.addNote("Twice", "one")
        try await applocker.addNote("Twice", "two")
        let wrong = try await applocker.run("note", "list", "--json", passcodes: ["not it"])
        #expect(wrong.status == 1 && wrong.code == "wrong_passcode", "also where the vault is open")

        struct Case {
            var arguments: [String]
            var input = ""
            var status: Int32
            var code: String
        }
        let cases = [
            Case(arguments: ["note", "add", "t", "the text"], status: 2, code: "usage"),
            Case(arguments: ["note", "add", "", "-"], input: "x", status: 2, code: "bad_request"),
            Case(
                arguments: ["note", "add", String(repeating: "t", count: 1_001), "-"], status: 2, code: "bad_request"),
            Case(
                arguments: ["note", "add", "t", "-"], input: String(repeating: "x", count: 1 << 20) + "xx", status: 2,
                code: "too_large"),
            Case(arguments: ["note", "show", "no such"], status: 4, code: "no_such_item"),
            Case(arguments: ["note", "edit", "no such", "-"], input: "x", status: 4, code: "no_such_item"),
            Case(arguments: ["note", "remove", "no such", "--yes"], status: 4, code: "no_such_item"),
            Case(arguments: ["note", "show", "Twice"], status: 4, code: "ambiguous_item"),
            Case(arguments: ["note", "edit", "Twice", "-"], input: "x", status: 4, code: "ambiguous_item"),
        ]
        for one in cases {
            let refused = try await applocker.run(one.arguments + ["--json"], input: one.input)
            let what = one.arguments.map { $0.prefix(20) }.joined(separator: " ")
            #expect(refused.status == one.status && refused.code == one.code, "\(what): \(refused.output)")
            if one.code != "usage" { #expect(refused.isOneSentence, "\(refused.errors)") }
        }
        let bytes = try ChildProcess(
            "sh", ["-c", #"printf 'a\377b' | "$0" note add t - --json"#, BuiltProducts.path("applocker")],
            environment: applocker.environment)
        #expect(try await applocker.finish(bytes).code == "not_text")
        #expect(try await applocker.noteTitles() == ["Twice", "Twice"])
        let longest = String(repeating: "x", count: 1 << 20)
        #expect(try await applocker.run(["note", "add", "long", "-"], input: longest).status == 0)
        #expect(try await applocker.run("note", "show", "long").output.utf8.count == (1 << 20) + 1)
        try await applocker.end()
    }

    // MARK: The editor

    /// A scripted editor: it stores its file's path, writes a new text into the file, and waits for `finishEditing`.
    private static let editor = #"""
        #!/bin/sh
        printf '%s\n' "$1" > "$HOME/editing.new" && mv "$HOME/editing.new" "$HOME/editing"
        printf 'Plan\n\nMar%s-%s\n' "$HALF" "$OTHER" > "$1"
        while [ ! -e "$HOME/go" ]; do sleep 0.02; done
        exit "$STATUS"
        """#

    private struct Editing {
        let child: ChildProcess
        let file: String

        var folder: String { (file as NSString).deletingLastPathComponent }
    }

    /// Starts `note edit` and returns when the editor has written its text.
    private func edit(
        _ note: String, _ applocker: CommandLineFixture, text: (String, String), status: Int = 0
    ) async throws -> Editing {
        for name in ["editing", "go"] { unlink(applocker.directory.path(name)) }
        let program = try applocker.directory.write(Self.editor, to: "editor", permissions: 0o755)
        let child = try applocker.start(
            ["note", "edit", note, "--json"], input: .nothing,
            environment: ["EDITOR": program, "HALF": text.0, "OTHER": text.1, "STATUS": "\(status)"])
        let place = applocker.directory.path("editing")
        let hasBegun = await eventually("the editor runs") { access(place, F_OK) == 0 }
        try #require(hasBegun, "\(child.errorOutput)")
        let file = try String(contentsOfFile: place, encoding: .utf8).trimmingCharacters(in: .newlines)
        await eventually("the text is written") {
            try String(contentsOfFile: file, encoding: .utf8).contains("Mar\(text.0)")
        }
        return Editing(child: child, file: file)
    }

    private func finishEditing(_ applocker: CommandLineFixture) throws { try applocker.directory.write("", to: "go") }

    @Test("While it is edited the text is only in a private file in memory, and removed afterwards")
    func editing() async throws {
        let applocker = try await CommandLineFixture()
        let (half, other, old) = (Self.word(), Self.word(), Self.word())
        let stamp = try applocker.directory.write("", to: "stamp")
        try await applocker.addNote("Plan", "Old \(old)")
        let editing = try await edit("Plan", applocker, text: (half, other))
        #expect(editing.folder.hasPrefix("/dev/shm/"), "\(editing.file)")
        for (path, mode) in [(editing.folder, 0o700), (editing.file, 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
        let places = ["/tmp", "/var/tmp"]
        #expect(try await applocker.files(holding: "Mar\(half)-\(other)", below: places, newerThan: stamp) == [])
        #expect(try await applocker.files(holding: old, below: places, newerThan: stamp) == [])
        let process = "/proc/\(editing.child.pid)"
        #expect(try !String(contentsOfFile: "\(process)/cmdline", encoding: .utf8).contains(old))
        if geteuid() == 0 {
            #expect(try !String(contentsOfFile: "\(process)/environ", encoding: .utf8).contains(old))
        } else {
            #expect(open("\(process)/environ", O_RDONLY) == -1 && errno == EACCES, "its own user can't read it")
        }

        // The note is changed meanwhile: both versions are kept.
        #expect(try await applocker.run(["note", "edit", "Plan", "-"], input: "from elsewhere").status == 0)
        try finishEditing(applocker)
        let saved = try await applocker.finish(editing.child)
        #expect(saved.status == 0, "\(saved.errors)")
        #expect((try saved.json()["conflict"] as? String)?.contains("Both versions are kept") == true)
        #expect(access(editing.folder, F_OK) != 0)
        #expect(try await applocker.run("note", "show", "Plan").output == "from elsewhere\n")
        let titles = try await applocker.noteTitles()
        let copy = try #require(titles.first { $0.hasPrefix("Plan (conflict") })
        #expect(titles.count == 2)
        #expect(try await applocker.run("note", "show", copy).output == "Mar\(half)-\(other)\n")

        // Without a conflict it is the same note.
        let again = try await edit("Plan", applocker, text: (half, "again"))
        try finishEditing(applocker)
        #expect(try await applocker.finish(again.child).status == 0)
        #expect(try await applocker.run("note", "show", "Plan").output == "Mar\(half)-again\n")
        #expect(try await applocker.files(holding: half, below: places, newerThan: stamp) == [])
        try await applocker.end()
    }

    @Test("An editor that fails, or is interrupted, leaves the note unchanged and no text on disk")
    func failedEditing() async throws {
        let applocker = try await CommandLineFixture()
        try await applocker.addNote("Plan", "as it was")
        try await mistypedPasscode(applocker)
        let failing = try await edit("Plan", applocker, text: (Self.word(), "b"), status: 3)
        try finishEditing(applocker)
        let failed = try await applocker.finish(failing.child)
        #expect(failed.status == 1 && failed.code == "editor_failed" && failed.isOneSentence)
        #expect(access(failing.folder, F_OK) != 0)

        for number in [SIGTERM, SIGHUP, SIGINT] {
            let interrupted = try await edit("Plan", applocker, text: (Self.word(), "b"))
            // Ctrl-C is sent to all of the terminal's programs.
            if number == SIGINT { kill(-interrupted.child.pid, number) } else { interrupted.child.kill(number) }
            let isGone = await eventually("the text is removed after signal \(number)") {
                access(interrupted.folder, F_OK) != 0
            }
            let ended = try await applocker.finish(interrupted.child)
            #expect(ended.status == 1 && ended.code == "editor_failed", "\(ended.output)")
            if !isGone { try? FileManager.default.removeItem(atPath: interrupted.folder) }
        }
        for (editor, code) in [("sh -c ': > \"$1\"' sh", "no_title"), ("/nonexistent/editor", "editor_failed")] {
            let refused = try await applocker.run(
                ["note", "edit", "Plan", "--json"], input: "", environment: ["EDITOR": editor])
            #expect(refused.status == 1 && refused.code == code, "\(refused.output)")
        }
        #expect(try await applocker.run("note", "show", "Plan").output == "as it was\n")

        // A new note: a wrong passcode is detected before anything is written, not after.
        let ran = applocker.directory.path("ran")
        let writing = ["EDITOR": "sh -c 'touch \(ran); printf \"New\\n\\ntext\\n\" > \"$1\"' sh"]
        #expect(try await applocker.run("vault", "lock").status == 0)
        for (passcodes, code) in [(["not it"], "wrong_passcode"), (nil, "no_terminal")] {
            let refused = try await applocker.run(
                ["note", "add", "New", "--json"], input: "", environment: writing, passcodes: passcodes)
            #expect(refused.code == code && access(ran, F_OK) != 0, "\(refused.output)")
        }
        let added = try await applocker.run(
            ["note", "add", "Draft"], input: "", environment: writing, passcodes: [CommandLineFixture.passcode])
        #expect(added.status == 0 && access(ran, F_OK) == 0, "\(added.errors)")
        #expect(try await applocker.run("note", "show", "New").output == "text\n")
        #expect(try await applocker.noteTitles() == ["New", "Plan"])
        try await applocker.end()
    }

    @Test("A text that can't be saved, read or written is reported, and nothing is lost")
    func failedSaving() async throws {
        let applocker = try await CommandLineFixture()
        try await applocker.addNote("Plan", "as it was")
        let editor = #"sh -c '{ printf "Long\n\n"; head -c 1100000 /dev/zero | tr "\0" a; } > "$1"' sh"#
        let refused = try await applocker.run(["note", "edit", "Plan"], input: "", environment: ["EDITOR": editor])
        #expect(refused.status != 0)
        let path = try #require(
            refused.errors.firstMatch(of: /Your text is in (\/dev\/shm\/\S+\/note\.txt), in memory/)?.1)
        let kept = try Data(contentsOf: URL(fileURLWithPath: String(path)))
        #expect(kept.count == 1_100_006 && kept.starts(with: Data("Long\n\naaa".utf8)))
        try FileManager.default.removeItem(atPath: (String(path) as NSString).deletingLastPathComponent)

        let program = try BuiltProducts.path("applocker")
        for (command, reason) in [
            ("note edit Plan - < /", "Standard input can't be read"),
            ("note show Plan > /dev/full", "The output could not be written"),
        ] {
            let outcome = try await ChildProcess.run(
                "/bin/sh", ["-c", "'\(program)' \(command)"], environment: applocker.environment)
            #expect(outcome.exit == .code(1) && outcome.errorOutput.contains(reason), "\(outcome.errorOutput)")
        }
        #expect(try await applocker.run("note", "show", "Plan").output == "as it was\n")
        try await applocker.end()
    }

    /// The vault locked itself while the editor was open, and then the passcode is mistyped: the text is kept.
    private func mistypedPasscode(_ applocker: CommandLineFixture) async throws {
        let terminal = try TestTerminal()
        let program = try applocker.directory.write(Self.editor, to: "editor", permissions: 0o755)
        for name in ["editing", "go"] { unlink(applocker.directory.path(name)) }
        let more = ["EDITOR": program, "HALF": "text", "OTHER": "b", "STATUS": "0"]
        let child = try terminal.start(
            BuiltProducts.path("applocker"), ["note", "edit", "Plan"],
            environment: applocker.environment.merging(more) { $1 })
        await eventually("the editor runs") { access(applocker.directory.path("editing"), F_OK) == 0 }
        #expect(try await applocker.run("vault", "lock").status == 0)
        try finishEditing(applocker)
        for (count, passcode) in [(1, "not it"), (2, CommandLineFixture.passcode)] {
            await terminal.shows("Passcode: ", times: count)
            await eventually { !terminal.echoes }
            terminal.type(passcode + "\n")
        }
        #expect(try await child.wait() == .code(0), "\(terminal.text)")
        #expect(try await applocker.run("note", "show", "Plan").output == "Martext-b\n")
        #expect(try await applocker.run(["note", "edit", "Plan", "-"], input: "as it was").status == 0)
    }

    private static func word() -> String { UUID().uuidString }

    @Test(
        "A copied line is on the desktop's clipboard for the time of the settings, and is then removed",
        .requires(.program("Xvfb"), .program("xclip")))
    func copied() async throws {
        let applocker = try await CommandLineFixture()
        try await applocker.addNote("Safe", "for the door\n12-34-56")
        func keep(_ time: String) async throws {
            let set = try await applocker.run(
                "settings", "set", "--clipboard", time, passcodes: [CommandLineFixture.passcode])
            #expect(set.status == 0, "\(set.errors)")
        }
        try await keep("5m")
        let nowhere = try await applocker.run("note", "show", "Safe", "--copy")
        #expect(nowhere.status == 1 && nowhere.errors.contains("Nothing was copied"), "\(nowhere.errors)")

        let server = try await XServer()
        let environment = applocker.environment.merging([
            "DISPLAY": server.display, "GDK_BACKEND": "x11", "GTK_A11Y": "none", "GSETTINGS_BACKEND": "memory",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:", "LC_ALL": "C.UTF-8",
        ]) { $1 }
        func pasted() async throws -> String {
            try await ChildProcess.run("xclip", ["-selection", "clipboard", "-out"], environment: environment).output
        }
        func copy(saying time: String) async throws {
            let copied = try await ChildProcess.run(
                BuiltProducts.path("applocker"), ["note", "show", "Safe", "--copy", "--line", "2"],
                environment: environment)
            #expect(copied.exit == .code(0), "\(copied.errorOutput)")
            #expect(!copied.output.contains("12-34-56") && copied.output.contains(time), "\(copied.output)")
        }
        try await copy(saying: "5 min")
        #expect(try await pasted() == "12-34-56")
        // These seconds pass: the program that holds the clipboard has no other clock.
        try await keep("5s")
        try await copy(saying: "5 s")
        await eventually("the clipboard is empty again") { try await pasted().isEmpty }
        try await applocker.end()
        _ = server.process.isRunning
    }
}
