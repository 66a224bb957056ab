import ControlAPI
import Foundation
import SystemTestSupport
import TestSupport
import Testing

@Suite("The command line: reset")
struct ResetCommandTests {
    private let words = ["reset", "--yes", "--confirm", ResetRequest.confirmationText]

    private func secrets(_ applocker: CommandLineFixture) throws -> [Data] {
        try ["machine-secret", "device-key"].map {
            try Data(contentsOf: URL(fileURLWithPath: applocker.directory.path("state/\($0)")))
        }
    }

    @Test("Confirms twice, erases the keys and everything else, and starts again as new")
    func reset() async throws {
        let applocker = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let diary = try applocker.copy(of: "/usr/bin/readlink", as: "Diary")
        #expect(try await applocker.run("add", diary, passcodes: right).status == 0)
        try await applocker.addNote("Safe", "12-34-56")
        let file = try applocker.directory.write(String(repeating: "x", count: 100_000), to: "letter.txt")
        #expect(try await applocker.run("file", "add", file).status == 0)
        let backup = applocker.directory.path("all.aplockerbackup")
        #expect(try await applocker.run("backup", "export", backup, passcodes: right).status == 0)
        let before = try secrets(applocker)
        let vault = try await applocker.run("vault", "--json").json()["vault"] as? String
        try await refusals(applocker)
        try await onTheTerminal(applocker)
        #expect(try await applocker.noteTitles() == ["Safe"])
        #expect(try secrets(applocker) == before)

        let erased = try await applocker.run(words, input: "", passcodes: right)
        #expect(erased.status == 0 && erased.output.hasPrefix("Everything is erased."), "\(erased.errors)")
        // The daemon's parent starts it again, as new.
        await eventually("it is as new") {
            let status = try await applocker.run("status", "--json")
            return try status.status == 0 && status.json()["isSetUp"] as? Bool == false
        }
        let after = try await newSecrets(applocker)
        #expect(after[0] != before[0] && after[1] != before[1])
        let blobs = try FileManager.default.subpathsOfDirectory(atPath: applocker.directory.path("state/blobs"))
        #expect(blobs.sorted() == ["kept", "passing"])
        // Overwritten in place: neither the old keys nor the app's name are in any file.
        let state = applocker.directory.path("state")
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) {
            guard let bytes = FileManager.default.contents(atPath: state + "/" + name) else { continue }
            for old in before + [Data("Diary".utf8), Data(try #require(vault).utf8)] {
                #expect(bytes.range(of: old) == nil, "\(name)")
            }
        }
        let early = try await applocker.run("vault", "unlock", "--json", passcodes: right)
        #expect(early.status == 1 && early.code == "not_set_up")
        #expect(try await applocker.run("apps", "--listed").output.contains("No app is on the list"))

        #expect(try await applocker.run("setup", passcodes: ["a fresh horse"]).status == 0)
        let old = try await applocker.run("vault", "unlock", "--json", passcodes: right)
        #expect(old.status == 1 && old.code == "wrong_passcode")
        #expect(try await applocker.run("vault", "unlock", passcodes: ["a fresh horse"]).status == 0)
        #expect(try await applocker.noteTitles() == [])
        #expect(try await applocker.run("vault", "--json").json()["vault"] as? String != vault)
        let log = try await applocker.run("log", "verify")
        #expect(log.status == 0, "\(log.output)")
        // Importing the backup restores everything.
        let restored = try await applocker.run(
            "backup", "import", backup, "--passphrase", "--yes", passcodes: ["a fresh horse"] + right)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try await applocker.run("note", "show", "Safe").output == "12-34-56\n")
        try await applocker.end()
    }

    @Test("A reset that was interrupted after the keys were erased is finished at the next start")
    func interrupted() async throws {
        let applocker = try await CommandLineFixture()
        try await applocker.addNote("Safe", "12-34-56")
        try await applocker.end()
        // The state after a power failure between the two steps.
        for name in ["machine-secret", "device-key"] { #expect(unlink(applocker.directory.path("state/\(name)")) == 0) }
        try applocker.directory.write("", to: "state/erasing", permissions: 0o600)
        let again = try await applocker.startAgain()
        #expect(try await applocker.run("status", "--json").json()["isSetUp"] as? Bool == false)
        #expect(access(applocker.directory.path("state/erasing"), F_OK) != 0)
        #expect(try await applocker.run("setup", passcodes: ["a fresh horse"]).status == 0)
        #expect(try await applocker.run("note", "list", passcodes: ["a fresh horse"]).status == 0)
        #expect(try await applocker.run("log", "verify").status == 0)
        try await applocker.end(again)
    }

    private func newSecrets(_ applocker: CommandLineFixture) async throws -> [Data] {
        await eventually("new keys exist") { try secrets(applocker).allSatisfy { $0.count == 32 } }
        return try secrets(applocker)
    }

    private func refusals(_ applocker: CommandLineFixture) async throws {
        let right = [CommandLineFixture.passcode]
        let cases: [(words: [String], passcodes: [String], status: Int32, code: String)] = [
            (["reset"], right, 2, "confirmation_needed"),
            (["reset", "--yes"], right, 2, "confirmation_needed"),
            (["reset", "--confirm", ResetRequest.confirmationText], right, 2, "confirmation_needed"),
            (["reset", "--yes", "--confirm", "erase"], right, 2, "bad_request"),
            (["reset", "--yes", "--confirm", ""], right, 2, "bad_request"),
            (words, ["not it"], 1, "wrong_passcode"),
        ]
        for one in cases {
            let refused = try await applocker.run(one.words + ["--json"], input: "", passcodes: one.passcodes)
            #expect(refused.status == one.status && refused.code == one.code, "\(one.words): \(refused.output)")
            #expect(refused.isOneSentence, "\(refused.errors)")
        }
    }

    /// Yes to the first question, no to the second.
    private func onTheTerminal(_ applocker: CommandLineFixture) async throws {
        let terminal = try TestTerminal()
        let child = try terminal.start(BuiltProducts.path("applocker"), ["reset"], environment: applocker.environment)
        await terminal.shows("Erase EVERYTHING")
        terminal.type("y")
        await terminal.shows("Erase everything?")
        terminal.type("n")
        #expect(try await child.wait() == .code(1))
        #expect(await terminal.shows("Nothing was changed."))
    }
}
