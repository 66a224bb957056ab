import Foundation
import HeadlessCompanion
import SystemTestSupport
import TestSupport
import Testing

/// `applocker household restore` with the real programs.
@Suite struct RestoreCommandTests {
    @Test func restoreListsConfirmsAndRevertsChanges() async throws {
        let fixture = try await CommandLineFixture()
        let hub = try await RunningHub(in: fixture.directory)
        let (passcode, phone) = ([CommandLineFixture.passcode], fixture.directory.path("phone"))
        #expect(try await fixture.run("hub", "connect", hub.url, passcodes: passcode).status == 0)
        let pairing = try fixture.start(["pair", "--unchecked", "--json", "--yes"], passcodes: passcode)
        await eventually { pairing.output.contains("\n") }
        let first = try #require(pairing.output.split(separator: "\n").first)
        let line = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
        let link = try #require(line?["link"] as? String)
        let companion = try await Companion.join(link, name: "Lost", directory: phone, connect: Companion.overHTTP)
        #expect(try await pairing.wait() == .code(0))

        try await companion.sync()
        let bank = try await companion.write(title: "Bank", body: "4711")
        _ = try await companion.write(title: "Doctor", body: "Tuesday")
        #expect(try await fixture.run("vault", "unlock", passcodes: passcode).status == 0)
        func titles() async throws -> [String] {
            let list = try await fixture.run("note", "list", "--json").json()["notes"] as? [[String: Any]]
            return (list ?? []).compactMap { $0["title"] as? String }.sorted()
        }
        await eventually { try await titles() == ["Bank", "Doctor"] }
        // The command line has whole seconds: the theft is in a later second than the notes.
        let written = Int(Date().timeIntervalSince1970)
        await eventually { Int(Date().timeIntervalSince1970) > written }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let restore = ["household", "restore", "--before", format.string(from: Date())]
        _ = try await companion.write(title: "HA HA", body: "", to: bank.id)
        for note in try await companion.notes() where note.title == "Doctor" { try await companion.removeNote(note.id) }
        await eventually { try await titles() == ["HA HA"] }

        // While the phone belongs to the household, none of its changes are reverted.
        func run(_ more: String...) async throws -> CommandLineFixture.Outcome {
            try await fixture.finish(fixture.start(restore + more, passcodes: passcode))
        }
        let early = try await run()
        #expect(early.status == 0 && early.output.contains("Nothing to restore"), "\(early.output)\(early.errors)")
        #expect(try await fixture.run("devices", "revoke", "Lost", "--yes", passcodes: passcode).status == 0)

        let shown = try await run("--dry-run")
        #expect(shown.status == 0, "\(shown.errors)")
        for word in ["Bank", "changed", "Doctor", "removed", "Lost"] { #expect(shown.output.contains(word)) }
        let unasked = try await run()
        #expect(unasked.status == 2 && unasked.errors.contains("Restore 2 items?"), "\(unasked.errors)")
        #expect(try await titles() == ["HA HA"])

        let done = try await run("--device", "Lost", "--yes", "--json")
        #expect(done.status == 0, "\(done.errors)")
        #expect(try done.json()["restored"] as? Int == 2)
        #expect(try await titles() == ["Bank", "Doctor"])
        #expect(try await fixture.run("note", "show", "Bank").output.contains("4711"))
        for bad in ["yesterday", "2999-01-01"] {
            #expect(try await fixture.run("household", "restore", "--before", bad, passcodes: passcode).status == 2)
        }
        try await fixture.end()
    }
}
