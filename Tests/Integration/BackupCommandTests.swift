import Foundation
import SystemTestSupport
import TestSupport
import Testing

@Suite("The command line: backups")
struct BackupCommandTests {
    /// A list, a category, a note and a file.
    private func filled() async throws -> CommandLineFixture {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let diary = try applocker.copy(of: "/usr/bin/readlink", as: "Diary")
        try #require(try await applocker.run("add", diary, passcodes: right).status == 0)
        try #require(try await applocker.run("category", "set", "words", "Diary", passcodes: right).status == 0)
        try await applocker.addNote("Safe", "Geheimmarke 12-34-56")
        let file = try applocker.directory.write(String(repeating: "Dateimarke ", count: 1_000), to: "letter.txt")
        try #require(try await applocker.run("file", "add", file).status == 0)
        return applocker
    }

    /// All that an import could change, as text.
    private func everything(_ applocker: CommandLineFixture) async throws -> [String] {
        var all: [String] = []
        for command in [
            ["note", "list"], ["file", "list"], ["apps", "--listed"], ["category", "list"], ["settings", "show"],
        ] {
            let shown = try await applocker.run(command + ["--json"], input: "")
            try #require(shown.status == 0, "\(command): \(shown.errors)")
            all.append(shown.output)
        }
        return all
    }

    private func export(_ applocker: CommandLineFixture, _ words: [String] = [], passcodes: [String]) async throws
        -> (path: String, outcome: CommandLineFixture.Outcome)
    {
        let path = applocker.directory.path("\(UUID().uuidString).aplockerbackup")
        let outcome = try await applocker.run(["backup", "export", path] + words, input: "", passcodes: passcodes)
        return (path, outcome)
    }

    @Test("Exported under the passcode or a passphrase, imported as a whole after a preview")
    func exportAndImport() async throws {
        let applocker = try await filled()
        let right = [CommandLineFixture.passcode]
        let (path, outcome) = try await export(applocker, ["--json"], passcodes: right)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let reply = try outcome.json()
        #expect(reply["apps"] as? Int == 1 && reply["records"] as? Int == 2 && reply["blobs"] as? Int == 1)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.starts(with: Array("APLK".utf8) + [2, 1]) && bytes.count == reply["size"] as? Int)
        for word in ["Geheimmarke", "Dateimarke", "letter.txt", "Diary", "words"] {
            #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) is in clear")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let passing = applocker.directory.path("state/blobs/passing")
        #expect(try FileManager.default.contentsOfDirectory(atPath: passing).isEmpty)

        let again = try await applocker.run(["backup", "export", path, "--json"], input: "", passcodes: right)
        #expect(again.status == 2 && again.code == "exists")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        let wrong = try await export(applocker, ["--json"], passcodes: ["not it"])
        #expect(wrong.outcome.status == 1 && wrong.outcome.code == "wrong_passcode")
        #expect(access(wrong.path, F_OK) != 0, "no file is left")
        let nowhere = applocker.directory.path("no/such/folder")
        #expect(try await applocker.run("backup", "export", nowhere, passcodes: right).status == 1)

        // Meanwhile one note is changed, one is new, the file and the app are removed.
        #expect(try await applocker.run(["note", "edit", "Safe", "-"], input: "newer").status == 0)
        try await applocker.addNote("Later", "later")
        #expect(try await applocker.run("file", "remove", "letter.txt", "--yes").status == 0)
        #expect(try await applocker.run("remove", "Diary", passcodes: right).status == 0)
        let before = try await everything(applocker)

        let trial = try await applocker.run("backup", "import", path, "--dry-run", passcodes: right)
        #expect(trial.status == 0, "\(trial.errors)")
        #expect(trial.output.contains("would:") && trial.output.contains("add to the list: Diary"))
        #expect(trial.output.contains("add 1 notes, files and photos"))
        let replacing = try await applocker.run(
            "backup", "import", path, "--replace", "--dry-run", "--json", passcodes: right)
        let plan = try replacing.json()
        #expect(plan["recordsAdded"] as? Int == 2 && plan["recordsRemoved"] as? Int == 1)
        let unasked = try await applocker.run("backup", "import", path, "--json", passcodes: right)
        #expect(unasked.status == 2 && unasked.code == "confirmation_needed")
        let both = try await applocker.run("backup", "import", path, "--merge", "--replace", "--yes", passcodes: right)
        #expect(both.status == 2)
        #expect(try await everything(applocker) == before)

        let merged = try await applocker.run("backup", "import", path, "--merge", "--yes", "--json", passcodes: right)
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(try merged.json()["appsAdded"] as? [String] == ["Diary"])
        #expect(try await applocker.run("note", "show", "Safe").output == "newer\n")
        #expect(try await applocker.noteTitles().sorted() == ["Later", "Safe"])
        #expect(
            try await applocker.run("file", "get", "letter.txt", "-o", "-").output
                == String(repeating: "Dateimarke ", count: 1_000))

        let replaced = try await applocker.run("backup", "import", path, "--replace", "--yes", passcodes: right)
        #expect(replaced.status == 0 && replaced.output.contains("remove 1 notes"), "\(replaced.errors)")
        #expect(try await applocker.noteTitles() == ["Safe"])
        #expect(try await applocker.run("note", "show", "Safe").output == "Geheimmarke 12-34-56\n")
        #expect(try await applocker.run("category", "list").output.contains("words"))
        let log = try await applocker.run("log").output
        #expect(log.contains("backup_exported") && log.contains("backup_imported"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: passing).isEmpty)
        try await applocker.end()
    }

    @Test("A backup that can't be opened is refused in one sentence, and nothing is changed")
    func refusals() async throws {
        let applocker = try await filled()
        let right = CommandLineFixture.passcode
        let (path, outcome) = try await export(applocker, ["--passphrase"], passcodes: [right, "a longer passphrase"])
        #expect(outcome.status == 0 && outcome.output.contains("opens with its passphrase"), "\(outcome.errors)")
        let backup = try Data(contentsOf: URL(fileURLWithPath: path))
        try await applocker.addNote("Later", "later")
        let before = try await everything(applocker)

        func refused(
            _ bytes: Data, _ what: Comment, passphrase: String = "a longer passphrase"
        ) async throws -> String {
            let file = applocker.directory.path("damaged")
            try bytes.write(to: URL(fileURLWithPath: file))
            let outcome = try await applocker.run(
                ["backup", "import", file, "--replace", "--yes", "--json", "--passphrase"], input: "",
                passcodes: [right, passphrase])
            #expect(outcome.status == 1, what)
            #expect(outcome.isOneSentence, "\(what): \(outcome.errors)")
            return outcome.errors
        }
        let other = try await refused(backup, "another passphrase", passphrase: "another passphrase")
        #expect(other.contains("passphrase does not open"))
        var flipped = backup
        flipped[backup.count - 100] ^= 1
        let damaged = try await refused(flipped, "a flipped bit")
        #expect(damaged.contains("The backup is damaged") && damaged.contains("another copy"), "\(damaged)")
        for place in [8, 12, 13] {
            var start = backup
            start[place] ^= 0x41
            let sentence = try await refused(start, "byte \(place) of its beginning")
            #expect(sentence.contains("backup") && !sentence.contains("slot"), "\(sentence)")
        }
        #expect(try await refused(backup.dropLast(30), "truncated") != other)
        var version = backup
        version[4] = 3
        #expect(try await refused(version, "version 3").contains("3"))
        let folder = try await applocker.run(
            "backup", "import", applocker.directory.path, "--yes", "--json", passcodes: [right])
        #expect(folder.status == 2 && folder.code == "not_readable")
        let absent = try await applocker.run("backup", "import", "/nonexistent", "--yes", "--json", passcodes: [right])
        #expect(absent.status == 2 && absent.code == "not_readable")
        let wrong = try await applocker.run("backup", "import", path, "--yes", "--json", passcodes: ["not it"])
        #expect(wrong.status == 1 && wrong.code == "wrong_passcode")

        #expect(try await everything(applocker) == before)
        let passing = applocker.directory.path("state/blobs/passing")
        #expect(try FileManager.default.contentsOfDirectory(atPath: passing).isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: applocker.directory.path("state/blobs/kept")).count == 1
        )
        try await applocker.end()
    }

    @Test("A large file that is not a backup is refused before it is read; an interrupted import leaves no files")
    func large() async throws {
        let applocker = try await filled()
        let right = CommandLineFixture.passcode
        let passing = applocker.directory.path("state/blobs/passing")
        let large = applocker.directory.path("large")
        try Data("APLK\u{1}".utf8).write(to: URL(fileURLWithPath: large))
        truncate(large, 20 << 30)
        let refused = try await applocker.run("backup", "import", large, "--yes", "--json", passcodes: [right])
        #expect(refused.status == 1 && refused.isOneSentence, "\(refused.errors)")

        // It begins as a backup does, and is longer than the import can read before the interrupt.
        let (path, _) = try await export(applocker, [], passcodes: [right])
        try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: large))
        truncate(large, 20 << 30)
        let child = try applocker.start(["backup", "import", large, "--yes"], passcodes: [right])
        await eventually("it is being read") {
            try FileManager.default.contentsOfDirectory(atPath: passing).count == 1 || !child.isRunning
        }
        child.kill(SIGINT)
        #expect(try await child.wait() == .code(1))
        #expect(child.errorOutput.contains("Interrupted; nothing was imported."), "\(child.errorOutput)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: passing).isEmpty)
        try await applocker.end()
    }

    // MARK: The earlier system

    private struct Earlier: Decodable {
        struct Sample: Decodable {
            var name: String
            var passcode: String?
            var file: Data
        }

        var opens: [Sample]
    }

    @Test("Backups of the earlier AppLocker are read, sealed and plain; the settings alone, too")
    func earlier() async throws {
        let applocker = try await CommandLineFixture()
        let right = CommandLineFixture.passcode
        let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Vectors/earlier.json")
        let samples = try JSONDecoder().decode(Earlier.self, from: Data(contentsOf: vectors)).opens
        // An app that the earlier system had under another name is found under its own.
        let firefox = try applocker.copy(of: "/usr/bin/readlink", as: "org.mozilla.firefox")
        try #require(try await applocker.run("add", firefox, passcodes: [right]).status == 0)
        try await applocker.addNote("Kept", "")
        for (name, version) in [("backup", 1), ("plain JSON", 0)] {
            let sample = try #require(samples.first { $0.name == name })
            let path = applocker.directory.path("earlier-\(version)")
            try sample.file.write(to: URL(fileURLWithPath: path))
            let passphrase = sample.passcode.map { [$0] } ?? []
            let words = ["backup", "import", path, "--json"] + (passphrase.isEmpty ? [] : ["--passphrase"])
            if version == 1 {
                let wrong = try await applocker.run(words + ["--yes"], input: "", passcodes: [right, "7295"])
                #expect(wrong.status == 1 && wrong.code == "not_readable" && wrong.isOneSentence, "\(wrong.errors)")
            }
            for more in [["--dry-run"], ["--yes"]] {
                let outcome = try await applocker.run(words + more, input: "", passcodes: [right] + passphrase)
                #expect(outcome.status == 0, "\(outcome.errors)")
                let report = try outcome.json()
                #expect(report["version"] as? Int == version)
                #expect(report["created"] as? String == "2024-11-02T09:30:00Z")
                let notes = try #require(report["notes"] as? [String])
                #expect(notes.contains { $0.contains("Notizen") && $0.contains("not installed here") })
            }
        }
        #expect(try await applocker.noteTitles() == ["Kept"], "the backup contains no notes")
        #expect(try await applocker.run("category", "list").output.contains("Web"))

        let (path, outcome) = try await export(applocker, ["--settings-only", "--json"], passcodes: [right])
        #expect(try outcome.json()["records"] as? Int == 0)
        let replaced = try await applocker.run("backup", "import", path, "--replace", "--yes", passcodes: [right])
        #expect(replaced.status == 0, "\(replaced.errors)")
        #expect(try await applocker.noteTitles() == ["Kept"], "importing only the settings removes no note")
        try await applocker.end()
    }
}
